// float_adm against known scores of its law, refusals, and several option sets at once.
#include "metric/float_adm/float_adm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/simd.hpp"
#include "verify/cases.hpp"

namespace vqx::float_adm {
namespace {

Result<verify::RunResult> run(const OptionTexts& options, int width, int height,
                              verify::Content content) {
  const verify::MetricCase metric{"float_adm", options, kMinSide, kMinSide};
  const verify::Case test_case{{width, height, ChromaFormat::k400, 8}, content};
  return verify::run_metric(metric, test_case, 1, SerialRunner());
}

double score(const verify::RunResult& result, std::size_t output) {
  return std::bit_cast<double>(result.score_bits[output]);
}

// adm2, aim, adm3 and the four scales, of the executable specification; adm_p_norm, which that
// lacks, of the same with its cubes and cube roots replaced by its power function.
struct Expected {
  OptionTexts options;
  std::vector<double> scores;
};
const Expected kExpected[] = {
    {{},
     {0x1.fc18927c437c1p-1, 0x1.8c3fce146079cp-8, 0x1.fc8009700d5d9p-1, 0x1.edd508d1e0409p-1,
      0x1.f76ac7e57b8efp-1, 0x1.ffe09bff97c7fp-1, 0x1.fec5311295fb8p-1}},
    {{{"adm_p_norm", "1"}},
     {0x1.ed3573437e1d9p-1, 0x1.12babbfe2088bp-6, 0x1.f24fceb1c68cap-1, 0x1.ca319e354160bp-1,
      0x1.e6f735d577331p-1, 0x1.ffc2d6f5848edp-1, 0x1.ffb3c4ee3f2cep-1}},
    {{{"adm_p_norm", "2"}},
     {0x1.fa1870f86bcc7p-1, 0x1.109bbcff4c5b0p-7, 0x1.faeb0102374d8p-1, 0x1.e775fde6f57acp-1,
      0x1.f47ab9caaf7ccp-1, 0x1.ffd7ac593f8b7p-1, 0x1.ff09cd3270de0p-1}},
    {{{"adm_p_norm", "2.5"}},
     {0x1.fb6727aac14e6p-1, 0x1.c51b5aa42a4d5p-8, 0x1.fbee787abc7cep-1, 0x1.eb8a3005c1111p-1,
      0x1.f658648f814d3p-1, 0x1.ffdab88728038p-1, 0x1.fede5f9f4d018p-1}},
    {{{"adm_p_norm", "20"}},
     {0x1.fe831ba23739fp-1, 0x1.9a5f63b2b1e61p-9, 0x1.fe745e1f42440p-1, 0x1.f340558032935p-1,
      0x1.fc3af39208c73p-1, 0x1.00a38045dd10cp+0, 0x1.fec44e0f96c6fp-1}},
    {{{"adm_p_norm", "4"},
      {"adm_csf_mode", "1"},
      {"adm_bypass_cm", "1"},
      {"adm_enhn_gain_limit", "1"}},
     {0x1.fe40bbffdbcfap-1, 0x1.4057755f66968p-7, 0x1.fc9faf152f1aap-1, 0x1.f30ab34e88a56p-1,
      0x1.f92890ba71d6ap-1, 0x1.ff147edaff819p-1, 0x1.fe9f8f0523616p-1}},
};

TEST(FloatAdm, ScoresOfTheSpecification) {
  const VideoFormat format{96, 64, ChromaFormat::k400, 8};
  verify::GuardedPicture reference(format, 3, 0xC3);
  verify::GuardedPicture distorted(format, 3, 0xC3);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x) {
      const int value = (7 * x + 13 * y + ((x * y) >> 3)) % 256;
      reference.set(0, x, y, value);
      distorted.set(0, x, y, std::clamp(value + (31 * x + 17 * y) % 23 - 11, 0, 255));
    }
  const auto frame = std::make_shared<const Frame>(0, reference.picture(), distorted.picture());
  const MetricInfo* info = find_metric("float_adm");
  std::vector<Options> sets;
  for (const Expected& e : kExpected)
    sets.push_back(parse_options("float_adm", info->options, e.options, nullptr).value());
  const auto metric = info->create({format, true, sets}).value();
  for (const SimdLevel level : supported_simd_levels()) {
    ASSERT_TRUE(select_simd_level(level).ok());
    const SerialRunner runner;
    ScratchPool scratch;
    const MeasureContext context(std::span(&frame, 1), runner, scratch);
    std::vector<Measured> measured(sets.size());
    ASSERT_TRUE(metric->measure(context, measured).ok());
    for (std::size_t set = 0; set < sets.size(); ++set) {
      std::vector<double> scores(kExpected[set].scores.size());
      const MeasuredWindow window(0, [&](int) { return &measured[set]; });
      ASSERT_TRUE(metric->finish_frame(set, window, scores).ok());
      EXPECT_EQ(kExpected[set].scores, scores) << simd_level_name(level) << ", set " << set;
    }
  }
  ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok());
}

TEST(FloatAdm, IdenticalPicturesKeepAllDetail) {
  const auto result = run({}, 96, 64, verify::Content::kIdentical);
  ASSERT_TRUE(result.ok());
  // The estimate of the reciprocal leaves the restored detail within a few units of the last place.
  EXPECT_GT(score(*result, 0), 0.9999);
  EXPECT_LE(score(*result, 0), 1.0);
}

TEST(FloatAdm, DistortionLosesDetail) {
  const auto result = run({}, 96, 64, verify::Content::kNatural);
  ASSERT_TRUE(result.ok());
  EXPECT_LT(score(*result, 0), 0.999);
  EXPECT_GT(score(*result, 1), 0.0);
}

TEST(FloatAdm, OptionsChangeTheScore) {
  const auto plain = run({}, 96, 64, verify::Content::kNatural);
  for (const OptionTexts& options :
       {OptionTexts{{"adm_csf_mode", "1"}}, OptionTexts{{"adm_bypass_cm", "1"}},
        OptionTexts{{"adm_f1s0", "0.5"}}, OptionTexts{{"adm_p_norm", "2"}}}) {
    const auto other = run(options, 96, 64, verify::Content::kNatural);
    ASSERT_TRUE(other.ok());
    EXPECT_NE(other->score_bits[0], plain->score_bits[0]) << options[0].first;
  }
}

TEST(FloatAdm, SmallPicturesAreRefusedBeforeAnyFrame) {
  const auto result = run({}, kMinSide - 1, kMinSide, verify::Content::kNoise);
  EXPECT_EQ(result.status().code(), ErrorCode::kUnsupportedSize);
  EXPECT_NE(result.status().message().find("17x17"), std::string::npos);
}

}  // namespace
}  // namespace vqx::float_adm
