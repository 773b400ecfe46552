#include "metric/psnr_hvs/psnr_hvs.hpp"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "base/simd.hpp"
#include "metric/psnr_hvs/psnr_hvs_math.hpp"
#include "support/test_pictures.hpp"

namespace vqx::psnr_hvs {
namespace {

Status creation_status(const VideoFormat& format, bool strict) {
  const MetricInfo* info = find_metric("psnr_hvs");
  const auto options = parse_options(info->name, info->options, {}, nullptr);
  return info->create({format, strict, std::span(&*options, 1)}).status();
}

TEST(PsnrHvs, RefusesWhatItCannotScore) {
  const Status no_chroma = creation_status({64, 64, ChromaFormat::k400, 8}, false);
  EXPECT_EQ(no_chroma.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(no_chroma.message().find("luma-only"), std::string::npos);
  const Status deep = creation_status({64, 64, ChromaFormat::k420, 16}, false);
  EXPECT_EQ(deep.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(deep.message().find("16 bits"), std::string::npos);
}

TEST(PsnrHvs, PicturesWithoutBlocksAreRefusedOrNotANumber) {
  const VideoFormat small{16, 14, ChromaFormat::k420, 8};
  const Status refused = creation_status(small, true);
  EXPECT_EQ(refused.code(), ErrorCode::kUnsupportedSize);
  EXPECT_NE(refused.message().find("16x14"), std::string::npos);
  EXPECT_TRUE(creation_status({16, 16, ChromaFormat::k420, 8}, true).ok());

  const auto run = test::run_metric({"psnr_hvs", {}}, {small, test::Content::kNoise}, 1,
                                    SerialRunner());  // the drop-in's way
  ASSERT_TRUE(run.ok()) << run.status().message();
  const auto score = [&](std::size_t i) { return std::bit_cast<double>(run->score_bits[i]); };
  EXPECT_TRUE(std::isfinite(score(0)));
  EXPECT_TRUE(std::isnan(score(1)) && std::isnan(score(2)) && std::isnan(score(3)));
}

TEST(PsnrHvs, BlocksOverlapByOneSample) {
  EXPECT_EQ(block_count(7), 0);
  EXPECT_EQ(block_count(8), 1);
  EXPECT_EQ(block_count(14), 1);
  EXPECT_EQ(block_count(15), 2);
  EXPECT_EQ(block_count(3840), 548);
}

// The patterns that drive each coefficient to its extremes stay in the range that the 16-bit lanes
// rely on.
TEST(PsnrHvs, CoefficientsStayInRange) {
  constexpr int kPeak = 1023;
  for (int v = 0; v < 8; ++v)
    for (int h = 0; h < 8; ++h)
      for (const bool inverted : {false, true}) {
        std::int32_t block[64];
        for (int i = 0; i < 64; ++i) {
          const int row = i / 8;
          const double basis = std::cos((2 * row + 1) * v * 3.14159265358979 / 16) *
                               std::cos((2 * (i % 8) + 1) * h * 3.14159265358979 / 16);
          block[i] = (basis > 0) != inverted ? kPeak : 0;
        }
        transform8x8(block);
        for (const std::int32_t x : block) EXPECT_LE(std::abs(x), 8 * kPeak + 36);
      }
}

TEST(PsnrHvs, FlatBlockHasOnlyDc) {
  std::int32_t block[64];
  for (std::int32_t& x : block) x = 100;
  EXPECT_EQ(spread_ratio(block), 0);
  transform8x8(block);
  EXPECT_NEAR(block[0], 800, 2);
  for (int i = 1; i < 64; ++i) EXPECT_LE(std::abs(block[i]), 1) << i;
}

// The running sum of many rows of blocks, in waves of every length, is that of one term after the
// other.  Flat differences give equal terms, which meet ties; small ones stay long in a binade.
TEST(PsnrHvs, ParallelSumIsTheRunningSum) {
  const VideoFormat format{260, 620, ChromaFormat::k444, 8};
  for (const test::Content content :
       {test::Content::kNatural, test::Content::kBanding, test::Content::kNearBlack,
        test::Content::kMinAgainstMax, test::Content::kIdentical}) {
    const test::PicturePair pair = test::make_pair(format, content, 0);
    const std::vector<std::shared_ptr<const Frame>> frame = {
        std::make_shared<Frame>(0, pair.reference->picture(), pair.distorted->picture())};
    const PlanePair planes{frame[0]->reference().plane(0), frame[0]->distorted().plane(0), 8,
                           weights(0)};
    const float expected = sum_plane_reference(planes);
    ScratchPool scratch;
    for (const SimdLevel level : supported_simd_levels()) {
      if (level == SimdLevel::kScalar) continue;
      ASSERT_TRUE(select_simd_level(level).ok());
      for (const int concurrency : {1, 2, 3, 40, 100}) {
        const test::ReverseRunner runner(concurrency);
        EXPECT_EQ(sum_plane(MeasureContext(frame, runner, scratch), planes), expected)
            << test::content_name(content) << " at " << simd_level_name(level);
      }
    }
  }
}

// Terms made to meet every case of the parallel sum: ties in plenty, none, sums that pass through
// binades, zeros.
TEST(PsnrHvs, ContinuedSumRoundsAtEveryTerm) {
  std::mt19937 random(3);
  const auto tied = [&] { return static_cast<float>(random() % 64) * 0x1p-4f; };
  const auto fine = [&] { return static_cast<float>(random() % (1 << 24)) * 0x1p-20f; };
  const auto rarely_tied = [&] { return random() % 4096 == 0 ? tied() : fine() * 0x1p-9f; };
  const auto zero = [] { return 0.0f; };
  const std::function<float()> kinds[] = {tied, fine, rarely_tied, zero};
  for (const SimdLevel level : supported_simd_levels()) {
    if (level == SimdLevel::kScalar) continue;
    ASSERT_TRUE(select_simd_level(level).ok());
    const std::size_t lanes = term_lanes();
    const std::size_t vector = kCoefficients * lanes;
    for (const auto& kind : kinds)
      for (const float start : {0.0f, 0x1p-120f, 1.0f, 0x1.8p20f, 0x1.fffff8p23f}) {
        ScratchPool pool;
        ScratchArray<float> terms(pool, 20 * vector);
        for (float& t : std::span(terms.data(), terms.size())) t = kind();
        float expected = start;
        for (std::size_t i = 0; i < terms.size(); i += vector)
          for (std::size_t lane = 0; lane < lanes; ++lane)
            for (std::size_t k = 0; k < kCoefficients; ++k) expected += terms[i + k * lanes + lane];
        EXPECT_EQ(continue_sum(start, terms.data(), terms.size()), expected)
            << "from " << start << " at " << simd_level_name(level);
      }
  }
}

}  // namespace
}  // namespace vqx::psnr_hvs
