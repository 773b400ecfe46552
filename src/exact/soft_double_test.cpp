// Compared with hardware, bit for bit.  VQX_TEST_LONG=1 runs 10^8 operand pairs.
#include "exact/soft_double.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace vqx::exact {
namespace {

std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

bool same(std::uint64_t soft_bits, double hardware) {
  if (hardware != hardware) return soft_bits == soft::kNan;
  return soft_bits == bits(hardware);
}
bool same(std::uint32_t soft_bits, float hardware) {
  if (hardware != hardware) return soft_bits == 0x7FC00000;
  return soft_bits == std::bit_cast<std::uint32_t>(hardware);
}

::testing::AssertionResult matches(double a, double b) {
  const SoftDouble x{bits(a)};
  const SoftDouble y{bits(b)};
  // volatile: the compiler's own arithmetic is not under test.
  const volatile double va = a;
  const volatile double vb = b;
  const char* wrong = nullptr;
  if (!same((x + y).bits, va + vb)) wrong = "+";
  if (!same((x - y).bits, va - vb)) wrong = "-";
  if (!same((x * y).bits, va * vb)) wrong = "*";
  if (!same((x / y).bits, va / vb)) wrong = "/";
  if ((x == y) != (va == vb)) wrong = "==";
  if ((x < y) != (va < vb)) wrong = "<";
  if ((x <= y) != (va <= vb)) wrong = "<=";
  if ((x > y) != (va > vb)) wrong = ">";
  if ((x >= y) != (va >= vb)) wrong = ">=";
  if (!same(soft::to_float_bits(x.bits), static_cast<float>(va))) wrong = "to float";
  if (std::abs(a) < 0x1p63) {
    if (soft::to_int64_truncated(x.bits) != static_cast<std::int64_t>(va)) wrong = "to int64";
    if (soft::to_int64_nearest(x.bits) != std::llrint(va)) wrong = "to nearest int64";
  }
  if (wrong == nullptr) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << std::hexfloat << a << " " << wrong << " " << b;
}

::testing::AssertionResult conversions_match(std::uint64_t pattern) {
  const float f = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
  if (!same(soft::from_float_bits(static_cast<std::uint32_t>(pattern)), static_cast<double>(f)))
    return ::testing::AssertionFailure() << "from float " << std::hexfloat << f;
  const auto i = static_cast<std::int64_t>(pattern);
  if (!same(soft::from_int64(i), static_cast<double>(i)))
    return ::testing::AssertionFailure() << "from int64 " << i;
  return ::testing::AssertionSuccess();
}

// Numbers around which arithmetic goes wrong: long runs of equal bits, chosen exponents.
std::uint64_t adversarial(std::mt19937_64& random) {
  static constexpr std::uint64_t kExponents[] = {
      0, 1, 2, 52, 896, 897, 873, 1000, 1021, 1022, 1023, 1024, 1076, 1150, 1151, 2045, 2046, 2047};
  std::uint64_t fraction = random() & (soft::kHiddenBit - 1);
  switch (random() % 6) {
    case 0:
      fraction = 0;
      break;
    case 1:
      fraction = soft::kHiddenBit - 1;
      break;
    case 2:
      fraction = std::uint64_t{1} << (random() % 52);
      break;
    case 3:
      fraction &= ~std::uint64_t{0} << (random() % 52);
      break;
    case 4:
      fraction |= (std::uint64_t{1} << (random() % 52)) - 1;
      break;
    default:
      break;
  }
  const std::uint64_t exponent =
      random() % 3 ? kExponents[random() % std::size(kExponents)] : 1023 + random() % 120 - 60;
  return (random() & soft::kSign) | (exponent << 52) | fraction;
}

TEST(ExactSoftDouble, RandomAndAdversarialOperands) {
  std::mt19937_64 random(1);
  const int count = std::getenv("VQX_TEST_LONG") ? 100'000'000 : 300'000;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t a = i % 3 ? adversarial(random) : random();
    // Close pairs cancel.
    const std::uint64_t b = i % 7 == 0 ? (a ^ soft::kSign) + random() % 5 - 2 : adversarial(random);
    ASSERT_TRUE(matches(std::bit_cast<double>(a), std::bit_cast<double>(b)));
    ASSERT_TRUE(conversions_match(i % 2 ? random() : a >> (random() % 64)));
  }
}

TEST(ExactSoftDouble, SpecialOperands) {
  using Limits = std::numeric_limits<double>;
  std::vector<double> values = {0,
                                1,
                                2,
                                3,
                                0.5,
                                1.5,
                                2.5,
                                0x1p-1022,
                                1e10,
                                0.1,
                                1e9,
                                0x1p52,
                                0x1p53,
                                0x1p62,
                                0x1.fffffep127,
                                0x1.ffffffp127,
                                0x1p-149,
                                0x1p-150,
                                0x1.8p-149,
                                0x1p-126,
                                0x1.fffffffp-127,
                                Limits::denorm_min(),
                                Limits::max(),
                                Limits::infinity(),
                                Limits::quiet_NaN(),
                                1 + Limits::epsilon(),
                                1 - Limits::epsilon() / 2,
                                0x1.fffffffffffffp-1023,
                                0x1.fffffffffffffp62};
  for (std::size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  for (const double a : values)
    for (const double b : values) EXPECT_TRUE(matches(a, b));
  for (const std::uint64_t pattern :
       {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, soft::kSign, soft::kSign - 1,
        soft::kSign + 1, std::uint64_t{0x00800000}, std::uint64_t{0x007FFFFF},
        std::uint64_t{0x7F800000}, std::uint64_t{0xFF800000}, std::uint64_t{0x7FC00000}})
    EXPECT_TRUE(conversions_match(pattern));
}

}  // namespace
}  // namespace vqx::exact
