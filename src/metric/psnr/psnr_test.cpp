#include "metric/psnr/psnr.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/simd.hpp"
#include "support/test_pictures.hpp"

namespace vqx::psnr {
namespace {

// One frame of flat luma and chroma, scored.
struct Scored {
  std::vector<double> scores;
  std::vector<std::pair<std::string, double>> aggregates;
};

Scored score_flat(const std::string& name, const OptionTexts& texts, const VideoFormat& format,
                  int reference, int distorted, int frames = 1) {
  const MetricInfo* info = find_metric(name);
  const auto options = parse_options(name, info->options, texts, nullptr);
  EXPECT_TRUE(options.ok()) << options.status().message();
  const auto metric = info->create({format, true, std::span(&*options, 1)});
  EXPECT_TRUE(metric.ok()) << metric.status().message();
  test::GuardedPicture a(format, 3, 0xA5);
  test::GuardedPicture b(format, 3, 0xA5);
  for (int p = 0; p < format.plane_count(); ++p)
    for (int y = 0; y < format.plane_height(p); ++y)
      for (int x = 0; x < format.plane_width(p); ++x) {
        a.set(p, x, y, reference);
        b.set(p, x, y, distorted);
      }
  const std::vector<std::shared_ptr<const Frame>> frame = {
      std::make_shared<Frame>(0, a.picture(), b.picture())};
  ScratchPool scratch;
  const SerialRunner runner;
  Measured measured;
  EXPECT_TRUE(
      (*metric)->measure(MeasureContext(frame, runner, scratch), std::span(&measured, 1)).ok());
  Scored result;
  result.scores.resize((*metric)->outputs(0).size());
  const MeasuredWindow window(0, [&](int) { return &measured; });
  EXPECT_TRUE((*metric)->finish_frame(0, window, result.scores).ok());
  Measured total;
  for (int i = 0; i < frames; ++i) (*metric)->accumulate(0, measured, total);
  result.aggregates = (*metric)->aggregates(0, total);
  return result;
}

constexpr VideoFormat kSmall8{16, 8, ChromaFormat::k420, 8};

TEST(Psnr, FarthestPicturesScoreZero) {
  const Scored s = score_flat("psnr", {{"enable_mse", "true"}}, kSmall8, 0, 255);
  EXPECT_EQ(s.scores, (std::vector<double>{0, 65025, 0, 65025, 0, 65025}));
  EXPECT_TRUE(s.aggregates.empty());
  EXPECT_EQ(score_flat("float_psnr", {}, kSmall8, 255, 0).scores, (std::vector<double>{0}));
}

TEST(Psnr, EqualPicturesScoreTheCeiling) {
  for (const auto& [bits, ceiling] : {std::pair{8, 60.0}, {10, 72.0}, {12, 84.0}, {16, 108.0}}) {
    const VideoFormat format{7, 5, ChromaFormat::k444, bits};
    EXPECT_EQ(score_flat("psnr", {}, format, 9, 9).scores, std::vector<double>(3, ceiling));
    EXPECT_EQ(score_flat("float_psnr", {}, format, 9, 9).scores, std::vector<double>(1, ceiling));
  }
}

TEST(Psnr, CeilingFollowsMinSse) {
  // 10 log10(255^2 / (0.5 / 128)) = 72.2, and for the 32 samples of a chroma plane 66.2.
  EXPECT_EQ(score_flat("psnr", {{"min_sse", "0.5"}}, kSmall8, 9, 9).scores,
            (std::vector<double>{73, 67, 67}));
}

TEST(Psnr, ReducedPeakShowsAboveEightBits) {
  const VideoFormat deep{16, 8, ChromaFormat::k420, 10};
  // 10 log10((1020 / 1020)^2) and, at 8 bits, no change.
  EXPECT_EQ(score_flat("psnr", {{"reduced_hbd_peak", "true"}}, deep, 0, 1020).scores[0], 0);
  EXPECT_GT(score_flat("psnr", {}, deep, 0, 1020).scores[0], 0);
  EXPECT_EQ(score_flat("psnr", {{"reduced_hbd_peak", "true"}}, kSmall8, 0, 255).scores[0], 0);
}

TEST(Psnr, SequenceScoreOfThreePlanes) {
  const Scored s = score_flat("psnr", {{"enable_apsnr", "true"}}, kSmall8, 0, 255, 3);
  ASSERT_EQ(s.aggregates.size(), 3u);
  EXPECT_EQ(s.aggregates[0].first, "apsnr_y");
  for (const auto& [name, value] : s.aggregates) EXPECT_NEAR(value, 0, 1e-13) << name;
  // Equal pictures: ceil(10 log10(255^2 * 3 * 128 * 2)).
  EXPECT_EQ(score_flat("psnr", {{"enable_apsnr", "true"}}, kSmall8, 5, 5, 3).aggregates[0].second,
            77);
}

TEST(Psnr, WithoutChromaItsSequenceScoresAreNotFinite) {
  const OptionTexts texts = {{"enable_apsnr", "true"}, {"enable_chroma", "false"}};
  const Scored s = score_flat("psnr", texts, kSmall8, 0, 255);
  EXPECT_EQ(s.scores.size(), 1u);
  ASSERT_EQ(s.aggregates.size(), 3u);
  EXPECT_TRUE(std::isfinite(s.aggregates[0].second));
  EXPECT_FALSE(std::isfinite(s.aggregates[1].second));
  EXPECT_FALSE(std::isfinite(s.aggregates[2].second));
}

TEST(Psnr, MeasuresEveryFrame) {
  const auto options = parse_options("psnr", find_metric("psnr")->options, {}, nullptr);
  const auto metric = find_metric("psnr")->create({kSmall8, true, std::span(&*options, 1)});
  EXPECT_TRUE((*metric)->needs(0).contiguous);
}

TEST(Psnr, OtherDepthsAreRefused) {
  for (const char* name : {"psnr", "float_psnr"}) {
    const auto options = parse_options(name, find_metric(name)->options, {}, nullptr);
    const auto metric =
        find_metric(name)->create({{16, 8, ChromaFormat::k420, 9}, true, std::span(&*options, 1)});
    EXPECT_EQ(metric.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(metric.status().message().find("9 bits"), std::string::npos);
  }
}

TEST(Psnr, AccumulatorsHoldTheLongestRows) {
  constexpr int kWidth = 1 << 21;  // every kind of lane sum is emptied on the way
  std::vector<std::uint16_t> zeros(kWidth, 0), peaks(kWidth);
  const Plane reference{zeros.data(), 2 * kWidth, kWidth, 1};
  const Plane distorted{peaks.data(), 2 * kWidth, kWidth, 1};
  for (const int bits : {8, 10, 12, 16}) {
    const std::uint64_t peak = (1u << bits) - 1;
    const auto fill = static_cast<std::uint16_t>(bits == 8 ? 0xFFFF : peak);
    peaks.assign(kWidth, fill);
    for (const SimdLevel level : supported_simd_levels()) {
      ASSERT_TRUE(select_simd_level(level).ok());
      EXPECT_EQ(sum_rows(reference, distorted, bits, Term::kExact, 0, 1), peak * peak * kWidth)
          << bits << " bits at " << simd_level_name(level);
    }
    const std::uint64_t rounded = bits == 16 ? 4294836224u : peak * peak;
    for (const SimdLevel level : supported_simd_levels()) {
      ASSERT_TRUE(select_simd_level(level).ok());
      EXPECT_EQ(sum_rows(reference, distorted, bits, Term::kSinglePrecision, 0, 1),
                rounded * kWidth)
          << bits << " bits at " << simd_level_name(level);
    }
  }
}

}  // namespace
}  // namespace vqx::psnr
