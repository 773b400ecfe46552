// The single-precision metrics beyond the shared comparison of SIMD levels: numbers of the law,
// sets that share passes, refusals, the order of sums.
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/simd.hpp"
#include "metric/float_rows/float_rows.hpp"
#include "support/test_pictures.hpp"

namespace vqx::float_rows {
namespace {

using test::Content;
using test::MetricCase;
using test::RunResult;

class FloatMetrics : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok()); }
};

// Scores of the executable specification, with correctly rounded logarithms, on the same pictures,
// frame by frame.
struct Known {
  std::string metric;
  OptionTexts options;
  int width, height, depth;
  Content content;
  std::vector<double> scores;
};
const std::vector<Known>& known_scores() {
  static const std::vector<Known> table = {
      {"float_vif",
       {},
       64,
       48,
       8,
       Content::kNatural,
       {0x1.016c83370171p-3, 0x1.75a54417c97d2p-2, 0x1.c3b1303072ec1p-2, 0x1.e2b9af07e2748p-2}},
      {"float_vif",
       {{"vif_enhn_gain_limit", "1"}, {"debug", "true"}},
       325,
       35,
       10,
       Content::kNatural,
       {0x1.eb62fce7c159dp-4, 0x1.649ddd0d8c41fp-2, 0x1.a94f9110cb88ep-2, 0x1.cfa7d5223de51p-2,
        0x1.64d62c4dbe70dp-3, 0x1.5725c28p+14, 0x1.ec5bc2fp+16, 0x1.6fe0ecp+13, 0x1.7f4f94p+16,
        0x1.d7392ep+12, 0x1.524574p+14, 0x1.045ee6p+11, 0x1.3970dep+12, 0x1.1b6488p+9,
        0x1.38f104p+10}},
      {"float_vif",
       {},
       16,
       16,
       16,
       Content::kNoise,
       {0x1.5ad27b7e14b23p-10, 0x1.3ba6f55a62a2ep-5, 0x1.b12053f464811p-5, 0x1.9adf8ff668577p-4}},
      {"float_vif",
       {{"vif_kernelscale", "2.4"}, {"vif_sigma_nsq", "0.5"}},
       131,
       66,
       12,
       Content::kNatural,
       {0x1.33bdbb14d81a8p-3, 0x1.4d25ad401e3fbp-2, 0x1.727bb93b9cf9ep-2, 0x1.bf9c4c0edb23dp-2}},
      {"float_vif",
       {{"vif_prescale", "0.5"},
        {"vif_prescale_method", "bicubic"},
        {"vif_skip_scale0", "true"},
        {"vif_scale3_min_val", "0.9"},
        {"debug", "true"}},
       131,
       66,
       8,
       Content::kNatural,
       {0x0p+0, 0x1.d10b4d74cd281p-2, 0x1.f268084caf337p-2, 0x1.ccccccccccccdp-1,
        0x1.db903609a61c3p-2, 0x1.58386f8p+11, 0x1.72980a6p+12, 0x0p+0, -0x1p+0, 0x1.0832dap+11,
        0x1.22dffep+12, 0x1.fc2824p+8, 0x1.050218p+10, 0x1.08091p+7, 0x1.cef0ccp+7}},
      {"float_vif",
       {{"vif_prescale", "1.37"}, {"vif_prescale_method", "lanczos4"}},
       35,
       37,
       10,
       Content::kNearBlack,
       {0x1.5f855fc2d87a8p-7, 0x1.8b6b74ab2389p-5, 0x1.32dc841b717bfp-5, 0x1.64742cea69e9ap-5}},
      {"float_vif",
       {{"vif_prescale", "2"}, {"vif_prescale_method", "bilinear"}},
       35,
       37,
       8,
       Content::kNatural,
       {0x1.956d08668b9a9p-4, 0x1.c0313368f5747p-3, 0x1.4ef9ec7618d4dp-2, 0x1.de935aead087fp-2}},
      {"float_vif",
       {{"vif_prescale", "0.6667"}},
       64,
       48,
       8,
       Content::kBanding,
       {0x1.fffec7711dc47p-1, 0x1.ffff3cf3cf3cfp-1, 0x1.ffff4p-1, 0x1.ffff133333333p-1}},
      {"float_vif",
       {{"vif_sigma_nsq", "0"}},
       64,
       48,
       8,
       Content::kNearBlack,
       {0x1.29f114p-19, 0x1.0b5f48p-12, 0x1.4e24955555555p-12, 0x1.25654p-10}},
      {"float_motion",
       {},
       64,
       48,
       8,
       Content::kNatural,
       {0x0p+0, 0x0p+0, 0x1.b2f046p+3, 0x1.b0e17ap+3, 0x1.b2f046p+3, 0x1.b0e17ap+3, 0x1.b0e17ap+3,
        0x1.b0e17ap+3, 0x1.b0e17ap+3}},
      {"float_motion",
       {{"motion_filter_size", "3"}, {"motion_add_uv", "true"}},
       131,
       66,
       10,
       Content::kNatural,
       {0x0p+0, 0x0p+0, 0x1.85683bp+5, 0x1.851333p+5, 0x1.85683bp+5, 0x1.851333p+5, 0x1.851333p+5,
        0x1.851333p+5, 0x1.851333p+5}},
      {"float_motion",
       {{"motion_add_scale1", "true"}, {"motion_filter_size", "1"}},
       35,
       37,
       16,
       Content::kNoise,
       {0x0p+0, 0x0p+0, 0x1.19f7bep+7, 0x1.19f7bep+7, 0x1.19f7bep+7, 0x1.19f7bep+7, 0x1.1c5edcp+7,
        0x1.1c5edcp+7, 0x1.1c5edcp+7}},
      {"float_motion",
       {{"motion_add_scale1", "true"},
        {"debug", "false"},
        {"motion_fps_weight", "1.5"},
        {"motion_blend_factor", "0.25"},
        {"motion_blend_offset", "3"},
        {"motion_max_val", "20"}},
       35,
       37,
       12,
       Content::kNatural,
       {0x0p+0, 0x1.a5fa58p+3, 0x1.4p+4, 0x1.984044p+3, 0x1.4p+4, 0x1.984044p+3}},
      {"float_motion",
       {{"motion_force_zero", "true"}},
       64,
       48,
       8,
       Content::kNatural,
       {0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0}},
      {"float_motion",
       {},
       3,
       3,
       8,
       Content::kNoise,
       {0x0p+0, 0x0p+0, 0x1.4f5dacp+4, 0x1.4f5dacp+4, 0x1.4f5dacp+4, 0x1.4f5dacp+4, 0x1.656528p+4,
        0x1.656528p+4, 0x1.656528p+4}},
      {"float_ansnr",
       {},
       64,
       48,
       8,
       Content::kNatural,
       {0x1.e109d2908926ap+2, 0x1.656654c71dd7cp+4}},
      {"float_ansnr",
       {},
       325,
       35,
       10,
       Content::kNoise,
       {-0x1.20c7aa3c56c9ap+1, 0x1.0e80ea1c8fa33p+4}},
      {"float_ansnr", {}, 3, 3, 16, Content::kNoise, {-0x1.aaf0c694a07c4p+0, 0x1.236b78795bb32p+4}},
      {"float_ansnr",
       {},
       17,
       33,
       12,
       Content::kNearBlack,
       {0x1.eaa295d2bdfe5p+3, 0x1.5b427a10722e5p+4}},
      {"float_ansnr", {}, 16, 16, 8, Content::kAllMax, {0x1.ep+5, 0x1.ep+5}},
      {"float_ansnr", {}, 16, 16, 8, Content::kAllMin, {0x1.ep+5, 0x1.ep+5}},
      {"float_moment",
       {},
       64,
       48,
       8,
       Content::kNatural,
       {0x1.e3d6aaaaaaaabp+6, 0x1.e6ecaaaaaaaabp+6, 0x1.089baeaaaaaabp+14, 0x1.0a92415555555p+14}},
      {"float_moment",
       {},
       325,
       35,
       10,
       Content::kNoise,
       {0x1.0051bd6dc2614p+7, 0x1.ff737f89e4236p+6, 0x1.561e0f875edc5p+14, 0x1.555c14459644fp+14}},
      {"float_moment", {}, 1, 1, 12, Content::kNoise, {0x0p+0, 0x1.548p+6, 0x0p+0, 0x1.c4e44p+12}},
      {"float_moment",
       {},
       131,
       66,
       16,
       Content::kNoise,
       {0x1.01173b92cd4p+7, 0x1.012f309e3b198p+7, 0x1.56744ec10dadfp+14, 0x1.5850fdabae0acp+14}},
  };
  return table;
}

TEST_F(FloatMetrics, EveryLevelGivesTheSpecifiedScores) {
  for (const Known& known : known_scores())
    for (const SimdLevel level : supported_simd_levels()) {
      ASSERT_TRUE(select_simd_level(level).ok());
      const VideoFormat format{known.width, known.height, ChromaFormat::k444, known.depth};
      const int frames = known.metric == "float_motion" ? 3 : 1;
      const Result<RunResult> result =
          test::run_metric(MetricCase{known.metric, known.options},
                           test::Case{format, known.content}, frames, SerialRunner());
      ASSERT_TRUE(result.ok()) << result.status().message();
      ASSERT_EQ(result->score_bits.size(), known.scores.size());
      for (std::size_t i = 0; i < known.scores.size(); ++i)
        EXPECT_EQ(std::bit_cast<double>(result->score_bits[i]), known.scores[i])
            << known.metric << " score " << i << " of " << known.width << "x" << known.height
            << " at " << simd_level_name(level);
    }
}

// Sets that share passes give what each gives alone.
TEST_F(FloatMetrics, SeveralOptionSetsAtOnce) {
  const VideoFormat format{270, 66, ChromaFormat::k420, 10};
  const std::pair<std::string, std::vector<OptionTexts>> requests[] = {
      {"float_vif",
       {{},
        {{"vif_enhn_gain_limit", "1"}},
        {{"vif_skip_scale0", "true"}, {"vif_sigma_nsq", "4.7"}},
        {{"vif_kernelscale", "0.5"}, {"vif_skip_scale0", "true"}},
        {{"vif_prescale", "0.75"}}}},
      {"float_motion",
       {{},
        {{"motion_add_scale1", "true"}},
        {{"motion_filter_size", "3"}, {"motion_add_uv", "true"}},
        {{"motion_force_zero", "true"}},
        {{"motion_filter_size", "9"}, {"motion_add_uv", "true"}}}}};
  for (const auto& [name, texts] : requests) {
    const MetricInfo* info = find_metric(name);
    std::vector<Options> sets;
    for (const OptionTexts& text : texts)
      sets.push_back(*parse_options(name, info->options, text, nullptr));
    const auto instance = info->create({format, true, sets});
    ASSERT_TRUE(instance.ok()) << instance.status().message();
    std::vector<test::PicturePair> pairs;
    ScratchPool pool;
    std::vector<std::shared_ptr<const Frame>> frames;
    for (int i = 0; i < 2; ++i) {
      pairs.push_back(test::make_pair(format, Content::kNatural, i));
      frames.push_back(std::make_shared<Frame>(i, pairs.back().reference->picture(),
                                               pairs.back().distorted->picture()));
    }
    std::vector<Measured> measured(sets.size());
    ASSERT_TRUE(
        (*instance)->measure(MeasureContext(frames, test::ReverseRunner(3), pool), measured).ok());
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const Result<RunResult> alone = test::run_metric(
          MetricCase{name, texts[set]}, test::Case{format, Content::kNatural}, 2, SerialRunner());
      ASSERT_TRUE(alone.ok());
      EXPECT_EQ(measured[set], alone->measured[1]) << name << " set " << set;
    }
  }
}

Status refusal(const std::string& metric, const OptionTexts& options, const VideoFormat& format) {
  const MetricInfo* info = find_metric(metric);
  const Result<Options> parsed = parse_options(metric, info->options, options, nullptr);
  if (!parsed.ok()) return parsed.status();
  return info->create({format, false, std::span(&*parsed, 1)}).status();
}

TEST_F(FloatMetrics, RefuseWhatTheyCannotScore) {
  const auto code = [](const std::string& metric, const OptionTexts& options, int width, int height,
                       ChromaFormat chroma = ChromaFormat::k420) {
    return refusal(metric, options, {width, height, chroma, 8}).code();
  };
  constexpr ErrorCode kSize = ErrorCode::kUnsupportedSize;
  constexpr ErrorCode kArgument = ErrorCode::kInvalidArgument;
  constexpr ErrorCode kOk = ErrorCode::kOk;
  EXPECT_EQ(code("float_vif", {}, 16, 16), kOk);
  EXPECT_EQ(code("float_vif", {}, 15, 16), kSize);
  EXPECT_EQ(code("float_vif", {}, 16, 15), kSize);
  EXPECT_EQ(code("float_vif", {{"vif_prescale", "2"}}, 8, 8), kOk);
  EXPECT_EQ(code("float_vif", {{"vif_prescale", "0.5"}}, 30, 30), kSize);
  EXPECT_EQ(code("float_vif", {{"vif_kernelscale", "3"}}, 16, 16), kSize);
  EXPECT_EQ(code("float_vif", {{"vif_kernelscale", "0.9"}}, 64, 64), kArgument);
  EXPECT_EQ(code("float_vif", {{"vif_prescale_method", "other"}}, 64, 64), kArgument);
  EXPECT_EQ(
      code("float_vif", {{"vif_prescale", "2"}, {"vif_prescale_method", "bilinear"}}, 3842, 64),
      kSize);
  EXPECT_EQ(code("float_motion", {}, 3, 3), kOk);
  EXPECT_EQ(code("float_motion", {}, 3, 2), kSize);
  EXPECT_EQ(code("float_motion", {{"motion_filter_size", "3"}}, 2, 2), kOk);
  EXPECT_EQ(code("float_motion", {{"motion_filter_size", "1"}}, 1, 1), kOk);
  EXPECT_EQ(code("float_motion", {{"motion_add_uv", "true"}}, 4, 4), kSize);
  EXPECT_EQ(code("float_motion", {{"motion_add_uv", "true"}}, 4, 4, ChromaFormat::k400), kArgument);
  EXPECT_EQ(code("float_motion", {{"motion_add_scale1", "true"}}, 15361, 4), kSize);
  EXPECT_EQ(code("float_motion", {{"motion_add_scale1", "true"}}, 15360, 4), kOk);
  EXPECT_EQ(code("float_motion", {{"motion_fps_weight", "5.1"}}, 64, 64), kArgument);
  EXPECT_EQ(code("float_ansnr", {}, 3, 3), kOk);
  EXPECT_EQ(code("float_ansnr", {}, 2, 3), kSize);
  EXPECT_EQ(code("float_moment", {}, 1, 1), kOk);
  EXPECT_EQ(code("float_moment", {}, 65536, 32768), kSize);
  EXPECT_EQ(code("null", {}, 1, 1), kOk);
  for (const char* metric : {"float_vif", "float_motion", "float_ansnr", "float_moment"})
    EXPECT_EQ(refusal(metric, {}, {64, 64, ChromaFormat::k420, 9}).code(), kArgument);
}

// Equal flat pictures: the ceiling where the rounded taps add up, a finite number where they do
// not; minus infinity without a signal.
TEST_F(FloatMetrics, AnsnrOfFlatPictures) {
  const auto score = [](int reference, int distorted) {
    std::vector<std::uint8_t> samples[2];
    Picture pictures[2];
    const VideoFormat format{16, 16, ChromaFormat::k400, 8};
    for (int i = 0; i < 2; ++i) {
      samples[i].assign(256, static_cast<std::uint8_t>(i == 0 ? reference : distorted));
      const Plane plane{samples[i].data(), 16, 16, 16};
      pictures[i] = Picture::borrow(format, &plane);
    }
    const Options options({}, {});
    const auto metric = find_metric("float_ansnr")->create({format, true, std::span(&options, 1)});
    const std::shared_ptr<const Frame> frame = std::make_shared<Frame>(0, pictures[0], pictures[1]);
    ScratchPool pool;
    const SerialRunner runner;
    Measured measured;
    double scores[2] = {};
    EXPECT_TRUE(
        (*metric)
            ->measure(MeasureContext(std::span(&frame, 1), runner, pool), std::span(&measured, 1))
            .ok());
    EXPECT_TRUE(
        (*metric)->finish_frame(0, MeasuredWindow(0, [&](int) { return &measured; }), scores).ok());
    return scores[0];
  };
  EXPECT_NEAR(score(3, 3), 144.288, 0.0005);
  EXPECT_EQ(score(0, 0), 60);
  EXPECT_EQ(score(255, 255), 60);
  EXPECT_EQ(score(128, 0), -std::numeric_limits<double>::infinity());
}

// Row sums are running sums however rows and tiles are grouped.
TEST_F(FloatMetrics, RowSumsKeepTheirOrder) {
  constexpr int kRows = 19, kColumns = 45, kStride = 50;
  std::vector<float> terms(static_cast<std::size_t>(kRows) * kStride);
  for (std::size_t i = 0; i < terms.size(); ++i)
    terms[i] = 1.0f / static_cast<float>(1 + i * 7919 % 1009);
  std::vector<float> sums(kRows);
  add_to_row_sums(terms.data(), kStride, kRows, 30, sums.data());
  add_to_row_sums(terms.data() + 30, kStride, kRows, kColumns - 30, sums.data());
  for (int r = 0; r < kRows; ++r)
    EXPECT_EQ(sums[static_cast<std::size_t>(r)],
              running_sum(terms.data() + static_cast<std::size_t>(r) * kStride, kColumns));
}

TEST_F(FloatMetrics, EdgesFoldOnce) {
  EXPECT_EQ(fold(-2, 3, Edge::kReflect), 2);
  EXPECT_EQ(fold(4, 3, Edge::kReflect), 0);
  EXPECT_EQ(fold(-2, 3, Edge::kRepeatLast), 2);
  EXPECT_EQ(fold(3, 3, Edge::kRepeatLast), 2);
  EXPECT_EQ(fold(4, 3, Edge::kRepeatLast), 1);
}

}  // namespace
}  // namespace vqx::float_rows
