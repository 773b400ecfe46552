// motion against values of its executable specification.
#include "metric/motion/motion.hpp"

#include <gtest/gtest.h>

#include "support/test_pictures.hpp"

namespace vqx::motion {
namespace {

using test::GuardedPicture;

std::shared_ptr<GuardedPicture> picture(int width, int height, int bits, std::int64_t f) {
  auto out = std::make_shared<GuardedPicture>(VideoFormat{width, height, ChromaFormat::k400, bits},
                                              3, std::uint8_t{0xC3});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t v =
          (x * x * 7919 + y * y * 104729 + x * y * 31 + f * (x * 12347 + y * 777 + 5)) >> 3;
      out->set(0, static_cast<int>(x), static_cast<int>(y),
               static_cast<int>(v & ((1 << bits) - 1)));
    }
  return out;
}

TEST(MotionTest, SadsOfTheSpecification) {
  const struct {
    int width, height, bits;
    std::uint64_t sads[3];
  } kCases[] = {{3, 3, 8, {57317, 93758, 37924}},
                {5, 7, 16, {167930, 118257, 126263}},
                {67, 35, 8, {14912423, 14729241, 14400849}},
                {67, 35, 10, {14583409, 13986297, 14419287}},
                {131, 33, 16, {25783999, 26160689, 25398915}}};
  ScratchPool scratch;
  for (const auto& c : kCases)
    for (int f = 0; f < 3; ++f) {
      const auto before = picture(c.width, c.height, c.bits, f);
      const auto now = picture(c.width, c.height, c.bits, f + 1);
      const Plane& p = before->picture().plane(0);
      const Plane& q = now->picture().plane(0);
      EXPECT_EQ(c.sads[f], sad_reference(p, q, c.bits, 0, c.height));
      const int cut = c.height / 3;
      EXPECT_EQ(c.sads[f], sad_simd(p, q, c.bits, 0, cut, scratch) +
                               sad_simd(p, q, c.bits, cut, c.height, scratch));
    }
}

// The largest differences there are: the sums of taps reach 33 bits.
TEST(MotionTest, FullContrastReachesTheWidthLimits) {
  ScratchPool scratch;
  for (const int bits : {8, 16}) {
    GuardedPicture black({70, 9, ChromaFormat::k400, bits}, 3, 0xC3);
    GuardedPicture white({70, 9, ChromaFormat::k400, bits}, 3, 0xC3);
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 70; ++x) {
        black.set(0, x, y, 0);
        white.set(0, x, y, (1 << bits) - 1);
      }
    const Plane& p = black.picture().plane(0);
    const Plane& q = white.picture().plane(0);
    const std::uint64_t each = bits == 8 ? 65280 : 65535;
    EXPECT_EQ(each * 630, sad_simd(p, q, bits, 0, 9, scratch));
    EXPECT_EQ(each * 630, sad_simd(q, p, bits, 0, 9, scratch));
    EXPECT_EQ(each * 630, sad_reference(p, q, bits, 0, 9));
    EXPECT_EQ(each * 630, sad_reference(q, p, bits, 0, 9));
  }
}

std::vector<std::vector<double>> scores_of_run(const OptionTexts& texts, int frames) {
  const MetricInfo* info = find_metric("motion");
  const Options options = parse_options("motion", info->options, texts, nullptr).value();
  const VideoFormat format{67, 35, ChromaFormat::k400, 8};
  const auto metric = info->create({format, true, std::span(&options, 1)}).value();
  ScratchPool scratch;
  const SerialRunner runner;
  std::vector<std::shared_ptr<GuardedPicture>> pictures;
  std::vector<std::shared_ptr<const Frame>> history;
  std::vector<Measured> words(static_cast<std::size_t>(frames));
  for (int i = 0; i < frames; ++i) {
    pictures.push_back(picture(67, 35, 8, i * (i + 1)));
    const Picture& p = pictures.back()->picture();
    history.push_back(std::make_shared<Frame>(i, p, p));
    const MeasureContext context(history, runner, scratch);
    EXPECT_TRUE(metric->measure(context, std::span(&words[static_cast<std::size_t>(i)], 1)).ok());
  }
  std::vector<std::vector<double>> scores;
  const auto lookup = [&](int i) {
    return i < 0 || i >= frames ? nullptr : &words[static_cast<std::size_t>(i)];
  };
  for (int i = 0; i < frames; ++i) {
    scores.emplace_back(metric->outputs(0).size());
    EXPECT_TRUE(metric->finish_frame(0, MeasuredWindow(i, lookup), scores.back()).ok());
  }
  return scores;
}

TEST(MotionTest, ScoresOfTheSpecification) {
  const std::vector<std::vector<double>> plain = {
      {0, 0, 0, 0x1.7a0a3f8939882p+4},
      {0x1.7a0a3f8939882p+4, 0x1.7a0a3f8939882p+4, 0x1.7a0a3f8939882p+4, 0x1.7a0a3f8939882p+4},
      {0x1.9703f35622476p+4, 0x1.9703f35622476p+4, 0x1.9388d5f85bb39p+4, 0x1.9388d5f85bb39p+4},
      {0x1.9388d5f85bb39p+4, 0x1.9388d5f85bb39p+4, 0x1.9388d5f85bb39p+4, 0x1.9388d5f85bb39p+4}};
  EXPECT_EQ(plain, scores_of_run({{"debug", "true"}}, 4));

  const std::vector<std::vector<double>> averaged = {
      {0, 0, 0x1.7cde22741c8f0p+3},
      {0, 0, 0x1.7cde22741c8f0p+3},
      {0x1.0eb91cb617cc8p+5, 0x1.f57df90e90256p+4, 0x1.70e1a8be6cb92p+3},
      {0x1.f57df90e90256p+4, 0x1.0eb91cb617cc8p+5, 0x1.70e1a8be6cb92p+3},
      {0x1.16ce0654eedc5p+5, 0x1.16ce0654eedc5p+5, 0x1.81b77b6d03feep+3}};
  EXPECT_EQ(averaged, scores_of_run({{"motion_five_frame_window", "true"},
                                     {"motion_moving_average", "true"},
                                     {"motion_blend_factor", "0.3"},
                                     {"motion_blend_offset", "2.5"},
                                     {"motion_fps_weight", "1.3"},
                                     {"motion_max_val", "60"}},
                                    5));
}

TEST(MotionTest, ShortSequences) {
  const std::vector<std::vector<double>> zeros(2, std::vector<double>(3, 0.0));
  EXPECT_EQ(zeros, scores_of_run({{"motion_five_frame_window", "true"}}, 2));
  EXPECT_EQ(0.0, scores_of_run({}, 1)[0][2]);
}

TEST(MotionTest, RefusesPicturesWithoutRoomToMirror) {
  const MetricInfo* info = find_metric("motion");
  const Options options = parse_options("motion", info->options, {}, nullptr).value();
  const auto result = info->create({{2, 64, ChromaFormat::k420, 8}, false, std::span(&options, 1)});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorCode::kUnsupportedSize, result.status().code());
}

}  // namespace
}  // namespace vqx::motion
