// Software binary64: IEEE 754 arithmetic on 64-bit integers, for devices without fp64 hardware.
//
// Round to nearest even, subnormals kept; results equal those of hardware bit for bit, except that
// every NaN is the one quiet NaN.  Header only, no library calls, no 128-bit type: a device
// compiler predefines VQX_EXACT_FN, e.g. as `__host__ __device__ inline`.
// SoftDouble has the operators that code templated on its real type needs.
#pragma once

#include <cstdint>

#ifndef VQX_EXACT_FN
#define VQX_EXACT_FN inline
#endif

namespace vqx::exact {

struct SoftDouble {
  std::uint64_t bits = 0;
};

namespace soft {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr uint64_t kInfinity = uint64_t{0x7FF} << 52;
constexpr uint64_t kNan = uint64_t{0x7FF8} << 48;
constexpr uint64_t kHiddenBit = uint64_t{1} << 52;

VQX_EXACT_FN bool is_nan(uint64_t a) {
  return (a & ~kSign) > kInfinity;
}

VQX_EXACT_FN int leading_zeros(uint64_t a) {  // 63 for 0
  int count = 0;
  for (int step = 32; step > 0; step >>= 1) {
    if (a >> (64 - step) == 0) {
      a <<= step;
      count += step;
    }
  }
  return count;
}

// a / 2^count; bits shifted out leave a trace in the last bit, enough to round correctly later.
VQX_EXACT_FN uint64_t shift_right_sticky(uint64_t a, int count) {
  if (count == 0) return a;
  if (count > 63) return a != 0 ? 1 : 0;
  return (a >> count) | ((a << (64 - count)) != 0 ? 1 : 0);
}

// The finite number mantissa * 2^(exponent - 1023 - 52), mantissa in [2^52, 2^53) unless zero.
struct Parts {
  uint64_t mantissa;
  int exponent;
};
VQX_EXACT_FN Parts unpack(uint64_t a) {
  const uint64_t fraction = a & (kHiddenBit - 1);
  const int exponent = static_cast<int>((a >> 52) & 0x7FF);
  if (exponent != 0) return {fraction | kHiddenBit, exponent};
  const int shift = leading_zeros(fraction) - 11;
  return {fraction << shift, 1 - shift};
}

// Rounds mantissa * 2^(exponent - 1023 - 62), mantissa in [2^62, 2^63) with a sticky last bit.
VQX_EXACT_FN uint64_t pack(uint64_t sign, int exponent, uint64_t mantissa) {
  if (exponent < 1) {
    mantissa = shift_right_sticky(mantissa, 1 - exponent);
    exponent = 1;
  }
  if (exponent > 0x7FE) return sign | kInfinity;
  const uint64_t rest = mantissa & 1023;
  mantissa >>= 10;
  if (rest > 512 || (rest == 512 && (mantissa & 1) != 0)) ++mantissa;
  // The hidden bit adds the missing one to the exponent; a carry runs on into it, up to infinity.
  return sign | ((static_cast<uint64_t>(exponent - 1) << 52) + mantissa);
}

VQX_EXACT_FN uint64_t add(uint64_t a, uint64_t b) {
  if (is_nan(a) || is_nan(b)) return kNan;
  if ((a & ~kSign) < (b & ~kSign)) {
    const uint64_t swapped = a;
    a = b;
    b = swapped;
  }
  const uint64_t sign = a & kSign;
  const bool opposite = ((a ^ b) & kSign) != 0;
  if ((a & ~kSign) == kInfinity) return opposite && (b & ~kSign) == kInfinity ? kNan : a;
  if ((b & ~kSign) == 0) return (a & ~kSign) == 0 && opposite ? 0 : a;
  const Parts x = unpack(a);
  const Parts y = unpack(b);
  const uint64_t larger = x.mantissa << 10;
  const uint64_t smaller = shift_right_sticky(y.mantissa << 10, x.exponent - y.exponent);
  if (!opposite) {
    const uint64_t sum = larger + smaller;
    if (sum >> 63 != 0) return pack(sign, x.exponent + 1, shift_right_sticky(sum, 1));
    return pack(sign, x.exponent, sum);
  }
  const uint64_t difference = larger - smaller;
  if (difference == 0) return 0;
  const int shift = leading_zeros(difference) - 1;
  return pack(sign, x.exponent - shift, difference << shift);
}

VQX_EXACT_FN uint64_t subtract(uint64_t a, uint64_t b) {
  return add(a, b ^ kSign);
}

VQX_EXACT_FN uint64_t multiply(uint64_t a, uint64_t b) {
  const uint64_t sign = (a ^ b) & kSign;
  a &= ~kSign;
  b &= ~kSign;
  if (a > kInfinity || b > kInfinity) return kNan;
  if (a == kInfinity || b == kInfinity) return a == 0 || b == 0 ? kNan : sign | kInfinity;
  if (a == 0 || b == 0) return sign;
  const Parts x = unpack(a);
  const Parts y = unpack(b);
  // The upper 64 bits of the 128-bit product, from 32-bit halves.
  const uint64_t p = x.mantissa << 11;
  const uint64_t q = y.mantissa << 11;
  const uint64_t p0 = p & 0xFFFFFFFF;
  const uint64_t p1 = p >> 32;
  const uint64_t q0 = q & 0xFFFFFFFF;
  const uint64_t q1 = q >> 32;
  const uint64_t low = p0 * q0;
  const uint64_t middle = p1 * q0 + (low >> 32);
  const uint64_t middle2 = p0 * q1 + (middle & 0xFFFFFFFF);
  const uint64_t high = p1 * q1 + (middle >> 32) + (middle2 >> 32);
  const bool sticky = ((middle2 << 32) | (low & 0xFFFFFFFF)) != 0;
  const uint64_t mantissa = high | (sticky ? 1 : 0);
  const int exponent = x.exponent + y.exponent - 1023;
  if (mantissa >> 63 != 0) return pack(sign, exponent + 1, shift_right_sticky(mantissa, 1));
  return pack(sign, exponent, mantissa);
}

VQX_EXACT_FN uint64_t divide(uint64_t a, uint64_t b) {
  const uint64_t sign = (a ^ b) & kSign;
  a &= ~kSign;
  b &= ~kSign;
  if (a > kInfinity || b > kInfinity) return kNan;
  if (a == kInfinity) return b == kInfinity ? kNan : sign | kInfinity;
  if (b == 0) return a == 0 ? kNan : sign | kInfinity;
  if (a == 0 || b == kInfinity) return sign;
  Parts x = unpack(a);
  const Parts y = unpack(b);
  if (x.mantissa < y.mantissa) {
    x.mantissa <<= 1;
    --x.exponent;
  }
  uint64_t quotient = 1;
  uint64_t remainder = x.mantissa - y.mantissa;
  for (int digit = 0; digit < 5; ++digit) {  // 11 bits at a time: remainder < 2^53
    remainder <<= 11;
    quotient = (quotient << 11) | (remainder / y.mantissa);
    remainder %= y.mantissa;
  }
  return pack(sign, x.exponent - y.exponent + 1023, (quotient << 7) | (remainder != 0 ? 1 : 0));
}

VQX_EXACT_FN bool equal(uint64_t a, uint64_t b) {
  return !is_nan(a) && !is_nan(b) && (a == b || ((a | b) & ~kSign) == 0);
}
VQX_EXACT_FN bool less(uint64_t a, uint64_t b) {
  if (is_nan(a) || is_nan(b) || ((a | b) & ~kSign) == 0) return false;
  if (((a ^ b) & kSign) != 0) return (a & kSign) != 0;
  return (a & kSign) != 0 ? a > b : a < b;
}

// Exact.  A binary32 is passed as its bits.
VQX_EXACT_FN uint64_t from_float_bits(uint32_t a) {
  const uint64_t sign = static_cast<uint64_t>(a >> 31) << 63;
  const uint64_t size = a & 0x7FFFFFFF;
  if (size > 0x7F800000) return kNan;
  if (size == 0x7F800000) return sign | kInfinity;
  if (size >= 0x00800000) return sign | ((size << 29) + (uint64_t{1023 - 127} << 52));
  if (size == 0) return sign;
  const int shift = leading_zeros(size) - 11;
  return sign | ((static_cast<uint64_t>(1023 - 127 + 1 + 29 - shift) << 52) +
                 ((size << shift) & (kHiddenBit - 1)));
}

// Nearest binary32, as bits.
VQX_EXACT_FN uint32_t to_float_bits(uint64_t a) {
  const auto sign = static_cast<uint32_t>(a >> 63) << 31;
  const uint64_t size = a & ~kSign;
  if (size > kInfinity) return 0x7FC00000;
  if (size == kInfinity) return sign | 0x7F800000;
  Parts x = unpack(size);
  int exponent = x.exponent - (1023 - 127);
  if (exponent < 1) {
    x.mantissa = shift_right_sticky(x.mantissa, 1 - exponent);
    exponent = 1;
  }
  if (exponent > 0xFE) return sign | 0x7F800000;
  const uint64_t half = uint64_t{1} << 28;
  const uint64_t rest = x.mantissa & (2 * half - 1);
  auto mantissa = static_cast<uint32_t>(x.mantissa >> 29);
  if (rest > half || (rest == half && (mantissa & 1) != 0)) ++mantissa;
  return sign | ((static_cast<uint32_t>(exponent - 1) << 23) + mantissa);
}

VQX_EXACT_FN uint64_t from_int64(int64_t a) {
  if (a == 0) return 0;
  const uint64_t sign = a < 0 ? kSign : 0;
  const uint64_t size = a < 0 ? -static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  const int shift = leading_zeros(size) - 1;
  if (shift < 0) return pack(sign, 1023 + 63, size >> 1);  // only -2^63
  return pack(sign, 1023 + 62 - shift, size << shift);
}

// The whole part of a, for |a| < 2^63.
VQX_EXACT_FN int64_t to_int64_truncated(uint64_t a) {
  const Parts x = unpack(a & ~kSign);
  const int shift = x.exponent - (1023 + 52);
  if (shift <= -53) return 0;
  const uint64_t size = shift >= 0 ? x.mantissa << shift : x.mantissa >> -shift;
  return (a & kSign) != 0 ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
}

// The nearest integer, ties to even, for |a| < 2^63.
VQX_EXACT_FN int64_t to_int64_nearest(uint64_t a) {
  const Parts x = unpack(a & ~kSign);
  const int shift = x.exponent - (1023 + 52);
  uint64_t size = 0;
  if (shift >= 0) {
    size = x.mantissa << shift;
  } else if (shift >= -54) {
    const uint64_t quarters = shift_right_sticky(x.mantissa << 2, -shift);
    size = quarters >> 2;
    const uint64_t rest = quarters & 3;
    if (rest > 2 || (rest == 2 && (size & 1) != 0)) ++size;
  }
  return (a & kSign) != 0 ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
}

}  // namespace soft

VQX_EXACT_FN SoftDouble operator+(SoftDouble a, SoftDouble b) {
  return {soft::add(a.bits, b.bits)};
}
VQX_EXACT_FN SoftDouble operator-(SoftDouble a, SoftDouble b) {
  return {soft::subtract(a.bits, b.bits)};
}
VQX_EXACT_FN SoftDouble operator-(SoftDouble a) {
  return {a.bits ^ soft::kSign};
}
VQX_EXACT_FN SoftDouble operator*(SoftDouble a, SoftDouble b) {
  return {soft::multiply(a.bits, b.bits)};
}
VQX_EXACT_FN SoftDouble operator/(SoftDouble a, SoftDouble b) {
  return {soft::divide(a.bits, b.bits)};
}
VQX_EXACT_FN bool operator==(SoftDouble a, SoftDouble b) {
  return soft::equal(a.bits, b.bits);
}
VQX_EXACT_FN bool operator<(SoftDouble a, SoftDouble b) {
  return soft::less(a.bits, b.bits);
}
VQX_EXACT_FN bool operator>(SoftDouble a, SoftDouble b) {
  return soft::less(b.bits, a.bits);
}
VQX_EXACT_FN bool operator<=(SoftDouble a, SoftDouble b) {
  return a < b || a == b;
}
VQX_EXACT_FN bool operator>=(SoftDouble a, SoftDouble b) {
  return b <= a;
}

}  // namespace vqx::exact
