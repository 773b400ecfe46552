// float_adm against known scores of its law, refusals, and several option sets at once.
#include "metric/float_adm/float_adm.hpp"

#include <gtest/gtest.h>

#include <bit>

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
