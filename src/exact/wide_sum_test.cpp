#include "exact/wide_sum.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cstdint>
#include <limits>
#include <random>

namespace vqx::exact {
namespace {

// MPFR's rounding of the same 128-bit integer.
double oracle(const WideSum& sum, int fraction_bits) {
  mpfr_t value;
  mpfr_init2(value, 200);
  mpfr_set_sj(value, static_cast<std::int64_t>(sum.high_word()), MPFR_RNDN);
  mpfr_mul_2si(value, value, 64, MPFR_RNDN);
  mpfr_t low;
  mpfr_init2(low, 64);
  mpfr_set_uj(low, sum.low_word(), MPFR_RNDN);
  mpfr_add(value, value, low, MPFR_RNDN);
  mpfr_mul_2si(value, value, -fraction_bits, MPFR_RNDN);
  const double result = mpfr_get_d(value, MPFR_RNDN);
  mpfr_clear(value);
  mpfr_clear(low);
  return result;
}

TEST(ExactWideSum, RoundsToNearestEven) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    // Few significant bits at both ends make ties and near-ties frequent.
    const int shift = static_cast<int>(random() % 127);
    auto value = static_cast<Int128>((static_cast<Uint128>(random()) << 64) | random()) >> shift;
    if (i % 2) value &= ~((Int128{1} << (random() % 74)) - 1);
    if (i % 3 == 0) value += static_cast<int>(random() % 3) - 1;
    const WideSum sum(value);
    const int fraction_bits = static_cast<int>(random() % 200) - 50;
    ASSERT_EQ(sum.to_double(fraction_bits), oracle(sum, fraction_bits)) << i;
  }
  const std::int64_t one = std::int64_t{1} << 53;
  EXPECT_EQ(WideSum(one + 1).to_double(0), 0x1p53);
  EXPECT_EQ(WideSum(one + 3).to_double(0), 0x1p53 + 4);
  EXPECT_EQ(WideSum(-one - 3).to_double(52), -2 - 0x1p-50);
  EXPECT_EQ(WideSum().to_double(52), 0);
  EXPECT_EQ(WideSum(Int128{1} << 126).to_double(0), 0x1p126);
  const WideSum lowest = WideSum::from_words(0, std::uint64_t{1} << 63);
  EXPECT_EQ(lowest.to_double(0), -0x1p127);
}

TEST(ExactWideSum, OrderAndSplitDoNotShow) {
  std::mt19937_64 random(2);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  WideSum forward, backward, split_sum;
  std::int64_t low = 0, high = 0;
  std::vector<std::int64_t> terms(10'000);
  for (std::int64_t& term : terms)
    term = random() % 4 ? kLargest : static_cast<std::int64_t>(random());
  for (const std::int64_t term : terms) forward.add(term);
  for (auto it = terms.rbegin(); it != terms.rend(); ++it) backward.add(*it);
  for (std::size_t part = 0; part < 7; ++part) {
    WideSum partial;
    for (std::size_t i = part; i < terms.size(); i += 7) partial.add(terms[i]);
    split_sum += partial;
  }
  for (const std::int64_t term : terms) {
    low += term & 0xFFFFFFFF;
    high += term >> 32;
  }
  EXPECT_EQ(forward, backward);
  EXPECT_EQ(forward, split_sum);
  EXPECT_EQ(forward, WideSum::from_halves(low, high));
  EXPECT_EQ(forward, WideSum::from_words(forward.low_word(), forward.high_word()));
  EXPECT_GT(forward.high_word(), 0U);  // beyond 64 bits
}

}  // namespace
}  // namespace vqx::exact
