// Per-sample arithmetic of motion: plain functions, the same on the host and on devices.
#pragma once

#include <cstdint>

#include "kernel/target.hpp"

namespace vqx::motion {

inline constexpr int kRadius = 2;
// Taps (3571, 16004, 26386, 16004, 3571), sum 65536; the even ones halved, see blur().
inline constexpr std::int32_t kOuterTap = 3571;
inline constexpr std::int32_t kHalfInnerTap = 8002;
inline constexpr std::int32_t kHalfCentreTap = 13193;

// (3571*outer + 16004*inner + 26386*centre + 2^(shift-1)) >> shift, with outer and inner the sums
// of the two samples that share a tap.  The full sum needs 33 bits for |samples| up to 65535; half
// of it does not, and two of the taps are even, so all of this is exact in int32.
VQX_FN std::int32_t blur(std::int32_t outer, std::int32_t inner, std::int32_t centre, int shift) {
  const std::int32_t half =
      ((kOuterTap * outer) >> 1) + kHalfInnerTap * inner + kHalfCentreTap * centre;
  return (half + (1 << (shift - 2))) >> (shift - 1);
}

// Index of a position up to two outside an axis of n >= 3 samples: the edge is not repeated.
VQX_FN int mirror(int i, int n) {
  const int folded = i < 0 ? -i : i;
  return folded < n ? folded : 2 * n - 2 - folded;
}

}  // namespace vqx::motion
