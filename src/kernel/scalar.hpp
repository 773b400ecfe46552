// Exact scalar operations: IEEE-754 binary32, round to nearest even, never contracted, subnormals
// kept, with the same bits on every target.
//
// Kernels call these by name wherever a product could meet a sum, or a division or square root is
// taken.  GPU compilers may otherwise fuse, or approximate (spec: kernels.md).  NVIDIA's intrinsics
// are immune to flags; elsewhere the flags of the build hold and the start-up self-test asserts it.
#pragma once

#include <cstdint>

#include "kernel/target.hpp"

namespace vqx::kernel {

VQX_FN uint32_t float_bits(float value) {
#if defined(VQX_NVIDIA_DEVICE)
  return __float_as_uint(value);
#else
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
#endif
}

VQX_FN float float_from_bits(uint32_t bits) {
#if defined(VQX_NVIDIA_DEVICE)
  return __uint_as_float(bits);
#else
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
#endif
}

VQX_FN float mul(float a, float b) {
#if defined(VQX_NVIDIA_DEVICE)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

VQX_FN float add(float a, float b) {
#if defined(VQX_NVIDIA_DEVICE)
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

VQX_FN float sub(float a, float b) {
  return add(a, -b);
}

// a * b + c, rounded once.  Only where a spec asks for it.
VQX_FN float fma(float a, float b, float c) {
#if defined(VQX_NVIDIA_DEVICE)
  return __fmaf_rn(a, b, c);
#elif defined(VQX_TARGET_SYCL)
  return sycl::fma(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

VQX_FN int count_leading_zeros(uint32_t value) {  // 32 for 0
#if defined(VQX_NVIDIA_DEVICE)
  return __clz(static_cast<int>(value));
#else
  return value ? __builtin_clz(value) : 32;
#endif
}

VQX_FN int count_leading_zeros(uint64_t value) {  // 64 for 0
  const auto high = static_cast<uint32_t>(value >> 32);
  return high ? count_leading_zeros(high) : 32 + count_leading_zeros(static_cast<uint32_t>(value));
}

// value >> shift, rounded to nearest even; 1 <= shift <= 63.
VQX_FN uint64_t shift_right_round(uint64_t value, int shift) {
  const uint64_t kept = value >> shift;
  const uint64_t rest = value & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  return kept + ((rest > half || (rest == half && (kept & 1))) ? 1 : 0);
}

// value * 2^shift as an integer, rounded to nearest even; the result must stay below 2^62.
VQX_FN int64_t float_to_fixed(float value, int shift) {
  const uint32_t bits = float_bits(value);
  const int biased = static_cast<int>((bits >> 23) & 255);
  const uint64_t mantissa = (bits & 0x7fffff) | (biased ? 0x800000u : 0u);
  const int left = (biased ? biased : 1) - 150 + shift;
  uint64_t magnitude = 0;
  if (left >= 0) {
    magnitude = mantissa << left;
  } else if (left >= -25) {
    magnitude = shift_right_round(mantissa, -left);
  }
  return (bits >> 31) ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

// value * 2^-shift, rounded once to nearest even; the result must be zero or a normal number.
VQX_FN float fixed_to_float(int64_t value, int shift) {
  if (value == 0) return 0.0f;
  const uint32_t sign = value < 0 ? 0x80000000u : 0u;
  const uint64_t magnitude =
      value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int zeros = count_leading_zeros(magnitude);
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the magnitude is not 0
  const uint64_t mantissa = shift_right_round(magnitude << zeros, 40);  // 24 bits, or 2^24
  // The mantissa's leading bit adds one to the exponent field, a carry out of it one more.
  const auto exponent = static_cast<uint32_t>(63 - zeros - shift + 126) << 23;
  return float_from_bits(sign | (exponent + static_cast<uint32_t>(mantissa)));
}

namespace detail {

// Mantissa in [1, 2) and unbiased exponent of a finite non-zero number.
struct Normalized {
  uint32_t fraction;
  int exponent;
};

VQX_FN Normalized normalize(uint32_t bits) {
  int exponent = static_cast<int>((bits >> 23) & 255);
  uint32_t fraction = bits & 0x7fffffu;
  if (exponent == 0) {
    const int shift = count_leading_zeros(fraction) - 8;
    fraction = (fraction << shift) & 0x7fffffu;
    exponent = 1 - shift;
  }
  return {fraction, exponent - 127};
}

VQX_FN float approximate_sqrt(float value) {
#if defined(VQX_NVIDIA_DEVICE)
  return __fsqrt_rn(value);
#elif defined(VQX_TARGET_SYCL)
  return sycl::sqrt(value);
#else
  return __builtin_sqrtf(value);
#endif
}

}  // namespace detail

// a / b for finite a and finite non-zero b, correctly rounded even where the compiler's own
// division is only an approximation (to 2^-18): Newton steps with fma, then one exact residual
// test.
VQX_FN float divide_exactly(float a, float b) {
  const uint32_t sign = (float_bits(a) ^ float_bits(b)) & 0x80000000u;
  if ((float_bits(a) & 0x7fffffffu) == 0) return float_from_bits(sign);
  const detail::Normalized na = detail::normalize(float_bits(a));
  const detail::Normalized nb = detail::normalize(float_bits(b));
  const float x = float_from_bits(0x3f800000u | na.fraction);
  const float y = float_from_bits(0x3f800000u | nb.fraction);
  float reciprocal = 1.0f / y;
  reciprocal = fma(reciprocal, fma(-y, reciprocal, 1.0f), reciprocal);
  reciprocal = fma(reciprocal, fma(-y, reciprocal, 1.0f), reciprocal);
  float quotient = mul(x, reciprocal);
  quotient = fma(fma(-y, quotient, x), reciprocal, quotient);  // within one unit in the last place
  float residual = fma(-y, quotient, x);                       // exact
  uint32_t bits = float_bits(quotient);
  const bool below = residual < 0.0f;
  const bool power_of_two = (bits & 0x7fffffu) == 0;
  const uint32_t half_exponent = (bits >> 23) - 24 - ((below && power_of_two) ? 1 : 0);
  const float half_step = mul(y, float_from_bits(half_exponent << 23));  // exact
  if ((below ? -residual : residual) > half_step) bits += below ? 0xffffffffu : 1u;

  const int exponent = static_cast<int>(bits >> 23) + na.exponent - nb.exponent;
  if (exponent >= 255) return float_from_bits(sign | 0x7f800000u);
  if (exponent > 0) {
    return float_from_bits(sign | (static_cast<uint32_t>(exponent) << 23) | (bits & 0x7fffffu));
  }
  // A subnormal result must be rounded once, from the quotient and its residual.
  residual = fma(-y, float_from_bits(bits), x);
  const uint64_t mantissa = (bits & 0x7fffffu) | 0x800000u;
  const int shift = 1 - exponent;
  if (shift > 25) return float_from_bits(sign);
  const uint64_t kept = mantissa >> shift;
  const uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const bool tie_up = residual > 0.0f || (residual == 0.0f && (kept & 1));
  const bool up = rest > half || (rest == half && tie_up);
  return float_from_bits(sign | static_cast<uint32_t>(kept + (up ? 1 : 0)));
}

// Square root of a finite non-negative number, correctly rounded whatever the compiler's own is.
VQX_FN float sqrt_exactly(float value) {
  const uint32_t bits = float_bits(value);
  if ((bits & 0x7fffffffu) == 0) return value;
  const detail::Normalized n = detail::normalize(bits);
  const int odd = n.exponent & 1;
  const int half_exponent = (n.exponent - odd) / 2;
  const float m = float_from_bits((static_cast<uint32_t>(127 + odd) << 23) | n.fraction);  // [1, 4)
  float root = detail::approximate_sqrt(m);
  const float half_inverse = 0.5f / root;
  root = fma(fma(-root, root, m), half_inverse, root);
  root = fma(fma(-root, root, m), half_inverse, root);    // within one unit in the last place
  const float residual = fma(-root, root, m);             // exact
  const float step = mul(root, 1.1920928955078125e-07f);  // exact: 2^-23 of the root
  uint32_t root_bits = float_bits(root);
  if (residual > step) {
    root_bits += 1;
  } else if (residual <= -step) {
    root_bits -= 1;
  }
  return float_from_bits(root_bits + static_cast<uint32_t>(half_exponent * (1 << 23)));
}

// Correctly rounded quotient; finite a, finite non-zero b.
VQX_FN float div(float a, float b) {
#if defined(VQX_NVIDIA_DEVICE)
  return __fdiv_rn(a, b);
#elif defined(VQX_SYCL_ON_NVIDIA)
  float quotient;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));
  return quotient;
#elif defined(VQX_TARGET_SYCL) || defined(VQX_TARGET_HIP)
  return divide_exactly(a, b);
#else
  return a / b;
#endif
}

// Correctly rounded square root of a finite non-negative number.
VQX_FN float sqrt(float value) {
#if defined(VQX_NVIDIA_DEVICE)
  return __fsqrt_rn(value);
#elif defined(VQX_SYCL_ON_NVIDIA)
  float root;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(root) : "f"(value));
  return root;
#elif defined(VQX_TARGET_SYCL) || defined(VQX_TARGET_HIP)
  return sqrt_exactly(value);
#else
  return __builtin_sqrtf(value);
#endif
}

}  // namespace vqx::kernel
