// The exact scalar operations against the host's own IEEE arithmetic.
#include "kernel/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace vqx::kernel {
namespace {

constexpr int kCases = 2'000'000;

std::vector<float> special_values() {
  std::vector<float> values;
  for (const uint32_t bits :
       {0x00000001u, 0x00000002u, 0x007fffffu, 0x00800000u, 0x00800001u, 0x3f7fffffu, 0x3f800000u,
        0x3f800001u, 0x40000000u, 0x4b7fffffu, 0x7f7fffffu, 0x7f000000u, 0x34000000u}) {
    values.push_back(float_from_bits(bits));
    values.push_back(float_from_bits(bits | 0x80000000u));
  }
  return values;
}

float finite(uint32_t bits) {
  if ((bits & 0x7f800000u) == 0x7f800000u) bits ^= 0x40000000u;
  return float_from_bits(bits);
}

void expect_same(float actual, float expected, float a, float b) {
  ASSERT_EQ(float_bits(actual), float_bits(expected)) << std::hexfloat << a << ", " << b;
}

TEST(KernelScalar, DividesExactly) {
  std::mt19937 random(1);
  for (int i = 0; i < kCases; ++i) {
    const float a = finite(static_cast<uint32_t>(random()));
    float b = finite(static_cast<uint32_t>(random()));
    if (i % 2 == 0)
      b = float_from_bits((float_bits(b) & 0x807fffffu) | (float_bits(a) & 0x7f800000u));
    if (b == 0) continue;
    expect_same(divide_exactly(a, b), a / b, a, b);
  }
  for (const float a : special_values()) {
    for (const float b : special_values()) expect_same(divide_exactly(a, b), a / b, a, b);
    expect_same(divide_exactly(0.0f, a), 0.0f / a, 0.0f, a);
  }
}

TEST(KernelScalar, TakesSquareRootsExactly) {
  std::mt19937 random(2);
  for (int i = 0; i < kCases; ++i) {
    const float a = finite(static_cast<uint32_t>(random()) & 0x7fffffffu);
    expect_same(sqrt_exactly(a), std::sqrt(a), a, 0);
  }
  for (const float a : special_values()) {
    if (a >= 0) expect_same(sqrt_exactly(a), std::sqrt(a), a, 0);
  }
  expect_same(sqrt_exactly(-0.0f), -0.0f, -0.0f, 0);
}

TEST(KernelScalar, ConvertsToFixedPointToNearestEven) {
  std::mt19937 random(3);
  for (int i = 0; i < kCases; ++i) {
    const int shift = static_cast<int>(random() % 53);
    const int exponent = -60 + static_cast<int>(random() % (62 - shift + 60));
    const float mantissa = 1.0f + static_cast<float>(random() % 8388608) / 8388608.0f;
    const float value = std::ldexp((i & 1) ? -mantissa : mantissa, exponent - 1);
    const auto expected = static_cast<int64_t>(std::nearbyint(std::ldexp(double{value}, shift)));
    ASSERT_EQ(float_to_fixed(value, shift), expected) << std::hexfloat << value << " " << shift;
  }
  EXPECT_EQ(float_to_fixed(0.5f, 0), 0);
  EXPECT_EQ(float_to_fixed(1.5f, 0), 2);
  EXPECT_EQ(float_to_fixed(-2.5f, 0), -2);
  EXPECT_EQ(float_to_fixed(float_from_bits(1), 52), 0);
}

TEST(KernelScalar, ConvertsFromFixedPointToNearestEven) {
  std::mt19937_64 random(4);
  for (int i = 0; i < kCases; ++i) {
    const auto value = static_cast<int64_t>(random()) >> (random() % 63);
    const int shift = static_cast<int>(random() % 53);
    const float expected = std::ldexp(static_cast<float>(value), -shift);
    ASSERT_EQ(float_bits(fixed_to_float(value, shift)), float_bits(expected)) << value;
  }
  EXPECT_EQ(fixed_to_float(16777217, 0), 16777216.0f);
  EXPECT_EQ(fixed_to_float(16777219, 0), 16777220.0f);
  EXPECT_EQ(fixed_to_float(INT64_MIN, 0), -9223372036854775808.0f);
}

}  // namespace
}  // namespace vqx::kernel
