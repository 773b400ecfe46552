// SSIM beyond the shared comparison of SIMD levels: numbers of the law, sizes, options, refusals.
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/simd.hpp"
#include "metric/ssim/ssim.hpp"
#include "support/test_pictures.hpp"

namespace vqx::ssim {
namespace {

using test::Case;
using test::Content;
using test::MetricCase;
using test::RunResult;

class Ssim : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok()); }
};

Result<RunResult> run(const std::string& metric, const OptionTexts& options,
                      const VideoFormat& format, Content content) {
  return test::run_metric(MetricCase{metric, options}, Case{format, content}, 1, SerialRunner());
}

// Scores of the executable specification on the same pictures.
struct Known {
  std::string metric;
  OptionTexts options;
  int width, height, depth;
  Content content;
  std::vector<double> scores;
};
const std::vector<Known>& known_scores() {
  static const std::vector<Known> table = {
      {"float_ssim",
       {{"enable_lcs", "true"}},
       64,
       48,
       8,
       Content::kNatural,
       {0x1.e6ade8p-2, 0x1.f9409ep-1, 0x1.e4c27ap-1, 0x1.00c3bp-1}},
      {"float_ssim",
       {{"enable_lcs", "true"}},
       35,
       37,
       10,
       Content::kNearBlack,
       {0x1.5273dp-5, 0x1.fa70e2p-2, 0x1.22273ep-1, 0x1.51562ap-3}},
      {"float_ssim",
       {{"scale", "3"}, {"enable_lcs", "true"}},
       217,
       219,
       12,
       Content::kNatural,
       {0x1.b2789cp-1, 0x1.fecb1ap-1, 0x1.fd25fep-1, 0x1.b5df16p-1}},
      {"float_ssim", {{"scale", "7"}}, 217, 219, 16, Content::kNoise, {0x1.bf7fdcp-3}},
      {"float_ssim",
       {{"scale", "2"}, {"enable_db", "true"}, {"clip_db", "true"}},
       131,
       66,
       8,
       Content::kIdentical,
       {0x1.6cp+6}},
      {"float_ms_ssim",
       {{"enable_lcs", "true"}},
       179,
       181,
       8,
       Content::kNatural,
       {0x1.b72047ebd73dfp-1, 0x1.faeac4p-1, 0x1.fda4bep-1, 0x1.ff6eecp-1, 0x1.fffc4ep-1,
        0x1.ffffcap-1, 0x1.ea3fbp-1, 0x1.fb163ep-1, 0x1.feca9cp-1, 0x1.ffa5b8p-1, 0x1.ffc4c2p-1,
        0x1.1f2d3ap-1, 0x1.805f96p-1, 0x1.d99654p-1, 0x1.e67836p-1, 0x1.ee88b6p-1}},
      {"float_ms_ssim", {}, 217, 219, 16, Content::kNearBlack, {0x1.67d5c024c002fp-2}},
      {"float_ms_ssim",
       {{"variant", "separable"}},
       217,
       219,
       10,
       Content::kNatural,
       {0x1.bab13636bcf8fp-1}},
      {"float_ms_ssim",
       {{"enable_db", "true"}},
       177,
       176,
       12,
       Content::kBanding,
       {0x1.961791265fdcap+4}},
  };
  return table;
}

TEST_F(Ssim, EveryLevelGivesTheSpecifiedScores) {
  for (const Known& known : known_scores())
    for (const SimdLevel level : supported_simd_levels()) {
      ASSERT_TRUE(select_simd_level(level).ok());
      const VideoFormat format{known.width, known.height, ChromaFormat::k400, known.depth};
      const Result<RunResult> result = run(known.metric, known.options, format, known.content);
      ASSERT_TRUE(result.ok()) << result.status().message();
      ASSERT_EQ(result->score_bits.size(), known.scores.size());
      for (std::size_t i = 0; i < known.scores.size(); ++i)
        EXPECT_EQ(result->score_bits[i], std::bit_cast<std::uint64_t>(known.scores[i]))
            << known.metric << " score " << i << " of " << known.width << "x" << known.height
            << " at " << simd_level_name(level);
    }
}

TEST_F(Ssim, ConstantsHaveTheBitsOfTheLaw) {
  EXPECT_EQ(std::bit_cast<std::uint32_t>(kC1), 0x40d0147aU);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(kC2), 0x426a1709U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(kC3), 0x41ea1709U);
  const std::uint32_t half[] = {0x3a86bdf5, 0x3bf90108, 0x3d1375c9,
                                0x3ddff8a9, 0x3e5a1e3f, 0x3e8832ba};
  for (int k = 0; k < kTaps; ++k)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(gaussian_tap(k)), half[k < 6 ? k : 10 - k]);
  double table_sum = 0;
  for (int j = 0; j < kPyramidTaps; ++j)
    for (int i = 0; i < kPyramidTaps; ++i) {
      table_sum += double{pyramid_tap(i, j)};
      EXPECT_EQ(pyramid_tap(i, j), pyramid_tap(j, i));
      EXPECT_EQ(pyramid_tap(i, j), pyramid_tap(8 - i, j));
    }
  EXPECT_NEAR(table_sum, 1.00000504, 1e-7);
}

TEST_F(Ssim, DecimationFollowsThePictureSize) {
  const int factors[][2] = {{1, 1},   {270, 1}, {383, 1},  {384, 2},  {576, 2},
                            {640, 3}, {720, 3}, {1080, 4}, {2160, 8}, {4320, 17}};
  for (const auto& [side, factor] : factors) EXPECT_EQ(automatic_factor({5000, side}), factor);
  EXPECT_EQ(decimated({9, 10}, 3), (Size{4, 3}));
  EXPECT_EQ(decimated({640, 481}, 7), (Size{91, 69}));
}

std::vector<std::uint16_t> noise(int width, int height) {
  std::vector<std::uint16_t> samples(static_cast<std::size_t>(width) * height);
  std::uint32_t state = 1;
  for (std::uint16_t& sample : samples) {
    state = state * 1664525U + 1013904223U;
    sample = static_cast<std::uint16_t>(state >> 16);
  }
  return samples;
}

// Factors that only large pictures ask for, up to where the sums stop being exact by proof.
TEST_F(Ssim, LargeFactorsDecimateAsTheReference) {
  const SerialRunner runner;
  ScratchPool pool;
  const MeasureContext context({}, runner, pool);
  const std::vector<std::uint16_t> samples = noise(301, 263);
  const Plane plane{samples.data(), 602, 301, 263};
  for (const int factor : {11, 16, 17, 33, 128, 129}) {
    const auto area = static_cast<std::size_t>(decimated({301, 263}, factor).area());
    std::vector<float> expected(area), actual(area);
    decimate_reference(samples_of(plane, 16), factor, expected.data());
    for (const SimdLevel level : supported_simd_levels()) {
      ASSERT_TRUE(select_simd_level(level).ok());
      decimate(context, samples_of(plane, 16), factor, actual.data());
      EXPECT_EQ(expected, actual) << "factor " << factor << " at " << simd_level_name(level);
    }
  }
}

// Chroma planes are scored like luma planes of their own size.
TEST_F(Ssim, ChromaIsScoredAtItsOwnSize) {
  const VideoFormat format{358, 362, ChromaFormat::k420, 8};
  for (const char* metric : {"float_ssim", "float_ms_ssim"})
    for (const SimdLevel level : supported_simd_levels()) {
      ASSERT_TRUE(select_simd_level(level).ok());
      const Result<RunResult> both =
          run(metric, {{"enable_chroma", "true"}}, format, Content::kNatural);
      const Result<RunResult> luma = run(metric, {}, format, Content::kNatural);
      ASSERT_TRUE(both.ok() && luma.ok());
      ASSERT_EQ(both->score_bits.size(), 3U);
      EXPECT_EQ(both->score_bits[0], luma->score_bits[0]);
      const VideoFormat small{179, 181, ChromaFormat::k400, 8};
      const test::PicturePair pair = test::make_pair(format, Content::kNatural, 0);
      for (int p = 1; p < 3; ++p) {
        const auto side = [&](const test::GuardedPicture& picture) {
          const Plane plane = picture.picture().plane(p);
          return Picture::borrow(small, &plane);
        };
        const std::shared_ptr<const Frame> frame =
            std::make_shared<Frame>(0, side(*pair.reference), side(*pair.distorted));
        const MetricInfo* info = find_metric(metric);
        const Result<Options> options = parse_options(metric, info->options, {}, nullptr);
        const auto instance = info->create({small, true, std::span(&*options, 1)});
        ASSERT_TRUE(instance.ok());
        const SerialRunner runner;
        ScratchPool pool;
        Measured measured;
        ASSERT_TRUE((*instance)
                        ->measure(MeasureContext(std::span(&frame, 1), runner, pool),
                                  std::span(&measured, 1))
                        .ok());
        double score = 0;
        ASSERT_TRUE((*instance)
                        ->finish_frame(0, MeasuredWindow(0, [&](int) { return &measured; }),
                                       std::span(&score, 1))
                        .ok());
        EXPECT_EQ(both->score_bits[static_cast<std::size_t>(p)],
                  std::bit_cast<std::uint64_t>(score));
      }
    }
}

// Sets that share passes give what each gives alone.
TEST_F(Ssim, SeveralOptionSetsAtOnce) {
  const VideoFormat format{217, 219, ChromaFormat::k444, 10};
  const std::vector<OptionTexts> texts[] = {
      {{}, {{"scale", "1"}, {"enable_chroma", "true"}}, {{"scale", "3"}, {"enable_db", "true"}}},
      {{}, {{"variant", "separable"}}, {{"enable_chroma", "true"}, {"enable_lcs", "true"}}}};
  const char* metrics[] = {"float_ssim", "float_ms_ssim"};
  for (int m = 0; m < 2; ++m) {
    const MetricInfo* info = find_metric(metrics[m]);
    std::vector<Options> sets;
    for (const OptionTexts& text : texts[m])
      sets.push_back(*parse_options(metrics[m], info->options, text, nullptr));
    const auto instance = info->create({format, true, sets});
    ASSERT_TRUE(instance.ok());
    const test::PicturePair pair = test::make_pair(format, Content::kNatural, 0);
    const std::shared_ptr<const Frame> frame =
        std::make_shared<Frame>(0, pair.reference->picture(), pair.distorted->picture());
    const SerialRunner runner;
    ScratchPool pool;
    std::vector<Measured> measured(sets.size());
    ASSERT_TRUE(
        (*instance)->measure(MeasureContext(std::span(&frame, 1), runner, pool), measured).ok());
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const Result<RunResult> alone = run(metrics[m], texts[m][set], format, Content::kNatural);
      ASSERT_TRUE(alone.ok());
      EXPECT_EQ(measured[set], alone->measured[0]) << metrics[m] << " set " << set;
    }
  }
}

Status refusal(const char* metric, const OptionTexts& options, const VideoFormat& format,
               bool strict) {
  const MetricInfo* info = find_metric(metric);
  const Result<Options> parsed = parse_options(metric, info->options, options, nullptr);
  if (!parsed.ok()) return parsed.status();
  return info->create({format, strict, std::span(&*parsed, 1)}).status();
}

TEST_F(Ssim, RefusesWhatItCannotScore) {
  const VideoFormat small{10, 40, ChromaFormat::k420, 8};
  EXPECT_EQ(refusal("float_ssim", {}, small, true).code(), ErrorCode::kUnsupportedSize);
  EXPECT_TRUE(refusal("float_ssim", {}, small, false).ok());
  const VideoFormat fits{22, 21, ChromaFormat::k420, 8};
  EXPECT_TRUE(refusal("float_ssim", {}, fits, true).ok());
  const Status chroma = refusal("float_ssim", {{"enable_chroma", "true"}}, fits, true);
  EXPECT_EQ(chroma.code(), ErrorCode::kUnsupportedSize);
  EXPECT_NE(chroma.message().find("Cb plane of 11x10"), std::string::npos) << chroma.message();
  EXPECT_EQ(refusal("float_ssim", {{"scale", "2"}}, {20, 40, ChromaFormat::k420, 8}, true).code(),
            ErrorCode::kUnsupportedSize);

  for (const bool strict : {false, true}) {
    EXPECT_EQ(refusal("float_ms_ssim", {}, {175, 176, ChromaFormat::k420, 8}, strict).code(),
              ErrorCode::kUnsupportedSize);
    EXPECT_TRUE(refusal("float_ms_ssim", {}, {176, 176, ChromaFormat::k420, 8}, strict).ok());
    const Status half = refusal("float_ms_ssim", {{"enable_chroma", "true"}},
                                {351, 352, ChromaFormat::k420, 8}, strict);
    EXPECT_EQ(half.code(), ErrorCode::kUnsupportedSize);
    EXPECT_NE(half.message().find("Cb plane is 175x176"), std::string::npos) << half.message();
  }
  for (const char* metric : {"float_ssim", "float_ms_ssim"})
    EXPECT_EQ(refusal(metric, {}, {352, 352, ChromaFormat::k420, 9}, false).code(),
              ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal("float_ssim", {{"scale", "11"}}, small, false).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal("float_ms_ssim", {{"variant", "other"}}, {176, 176}, false).code(),
            ErrorCode::kInvalidArgument);
}

// Where no window fits the drop-in divides 0 by the product of the deficits, as libvmaf.
TEST_F(Ssim, DegenerateSizes) {
  const auto score = [](int width, int height) {
    const Result<RunResult> result =
        run("float_ssim", {}, {width, height, ChromaFormat::k400, 8}, Content::kNatural);
    return std::bit_cast<double>(result->score_bits[0]);
  };
  EXPECT_EQ(std::bit_cast<std::uint64_t>(score(5, 5)), 0U);
  EXPECT_TRUE(score(9, 40) == 0 && std::signbit(score(9, 40)));
  EXPECT_TRUE(std::isnan(score(10, 40)));
}

}  // namespace
}  // namespace vqx::ssim
