// Every metric over the case table: all SIMD levels, band orders, strides and guard values give the
// bits of the plain reference.
#include <gtest/gtest.h>

#include "base/simd.hpp"
#include "support/case_stride.hpp"
#include "support/test_pictures.hpp"

namespace vqx::test {
namespace {

std::string describe(const MetricCase& metric, const Case& test_case) {
  std::string text = metric.metric;
  for (const auto& [name, value] : metric.options)
    text.append(":").append(name).append("=").append(value);
  return text + " on " + test_case.name();
}

bool applies(const MetricCase& metric, const Case& test_case) {
  return test_case.format.bit_depth <= metric.max_depth &&
         test_case.format.width * test_case.format.height <= metric.max_pixels &&
         !(metric.needs_chroma && test_case.format.chroma == ChromaFormat::k400);
}

class MetricParity : public testing::TestWithParam<MetricCase> {
 protected:
  void TearDown() override { ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok()); }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MetricParity);

TEST_P(MetricParity, EveryLevelEqualsTheReference) {
  const MetricCase& metric = GetParam();
  int compared = 0;
  int applicable = 0;
  for (const Case& test_case : case_table(metric.min_width, metric.min_height)) {
    if (!applies(metric, test_case) || applicable++ % case_stride() != 0) continue;
    ASSERT_TRUE(select_simd_level(SimdLevel::kScalar).ok());
    const Result<RunResult> expected = run_metric(metric, test_case, 3, SerialRunner());
    ASSERT_TRUE(expected.ok()) << describe(metric, test_case) << ": "
                               << expected.status().message();
    for (const SimdLevel level : supported_simd_levels()) {
      ASSERT_TRUE(select_simd_level(level).ok());
      // Another stride, guard value and band order than the reference run had.
      const Result<RunResult> actual = run_metric(metric, test_case, 3, ReverseRunner(7), 29, 0x5A);
      ASSERT_TRUE(actual.ok()) << describe(metric, test_case) << ": " << actual.status().message();
      ASSERT_EQ(expected->measured, actual->measured)
          << describe(metric, test_case) << " at " << simd_level_name(level);
      ASSERT_EQ(expected->score_bits, actual->score_bits)
          << describe(metric, test_case) << " at " << simd_level_name(level);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, MetricParity, testing::ValuesIn(metric_cases()),
                         [](const testing::TestParamInfo<MetricCase>& row) {
                           return row.param.metric + "_" + std::to_string(row.index);
                         });

}  // namespace
}  // namespace vqx::test
