// `adm` against numbers of its executable specification, and the sharing between option sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/simd.hpp"
#include "metric/adm/adm.hpp"
#include "metric/adm/adm_math.hpp"
#include "metric/adm/adm_powf.hpp"
#include "verify/cases.hpp"

namespace vqx::adm {
namespace {

using Sample = std::function<int(int x, int y)>;

std::shared_ptr<const Frame> make_frame(int width, int height, int depth, const Sample& reference,
                                        const Sample& distorted) {
  const VideoFormat format{width, height, ChromaFormat::k400, depth};
  Picture pictures[2];
  for (int side = 0; side < 2; ++side) {
    Result<Picture> picture = Picture::allocate(format);
    pictures[side] = std::move(*picture);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int value = side == 0 ? reference(x, y) : distorted(x, y);
        if (depth == 8)
          pictures[side].mutable_row<std::uint8_t>(0, y)[x] = static_cast<std::uint8_t>(value);
        else
          pictures[side].mutable_row<std::uint16_t>(0, y)[x] = static_cast<std::uint16_t>(value);
      }
  }
  return std::make_shared<Frame>(0, pictures[0], pictures[1]);
}

Result<std::unique_ptr<Metric>> make_metric(const VideoFormat& format,
                                            const std::vector<OptionTexts>& texts) {
  static std::vector<Options> sets;
  sets.clear();
  for (const OptionTexts& text : texts) {
    Result<Options> options = parse_options("adm", kAdmInfo.options, text, nullptr);
    if (!options.ok()) return options.status();
    sets.push_back(*options);
  }
  return kAdmInfo.create({format, true, sets});
}

std::vector<Measured> measure(const Metric& metric, std::size_t sets,
                              const std::shared_ptr<const Frame>& frame) {
  ScratchPool scratch;
  std::vector<Measured> measured(sets);
  const SerialRunner runner;
  const MeasureContext context(std::span(&frame, 1), runner, scratch);
  EXPECT_TRUE(metric.measure(context, measured).ok());
  return measured;
}

std::vector<double> scores(const Metric& metric, std::size_t set, const Measured& measured) {
  std::vector<double> values(metric.outputs(set).size());
  const MeasuredWindow window(0, [&](int i) { return i == 0 ? &measured : nullptr; });
  EXPECT_TRUE(metric.finish_frame(set, window, values).ok());
  return values;
}

class AdmLevels : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override { ASSERT_TRUE(select_simd_level(GetParam()).ok()); }
  void TearDown() override { ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok()); }
};

// The frame of the specification that shows every stage.
TEST_P(AdmLevels, SumsOfTheSpecificationsFrame) {
  const auto reference = [](int x, int y) { return (7 * x + 13 * y + ((x * y) >> 3)) % 256; };
  const auto distorted = [&](int x, int y) {
    return std::clamp(reference(x, y) + (31 * x + 17 * y) % 23 - 11, 0, 255);
  };
  const auto frame = make_frame(96, 64, 8, reference, distorted);
  const auto metric = make_metric(frame->reference().format(), {{}});
  ASSERT_TRUE(metric.ok());
  const Measured measured = measure(**metric, 1, frame)[0];
  const Sums sums = measured.as<Sums>();
  const std::int64_t restored[kScales][kBands] = {
      {58679834103380354, 10259252713912748, 12293271426652919},
      {1812563049792951, 110218676696261, 36656049951931},
      {1085546696903103, 62480045796661, 34796506735918},
      {359861660344836, 40824069428275, 48480354046062}};
  const std::int64_t additive[kScales][kBands] = {
      {8097796634494, 29978769209069, 22099359393834}, {}, {}, {}};
  const std::uint64_t original[kScales][kBands] = {
      {91226872771567, 18057069380515, 37373506092775},
      {6990848331318693, 449239082834633, 1686147721544550},
      {3242984043027262, 188165069917300, 585695987164239},
      {461489228353473, 53696028757617, 193154891512076}};
  for (int s = 0; s < kScales; ++s)
    for (int b = 0; b < kBands; ++b) {
      EXPECT_EQ(sums.restored[s][b], restored[s][b]) << s << b;
      EXPECT_EQ(sums.additive[s][b], additive[s][b]) << s << b;
      EXPECT_EQ(sums.reference[s][b], original[s][b]) << s << b;
    }
  const std::vector<double> values = scores(**metric, 0, measured);
  EXPECT_EQ(values[0], 0.99239659043676509);
  EXPECT_EQ(values[1], 0.0060472760961434759);
  EXPECT_EQ(values[2], 0.99317465717031084);
}

// Full-contrast lines one sample wide and binary noise: coefficients up to 22180, whose 16-bit
// centre terms wrap.  (libvmaf's vector paths do not wrap them; its plain path is the law.)
TEST_P(AdmLevels, CentreTermsWrap) {
  struct Extreme {
    int depth;
    bool lines;
    double adm2, aim, adm3;
  };
  const Extreme extremes[] = {
      {8, true, 0x1.2d0a6676cc551p-1, 0x1.c19958b721db3p-1, 0x1.6b710dbfaa79ep-2},
      {16, true, 0x1.2d3b7ae77e20ap-1, 0x1.c1b7f5fb3ffc4p-1, 0x1.6b8384ec3e246p-2},
      {8, false, 0x1.7d614e4f9fd69p-2, 0x1.3b84bb8fd7891p-1, 0x1.832beb97f8624p-2},
      {16, false, 0x1.7d2bb6dcee035p-2, 0x1.3b9cdca9f8821p-1, 0x1.82f8fec47e7fap-2}};
  for (const Extreme& extreme : extremes) {
    const int peak = (1 << extreme.depth) - 1;
    const auto bit = [&](std::int64_t x, std::int64_t y, std::int64_t salt) {
      const std::int64_t n = (x * 1103515245 + y * 12345 + salt) ^ (x * y * 2654435761 + salt);
      return static_cast<int>((n >> 7) & 1) * peak;
    };
    const auto reference = [&](int x, int y) {
      return extreme.lines ? (x % 6 == 3 ? peak : 0) : bit(x, y, 1);
    };
    const auto distorted = [&](int x, int y) {
      if (!extreme.lines) return bit(x, y, 77);
      return y % 9 == 4 ? peak : x % 6 == 3 ? peak * 3 / 4 : 0;
    };
    const auto frame = make_frame(96, 80, extreme.depth, reference, distorted);
    const auto metric = make_metric(frame->reference().format(), {{}});
    ASSERT_TRUE(metric.ok());
    const std::vector<double> values = scores(**metric, 0, measure(**metric, 1, frame)[0]);
    EXPECT_EQ(values[0], extreme.adm2);
    EXPECT_EQ(values[1], extreme.aim);
    EXPECT_EQ(values[2], extreme.adm3);
  }
}

// What one set measures does not depend on the sets that share the pass with it.
TEST_P(AdmLevels, SetsShareWithoutTouchingEachOther) {
  const std::vector<OptionTexts> texts = {
      {},
      {{"adm_enhn_gain_limit", "1"}},
      {{"adm_csf_mode", "2"}, {"adm_enhn_gain_limit", "1"}, {"adm_noise_weight", "0.02"}},
      {{"adm_skip_scale0", "true"}},
      {{"adm_skip_aim", "true"}},
      {{"adm_csf_mode", "3"}, {"adm_enhn_gain_limit", "1.3"}},
      {{"adm_csf_mode", "1"}},  // too heavy for the SIMD path
  };
  const verify::PicturePair pair =
      verify::make_pair({177, 131, ChromaFormat::k420, 10}, verify::Content::kNatural, 0);
  const std::shared_ptr<const Frame> frame =
      std::make_shared<Frame>(0, pair.reference->picture(), pair.distorted->picture());
  const auto together = make_metric(frame->reference().format(), texts);
  ASSERT_TRUE(together.ok());
  const std::vector<Measured> all = measure(**together, texts.size(), frame);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto alone = make_metric(frame->reference().format(), {texts[i]});
    ASSERT_TRUE(alone.ok());
    EXPECT_EQ(measure(**alone, 1, frame)[0], all[i]) << i;
  }
  EXPECT_NE(all[0], all[1]);
  EXPECT_NE(all[1], all[2]);
}

INSTANTIATE_TEST_SUITE_P(Levels, AdmLevels, testing::ValuesIn(supported_simd_levels()),
                         [](const auto& row) { return std::string(simd_level_name(row.param)); });

TEST(Adm, RefusesWhatItCannotMeasure) {
  const auto code = [](int width, int height, const OptionTexts& texts) {
    const auto metric = make_metric({width, height, ChromaFormat::k420, 8}, {texts});
    return metric.ok() ? ErrorCode::kOk : metric.status().code();
  };
  EXPECT_EQ(code(33, 33, {}), ErrorCode::kOk);
  EXPECT_EQ(code(32, 64, {}), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(code(64, 17, {}), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(code(16, 16, {}), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(code(64, 64, {{"adm_norm_view_dist", "2.9"}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(64, 64, {{"adm_norm_view_dist", "4"}}), ErrorCode::kOk);
  EXPECT_EQ(code(64, 64, {{"adm_norm_view_dist", "4"}, {"adm_csf_mode", "2"}}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(64, 64, {{"adm_enhn_gain_limit", "0.5"}}), ErrorCode::kInvalidArgument);
}

TEST(Adm, FlatReferenceWithoutNoiseFloorLosesNothing) {
  const auto flat = [](int, int) { return 77; };
  const auto frame = make_frame(40, 40, 8, flat, [](int x, int) { return x; });
  const auto metric =
      make_metric(frame->reference().format(), {{{"adm_noise_weight", "0"}, {"debug", "true"}}});
  ASSERT_TRUE(metric.ok());
  const std::vector<double> values = scores(**metric, 0, measure(**metric, 1, frame)[0]);
  EXPECT_EQ(values[0], 1.0);
  EXPECT_EQ(values[1], 0.0);
  EXPECT_EQ(values[2], 1.0);
  EXPECT_TRUE(std::isnan(values[3]));
}

// The specification's table of fixed-point weights.
TEST(Adm, FixedWeights) {
  const auto weights = [](const CsfOptions& csf) {
    ScaleWeights exact[kScales];
    EXPECT_TRUE(csf_weights(csf, exact).ok());
    std::vector<FixedWeights> fixed;
    fixed.reserve(kScales);
    for (int s = 0; s < kScales; ++s) fixed.push_back(fixed_weights(csf, s, exact[s]));
    return fixed;
  };
  EXPECT_EQ(
      weights({}),
      (std::vector<FixedWeights>{
          {36453, 49417}, {137373792, 61414028}, {186284160, 104783920}, {196165808, 134487184}}));
  CsfOptions blended;
  blended.mode = CsfMode::kBlended;
  EXPECT_EQ(
      weights(blended),
      (std::vector<FixedWeights>{
          {24809, 36087}, {107485848, 50586124}, {184468848, 102727024}, {251775280, 154193616}}));
}

// Among them singles whose law differs from the correctly rounded root.
TEST(Adm, CubeRoot) {
  const float pairs[][2] = {{0.0f, 0.0f},
                            {1.0f, 1.0f},
                            {8.0f, 2.0f},
                            {0x1.9c0680p-16f, 0x1.dc3c26p-6f},
                            {0x1.367dc8p+43f, 0x1.57f832p+14f},
                            {0x1.e33506p+98f, 0x1.f6378cp+32f},
                            {0x1.b5bc74p-28f, 0x1.e5f10ap-10f},
                            {0x1p-149f, 0x1.428a1ap-50f},
                            {0x1.16c2p-133f, 0x1.a21376p-45f},
                            {0x1.ff933cp+127f, 0x1.96433ap+42f},
                            {123456.0f, 0x1.8e58a6p+5f}};
  for (const auto& pair : pairs) EXPECT_EQ(cube_root(pair[0]), pair[1]) << pair[0];
}

}  // namespace
}  // namespace vqx::adm
