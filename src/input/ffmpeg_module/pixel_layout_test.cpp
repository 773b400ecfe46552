// Unpacking of FFmpeg's layouts that no small container holds: p010 and relatives, in all turns.
#ifdef VQX_HAVE_FFMPEG
#include "input/ffmpeg_module/pixel_layout.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace vqx::input::ffmpeg {
namespace {

using Words = std::vector<std::uint16_t>;

struct Freer {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
using Frame = std::unique_ptr<AVFrame, Freer>;

Frame frame_of(AVPixelFormat format, int width, int height) {
  Frame frame(av_frame_alloc());
  frame->format = format;
  frame->width = width;
  frame->height = height;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  return frame;
}

// Planes of `format`, without padding.
std::vector<Words> unpacked(const AVFrame& frame, const PixelLayout& layout, int rotation) {
  VqxFfmpegFormat format{frame.width, frame.height, layout.chroma, layout.bit_depth};
  if (rotation % 180 == 90) std::swap(format.width, format.height);
  std::vector<Words> planes;
  VqxFfmpegPlanes target{};
  for (int p = 0; p < layout.component_count(); ++p)
    planes.emplace_back(static_cast<std::size_t>(plane_width(format, p) * plane_height(format, p)));
  for (int p = 0; p < layout.component_count(); ++p) {
    target.data[p] = planes[static_cast<std::size_t>(p)].data();
    target.stride[p] = 2 * plane_width(format, p);
  }
  unpack(frame, layout, rotation, target);
  return planes;
}

TEST(InputPixelLayout, P010InAllTurns) {
  // 3 x 2: the chroma is 2 x 1.
  const Frame frame = frame_of(AV_PIX_FMT_P010LE, 3, 2);
  const Words rows[] = {{1, 2, 3}, {4, 5, 1023}, {100, 200, 101, 201}};
  for (int y = 0; y < 3; ++y) {
    auto* to = reinterpret_cast<std::uint16_t*>(y < 2 ? frame->data[0] + y * frame->linesize[0]
                                                      : frame->data[1]);
    // What lies below the ten bits is nobody's.
    for (std::size_t x = 0; x < rows[y].size(); ++x)
      to[x] = static_cast<std::uint16_t>(rows[y][x] << 6 | 63);
  }
  const auto layout = pixel_layout(AV_PIX_FMT_P010LE);
  ASSERT_TRUE(layout.has_value());
  EXPECT_FALSE(layout->planar);
  EXPECT_EQ(unpacked(*frame, *layout, 0),
            (std::vector<Words>{{1, 2, 3, 4, 5, 1023}, {100, 101}, {200, 201}}));
  EXPECT_EQ(unpacked(*frame, *layout, 90),
            (std::vector<Words>{{4, 1, 5, 2, 1023, 3}, {100, 101}, {200, 201}}));
  EXPECT_EQ(unpacked(*frame, *layout, 180),
            (std::vector<Words>{{1023, 5, 4, 3, 2, 1}, {101, 100}, {201, 200}}));
  EXPECT_EQ(unpacked(*frame, *layout, 270),
            (std::vector<Words>{{3, 1023, 2, 5, 1, 4}, {101, 100}, {201, 200}}));
}

TEST(InputPixelLayout, BigEndianIsTurnedRound) {
  const Frame frame = frame_of(AV_PIX_FMT_YUV420P10BE, 2, 2);
  for (int p = 0; p < 3; ++p)
    for (int y = 0; y < (p == 0 ? 2 : 1); ++y)
      for (int x = 0; x < (p == 0 ? 2 : 1); ++x) {
        std::uint8_t* to = frame->data[p] + y * frame->linesize[p] + 2 * x;
        to[0] = static_cast<std::uint8_t>(1 + p);
        to[1] = static_cast<std::uint8_t>(2 * y + x);
      }
  const auto layout = pixel_layout(AV_PIX_FMT_YUV420P10BE);
  ASSERT_TRUE(layout.has_value());
  EXPECT_EQ(unpacked(*frame, *layout, 0), (std::vector<Words>{{256, 257, 258, 259}, {512}, {768}}));
}

TEST(InputPixelLayout, KnowsWhatIsOursAndWhatIsNot) {
  const struct {
    AVPixelFormat format;
    int chroma;
    int depth;
    bool planar;
  } kKnown[] = {
      {AV_PIX_FMT_GRAY8, kVqxChroma400, 8, true},
      {AV_PIX_FMT_GRAY10LE, kVqxChroma400, 10, true},
      {AV_PIX_FMT_GRAY12LE, kVqxChroma400, 12, true},
      {AV_PIX_FMT_GRAY16BE, kVqxChroma400, 16, false},
      {AV_PIX_FMT_YA8, kVqxChroma400, 8, false},
      {AV_PIX_FMT_YUV420P, kVqxChroma420, 8, true},
      {AV_PIX_FMT_YUVJ420P, kVqxChroma420, 8, true},
      {AV_PIX_FMT_YUVJ422P, kVqxChroma422, 8, true},
      {AV_PIX_FMT_YUVJ444P, kVqxChroma444, 8, true},
      {AV_PIX_FMT_YUVA420P, kVqxChroma420, 8, true},
      {AV_PIX_FMT_YUV420P10BE, kVqxChroma420, 10, false},
      {AV_PIX_FMT_YUV422P12LE, kVqxChroma422, 12, true},
      {AV_PIX_FMT_YUV444P16LE, kVqxChroma444, 16, true},
      {AV_PIX_FMT_NV12, kVqxChroma420, 8, false},
      {AV_PIX_FMT_NV21, kVqxChroma420, 8, false},
      {AV_PIX_FMT_NV16, kVqxChroma422, 8, false},
      {AV_PIX_FMT_NV42, kVqxChroma444, 8, false},
      {AV_PIX_FMT_NV20LE, kVqxChroma422, 10, false},
      {AV_PIX_FMT_P016LE, kVqxChroma420, 16, false},
      {AV_PIX_FMT_P210LE, kVqxChroma422, 10, false},
      {AV_PIX_FMT_P416LE, kVqxChroma444, 16, false},
      {AV_PIX_FMT_YUYV422, kVqxChroma422, 8, false},
      {AV_PIX_FMT_Y210LE, kVqxChroma422, 10, false},
  };
  for (const auto& c : kKnown) {
    SCOPED_TRACE(av_get_pix_fmt_name(c.format));
    const auto layout = pixel_layout(c.format);
    ASSERT_TRUE(layout.has_value());
    EXPECT_EQ(layout->chroma, c.chroma);
    EXPECT_EQ(layout->bit_depth, c.depth);
    EXPECT_EQ(layout->planar, c.planar);
  }
  for (const AVPixelFormat format :
       {AV_PIX_FMT_RGB24, AV_PIX_FMT_GBRP, AV_PIX_FMT_PAL8, AV_PIX_FMT_MONOBLACK, AV_PIX_FMT_VAAPI,
        AV_PIX_FMT_YUV420P9LE, AV_PIX_FMT_YUV420P14LE, AV_PIX_FMT_YUV440P, AV_PIX_FMT_YUV411P,
        AV_PIX_FMT_YUV410P, AV_PIX_FMT_UYYVYY411, AV_PIX_FMT_GRAYF32LE, AV_PIX_FMT_XYZ12LE,
        AV_PIX_FMT_NONE})
    EXPECT_FALSE(pixel_layout(format).has_value()) << av_get_pix_fmt_name(format);
}

}  // namespace
}  // namespace vqx::input::ffmpeg
#endif  // VQX_HAVE_FFMPEG
