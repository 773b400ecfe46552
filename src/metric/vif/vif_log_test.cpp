// The logarithm by polynomials is the table's for every mantissa, at every SIMD level.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/simd.hpp"
#include "metric/vif/vif.hpp"

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/vif/vif_log_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/vif/vif_log-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::vif::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
std::int64_t FirstDifference(const std::int64_t*, int) {
  return -1;
}
#else
// Position of the first value whose logarithm is not that of the table in some lane; -1: none.
std::int64_t FirstDifference(const std::int64_t* values, int count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<double> df;
  const hn::ScalableTag<std::uint32_t> d;
  const LogUnit log;
  for (int i = 0; i < count; ++i) {
    const auto v = hn::Set(df, static_cast<double>(values[i]));
    const auto result = log(v, v);
    using Result = decltype(result);
    const auto expected = static_cast<std::uint32_t>(
        log2_q11(values[i], log_table()) + 2048 * Result::kExponentOffset + Result::kStepsOffset);
    const auto sum = hn::Add(hn::ShiftLeft<11>(result.exponent), result.steps);
    if (!hn::AllTrue(d, hn::Eq(sum, hn::Set(d, expected)))) return i;
  }
  return -1;
}
#endif
}  // namespace vqx::vif::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::vif {
HWY_EXPORT(FirstDifference);

namespace {

TEST(VifLog, EveryMantissaHasTheTablesLogarithm) {
  std::vector<std::int64_t> values;
  for (std::int64_t m = 32768; m < 65536; ++m) {
    values.push_back(m << 2);                                     // the smallest with all its bits
    values.push_back((m << 7 | 127) + (m % 3 << 22));             // with bits that do not count
    values.push_back((m << 21) + ((std::int64_t{1} << 21) - 1));  // the largest
  }
  for (const SimdLevel level : supported_simd_levels()) {
    if (level == SimdLevel::kScalar) continue;
    ASSERT_TRUE(select_simd_level(level).ok());
    EXPECT_EQ(-1,
              HWY_DYNAMIC_DISPATCH(FirstDifference)(values.data(), static_cast<int>(values.size())))
        << simd_level_name(level);
  }
  ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok());
}

}  // namespace
}  // namespace vqx::vif
#endif  // HWY_ONCE
