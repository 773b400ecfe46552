#include "input/sample_pair.hpp"

#include <cstdlib>

#include "input/testing.hpp"

namespace vqx::input {
namespace {

using testing::contains;
using testing::drain;
using testing::open_or_fail;
using testing::samples;
using testing::TempDir;

std::uint64_t hash_of(const std::vector<Picture>& pictures) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Picture& picture : pictures)
    for (int p = 0; p < 3; ++p)
      for (const int sample : samples(picture, p))
        hash = (hash ^ static_cast<std::uint64_t>(sample)) * 0x100000001b3;
  return hash;
}

TEST(InputSamplePair, IsAlwaysTheSame) {
  const TempDir dir;
  const std::string ref = dir.path("ref.y4m"), dis = dir.path("dis.y4m");
  SamplePair pair;
  pair.frames = 3;
  ASSERT_TRUE(write_sample_pair(ref, dis, pair).ok());
  const auto a = drain(*open_or_fail(ref)), b = drain(*open_or_fail(dis));
  ASSERT_EQ(a.pictures.size(), 3U);
  ASSERT_EQ(b.pictures.size(), 3U);
  EXPECT_EQ(a.pictures[0].format(), (VideoFormat{640, 360, ChromaFormat::k420, 8}));
  EXPECT_EQ(hash_of(a.pictures), 5853730209544240858ULL);
  EXPECT_EQ(hash_of(b.pictures), 1057480322678292031ULL);
}

TEST(InputSamplePair, MovesAndIsDistortedWithinReason) {
  const TempDir dir;
  const std::string ref = dir.path("ref.y4m"), dis = dir.path("dis.y4m");
  ASSERT_TRUE(write_sample_pair(ref, dis, {201, 99, 4, 24}).ok());
  const auto a = drain(*open_or_fail(ref)), b = drain(*open_or_fail(dis));
  ASSERT_EQ(a.pictures.size(), 4U);
  EXPECT_NE(samples(a.pictures[0], 0), samples(a.pictures[1], 0));
  for (int p = 0; p < 3; ++p) {
    const auto x = samples(a.pictures[3], p), y = samples(b.pictures[3], p);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
    const double mse = squares / static_cast<double>(x.size());
    EXPECT_LT(mse, 200) << p;
    if (p == 0) {
      EXPECT_GT(mse, 5);
    }
  }
}

TEST(InputSamplePair, WithoutLossBothAreEqual) {
  const TempDir dir;
  const std::string ref = dir.path("ref.y4m"), dis = dir.path("dis.y4m");
  ASSERT_TRUE(write_sample_pair(ref, dis, {64, 48, 2, 0}).ok());
  EXPECT_EQ(hash_of(drain(*open_or_fail(ref)).pictures),
            hash_of(drain(*open_or_fail(dis)).pictures));
}

TEST(InputSamplePair, Refusals) {
  const TempDir dir;
  const std::string ref = dir.path("ref.y4m"), nowhere = dir.path("no/such/dis.y4m");
  for (const SamplePair& pair : {SamplePair{15, 64, 1, 1}, SamplePair{64, 5000, 1, 1},
                                 SamplePair{64, 64, 0, 1}, SamplePair{64, 64, 1, 256}})
    EXPECT_EQ(write_sample_pair(ref, ref, pair).code(), ErrorCode::kInvalidArgument);
  const Status status = write_sample_pair(ref, nowhere, {64, 64, 1, 1});
  EXPECT_EQ(status.code(), ErrorCode::kOutput);
  EXPECT_TRUE(contains(status.message(), nowhere)) << status.message();
}

}  // namespace
}  // namespace vqx::input
