// Order-free sums: signed integers in 128 bits, rounded to binary64 once at the end.
//
// A sum over samples must not depend on how the samples were spread over threads, tiles or
// machines, so its terms are integers (the law states their unit 2^-k).  A 4K picture of SSIM terms
// needs 75 bits; 128 bits leave room for 2^63 terms of any int64.
#pragma once

#include <bit>
#include <cstdint>

namespace vqx::exact {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

// The binary64 nearest to value * 2^-fraction_bits, ties to even; |fraction_bits| < 900.
inline double scaled_to_double(Int128 value, int fraction_bits) {
  const bool negative = value < 0;
  Uint128 size = negative ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
  const auto high = static_cast<std::uint64_t>(size >> 64);
  const int length =
      high ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(size));
  const int excess = length - 54;  // keep 54 bits: the last place and a half, which ...
  int exponent = -fraction_bits;
  if (excess > 0) {
    const bool sticky = (size & ((Uint128{1} << excess) - 1)) != 0;  // ... this may tip
    size = (size >> excess << 1) | (sticky ? 1 : 0);
    exponent += excess - 1;
  }
  // At most 55 bits, so this conversion rounds exactly where the true value would be rounded.
  const double rounded = static_cast<double>(static_cast<std::int64_t>(size)) *
                         std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  return negative ? -rounded : rounded;
}

class WideSum {
 public:
  constexpr WideSum() = default;
  constexpr explicit WideSum(Int128 value) : value_(value) {}

  // From the two words that a kernel adds up: the sum of the terms' low 32 bits (unsigned) and the
  // sum of the terms shifted right by 32.
  static constexpr WideSum from_halves(std::int64_t low_sum, std::int64_t high_sum) {
    return WideSum(static_cast<Int128>(high_sum) * (Int128{1} << 32) + low_sum);
  }
  // The inverse of low_word() and high_word().
  static constexpr WideSum from_words(std::uint64_t low, std::uint64_t high) {
    return WideSum(static_cast<Int128>((static_cast<Uint128>(high) << 64) | low));
  }

  constexpr void add(std::int64_t term) { value_ += term; }
  constexpr WideSum& operator+=(const WideSum& other) {
    value_ += other.value_;
    return *this;
  }

  constexpr Int128 value() const { return value_; }
  constexpr std::uint64_t low_word() const { return static_cast<std::uint64_t>(value_); }
  constexpr std::uint64_t high_word() const {
    return static_cast<std::uint64_t>(static_cast<Uint128>(value_) >> 64);
  }
  // Nearest binary64 to the sum in units of 2^-fraction_bits.
  double to_double(int fraction_bits) const { return scaled_to_double(value_, fraction_bits); }

  friend constexpr bool operator==(const WideSum&, const WideSum&) = default;

 private:
  Int128 value_ = 0;
};

}  // namespace vqx::exact
