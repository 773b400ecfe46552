// The per-sample arithmetic of CAMBI, for every backend.
#pragma once

#include <cstdint>

#include "kernel/scalar.hpp"
#include "kernel/target.hpp"

namespace vqx::cambi {

// A sample as a 10-bit code.  More than 10 bits round without a clamp: 1024 occurs.
VQX_FN int ten_bit(int sample, int bit_depth) {
  if (bit_depth <= 10) return sample << (10 - bit_depth);
  const int shift = bit_depth - 10;
  return (sample + (1 << (shift - 1))) >> shift;
}

// Forward mean of 2 x 2.  With the missing neighbours of the last column and row replaced by the
// samples beside them it is also the mean of the pairs there, and keeps the corner.
VQX_FN int without_dither(int here, int right, int below, int below_right) {
  return (here + right + below + below_right) >> 2;
}

// The value that occurs at least twice, else the smallest.
VQX_FN int mode_of_three(int a, int b, int c) {
  if (a == b || a == c) return a;
  if (b == c) return b;
  const int least = a < b ? a : b;
  return least < c ? least : c;
}

// One step's contrast: `own` pixels of the pixel's level against `other` of the level across.
// own * other < 2^23 is exact in binary32, so the weighted product is rounded once.
VQX_FN float contrast(float weight, int own, int other, float reciprocal_of_sum) {
  const float product = kernel::mul(static_cast<float>(own), static_cast<float>(other));
  return kernel::mul(kernel::mul(weight, product), reciprocal_of_sum);
}

// c * 2^24 of a c-value given by its bits.
VQX_FN std::uint64_t units_of_bits(std::uint32_t bits) {
  if (bits == 0) return 0;
  const std::uint64_t mantissa = (bits & 0x7fffffu) | 0x800000u;
  return mantissa << (static_cast<int>(bits >> 23) - 126);  // c >= 0.5: the exponent is >= 126
}

}  // namespace vqx::cambi
