#ifdef VQX_HAVE_FFMPEG
#include "input/ffmpeg_module/container_size.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vqx::input::ffmpeg {
namespace {

using std::string_literals::operator""s;

TEST(InputContainerSize, Matroska) {
  const std::string header =
      "\x1A\x45\xDF\xA3\x83"
      "abc"s;
  EXPECT_EQ(declared_size(header + "\x18\x53\x80\x67\x85"s), 18U);
  EXPECT_EQ(declared_size(header + "\x18\x53\x80\x67\x01\x00\x00\x00\x00\x00\x01\x00"s),
            20U + 256U);
  EXPECT_EQ(declared_size(header + "\x18\x53\x80\x67\xFF"s), std::nullopt) << "left open";
  EXPECT_EQ(declared_size(header + "\x18\x53\x80\x67\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s),
            std::nullopt);
  EXPECT_EQ(declared_size(header + "\x18\x53\x80\x67\x01\xFF"s), std::nullopt) << "cut";
  EXPECT_EQ(declared_size(header), std::nullopt);
  EXPECT_EQ(declared_size("\x1A\x45\xDF\xA3\x01\xFF\xFF\xFF\xFF\xFF\xFF\xF0"s), std::nullopt);
  EXPECT_EQ(declared_size("\x1A\x45\xDF\xA3\x00"s), std::nullopt);
  EXPECT_EQ(declared_size("\x1A\x45\xDF\xA3"s), std::nullopt);
}

TEST(InputContainerSize, Avi) {
  EXPECT_EQ(declared_size("RIFF\x10\x01\x00\x00"
                          "AVI "s),
            0x118U);
  EXPECT_EQ(declared_size("RIFF\x00\x00\x00\x00"
                          "AVI "s),
            std::nullopt);
  EXPECT_EQ(declared_size("RIFF\x10\x01\x00\x00WAVE"s), std::nullopt);
  EXPECT_EQ(declared_size("RIFF"s), std::nullopt);
  EXPECT_EQ(declared_size(""), std::nullopt);
}

}  // namespace
}  // namespace vqx::input::ffmpeg
#endif  // VQX_HAVE_FFMPEG
