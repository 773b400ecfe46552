// Elementary functions in double-double precision with proved error bounds: the fast path of
// functions.hpp, in a header of its own so that tests can measure the bounds.
//
// Method: table-driven argument reduction (Tang, "Table-driven implementation of the exponential
// function in IEEE floating-point arithmetic", 1989, and "... of the logarithm ...", 1990) down to
// an argument so small that only the first terms of the Taylor series need more than binary64.
// An error bound kSomethingError is relative to the result; each proof ends well below the bound.
// u = 2^-53 is the largest relative error of one operation.
#pragma once

#include <bit>
#include <cstdint>

#include "exact/double_double.hpp"

namespace vqx::exact::fast {

// Row i serves mantissas m in [1 + i/128, 1 + (i+1)/128).  With s = `upper`, c = factor * 2^(s-10)
// is near 2^s / m, and minus_log = -ln c, its hi a multiple of 2^-42.
struct LogCoarse {
  std::int64_t factor;
  int upper;
  double hi;
  double lo;
};

// Row j + 64 serves arguments near 1 + j/2^13: c = 1 + g/2^20 is near its reciprocal, hi + lo is
// -ln c with hi a multiple of 2^-42.
struct LogFine {
  std::int64_t g;
  double hi;
  double lo;
};

#include "exact/function_tables.inc"  // NOLINT(bugprone-suspicious-include)

inline constexpr double kExpError = 0x1p-72;
inline constexpr double kLogError = 0x1p-76;
inline constexpr double kSinError = 0x1p-69;
inline constexpr double kAtanError = 0x1p-68;
inline constexpr double kSinLimit = 64;  // sin and cos take |x| up to this

// Nearest integer, ties to even, for |x| < 2^51.
inline double round_to_integer(double x) {
  return (x + 0x1.8p52) - 0x1.8p52;
}

// mantissa * 2^exponent with mantissa in [1/2, 4].
struct Scaled {
  DoubleDouble mantissa;
  int exponent;
};

// e^(h + l), |h| <= 750, |l| <= 2^-42.  Error below kExpError (apart from that of h + l).
//
// h + l = k ln2/4096 + r with |r| < 2^-13.4.  The products of k (23 bits) with the first two parts
// (30 bits) are exact, and so is h - k*part1, a multiple of 2^-66 below 2^-13.4.
// e^r - 1 = r + q: q < 2^-27 is summed in binary64 with some 8 roundings, and the first term left
// out is r^6/720 < 2^-89: error below 2^-77.  Table heads have 26 bits, so that their product is
// exact; the rest t.lo < 2^-24 carries table and rounding errors below 2^-76.  Together < 2^-75.
inline Scaled exp(double h, double l) {
  const double k = round_to_integer(h * 0x1.71547652b82fep+12);
  const auto index = static_cast<std::int64_t>(k);
  const DoubleDouble r = two_sum(h - k * kLn2By4096Part1, -(k * kLn2By4096Part2));
  const double r_lo = r.lo - k * kLn2By4096Part3 + l;
  const double series = 0.5 + r.hi * (1.0 / 6 + r.hi * (1.0 / 24 + r.hi * (1.0 / 120)));
  const double q = r_lo + (r.hi * r.hi * series + r.hi * r_lo);

  const DoubleDouble& a = kExpCoarse[(index >> 6) & 63];
  const DoubleDouble& b = kExpFine[index & 63];
  const DoubleDouble t{a.hi * b.hi, a.hi * b.lo + (a.lo * b.hi + a.lo * b.lo)};
  const DoubleDouble product = two_product(t.hi, r.hi);
  const DoubleDouble sum = fast_two_sum(t.hi, product.hi);
  const double rest = sum.lo + (t.lo + (product.lo + (t.hi * q + t.lo * (r.hi + q))));
  return {fast_two_sum(sum.hi, rest), static_cast<int>(index >> 12)};
}

// ln x for a finite x > 0, error below kLogError.
//
// x = 2^e m, and z = m * c1 * c2 = 1 + r with |r| < 2^-13.9, r exact in a 128-bit integer; then
// ln x = e ln2 - ln c1 - ln c2 + ln(1 + r).  The high parts are multiples of 2^-42 below 2^10, so
// their sum is exact; the low parts are below 2^-42 and their sum has an error below 2^-93.
// ln(1 + r) = r - r^2/2 + cubic; r and r^2/2 are kept to about 2^-106, the cubic term (six
// roundings, first term left out r^7/7) has an error below 2^-79.9 relative to r.
// Near x = 1 both table values are 0 and r = x - 1: error < 2^-79.  If they are not both 0, then
// |ln x| > 2^-14.1 and 2^-93 is below 2^-78 of it; if e is not 0 either, |ln x| > 0.34.
inline DoubleDouble log(double x) {
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  int exponent = -1023;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent -= 54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52);
  const LogCoarse& coarse = kLogCoarse[(bits >> 45) & 127];
  exponent += coarse.upper;
  const auto m = static_cast<std::int64_t>((bits & kMantissa) | (kMantissa + 1));
  const std::int64_t z1 = m * coarse.factor;             // m * c1, in units of 2^-62
  const std::int64_t d1 = z1 - (std::int64_t{1} << 62);  // |d1| < 2^-7
  const std::int64_t j = (d1 + (std::int64_t{1} << 48)) >> 49;
  const LogFine& fine = kLogFine[j + 64];
  __extension__ using Int128 = __int128;
  const Int128 r_int = static_cast<Int128>(d1) * (1 << 20) + static_cast<Int128>(z1) * fine.g;
  const DoubleDouble r =
      fast_two_sum(static_cast<double>(static_cast<std::int64_t>(r_int >> 32)) * 0x1p-50,
                   static_cast<double>(static_cast<std::uint32_t>(r_int)) * 0x1p-82);

  const DoubleDouble square = two_product(r.hi, r.hi);
  const double series = 1.0 / 3 - r.hi * (0.25 - r.hi * (0.2 - r.hi * (1.0 / 6)));
  const double cubic = square.hi * r.hi * series;
  const double head = exponent * kLn2.hi + coarse.hi + fine.hi;
  const double tail = exponent * kLn2.lo + coarse.lo + fine.lo;
  const DoubleDouble sum1 = fast_two_sum(head, r.hi);
  const DoubleDouble sum2 = fast_two_sum(sum1.hi, -0.5 * square.hi);
  const double rest =
      (sum1.lo + sum2.lo) + tail + (cubic + (r.lo - (0.5 * square.lo + r.hi * r.lo)));
  return fast_two_sum(sum2.hi, rest);
}

// sin(x + quarter_turns * pi/2) for |x| <= kSinLimit, error below kSinError.
//
// x = k pi/1024 + r with |r| < 2^-9.3.  k has 15 bits and the first three parts of pi/1024 have at
// most 38, so their products are exact, as is x - k*part1; r is good to 2^-155 or so, while
// no binary64 up to 64 comes closer than 2^-60 to a multiple of pi/2 (other than 0).
// sin = S cos r + C sin r.  cos r - 1 < 2^-19.6 in binary64: error below 2^-71 of S.  sin r - r <
// 2^-30 in binary64: error below 2^-80, while a result with S != 0 exceeds 2^-9.4, and one with
// S = 0 is r itself (2^-21 * 4u relative).  Together < 2^-70.5.
inline DoubleDouble sin(double x, int quarter_turns) {
  const double k = round_to_integer(x * 0x1.45f306dc9c883p+8);
  const int index = static_cast<int>(k) + 512 * quarter_turns;
  const DoubleDouble r1 = two_sum(x - k * kPiBy1024Part1, -(k * kPiBy1024Part2));
  const DoubleDouble r2 = two_sum(r1.lo, -(k * kPiBy1024Part3));
  const DoubleDouble r3 = two_sum(r1.hi, r2.hi);
  const DoubleDouble r = fast_two_sum(r3.hi, r3.lo + (r2.lo - k * kPiBy1024Part4));

  const int slot = index & 511;
  DoubleDouble s = kSine[slot];
  DoubleDouble c = kSine[512 - slot];
  if (index & 512) {  // sin(a + pi/2) = cos a, cos(a + pi/2) = -sin a
    const DoubleDouble swapped = s;
    s = c;
    c = {-swapped.hi, -swapped.lo};
  }
  const double square = r.hi * r.hi;
  const double cos_rest =
      -0.5 * square + (square * square * (1.0 / 24 - square * (1.0 / 720)) - r.hi * r.lo);
  const double sin_rest =
      r.hi * square * (-1.0 / 6 + square * (1.0 / 120 - square * (1.0 / 5040))) +
      (r.lo - r.lo * (0.5 * square));
  const DoubleDouble product = two_product(c.hi, r.hi);
  const DoubleDouble sum = two_sum(s.hi, product.hi);
  const double rest =
      s.hi * cos_rest + (c.hi * sin_rest + (sum.lo + (product.lo + (s.lo + c.lo * r.hi))));
  const DoubleDouble result = fast_two_sum(sum.hi, rest);
  return index & 1024 ? DoubleDouble{-result.hi, -result.lo} : result;
}

// atan(numerator / denominator) for 0 < numerator <= denominator, denominator in [1, 2),
// numerator >= 2^-110; error below kAtanError.
//
// With c = i/256 near the quotient: atan(n/d) = atan c + atan((n - c d) / (d + c n)).  The new
// argument t is below 2^-8.9 and has an error near 2^-100.  atan t = t + rest: the rest, t^3/3 <
// 2^-28, in binary64 with 6 roundings, 2^-69.8 relative to t in the worst case (c = 0), else below
// 2^-78 absolute while atan c > 2^-8.1.
inline DoubleDouble atan(double numerator, double denominator) {
  const double i = round_to_integer(numerator / denominator * 256);
  const double c = i * 0x1p-8;
  const DoubleDouble cd = two_product(c, denominator);
  const DoubleDouble cn = two_product(c, numerator);
  const DoubleDouble n = two_sum(numerator, -cd.hi);
  const DoubleDouble d = fast_two_sum(denominator, cn.hi);
  const double n_lo = n.lo - cd.lo;
  const double d_lo = d.lo + cn.lo;
  const double t = n.hi / d.hi;
  const DoubleDouble td = two_product(t, d.hi);
  const double t_lo = (((n.hi - td.hi) - td.lo) + (n_lo - t * d_lo)) / d.hi;

  const double square = t * t;
  const double rest =
      t_lo + t * square * (-1.0 / 3 + square * (0.2 - square * (1.0 / 7 - square * (1.0 / 9))));
  const DoubleDouble& table = kArcTangent[static_cast<int>(i)];
  const DoubleDouble sum = two_sum(table.hi, t);
  return fast_two_sum(sum.hi, sum.lo + (table.lo + rest));
}

}  // namespace vqx::exact::fast
