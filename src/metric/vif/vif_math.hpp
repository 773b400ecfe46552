// Arithmetic of vif: filter taps, the table logarithm, and what a sample adds to the sums.  Plain
// functions, the same on the host and on devices.
#pragma once

#include <cstdint>

#include "kernel/target.hpp"

namespace vqx::vif {

inline constexpr int kScales = 4;
// One symmetric kernel per scale; each sums to 65536.  Half of it, to the centre.
inline constexpr int kRadius[kScales] = {8, 4, 2, 1};
inline constexpr int kHalfTaps[kScales][9] = {
    {489, 935, 1640, 2640, 3896, 5274, 6547, 7455, 7784},
    {1244, 3663, 7925, 12590, 14692},
    {3571, 16004, 26386},
    {10904, 43728},
};

// Tap `i` of 0 .. 2*kRadius[scale].
constexpr int tap(int scale, int i) {
  const int radius = kRadius[scale];
  return kHalfTaps[scale][i <= radius ? i : 2 * radius - i];
}

inline constexpr std::int32_t kNoise = 131072;                 // noise variance 2, 16 fraction bits
inline constexpr double kGainEpsilon = 0x1.b7cdfd9d7bdbbp-18;  // 65536 * 1e-10

// Index of a position outside an axis of n >= 2 samples: mirrored about the edge samples without
// repeating them, as often as needed.
VQX_FN int mirror(int i, int n) {
  const int period = 2 * n - 2;
  const int p = (i < 0 ? -i : i) % period;
  return p < n ? p : period - p;
}

// Right shifts after the vertical filter, of means and of second moments.
constexpr int mean_shift(int scale, int bits) {
  return scale == 0 ? bits : 16;
}
constexpr int square_shift(int scale, int bits) {
  return scale == 0 ? 2 * (bits - 8) : 16;
}

VQX_FN std::int64_t round_shift(std::int64_t v, int shift) {
  return shift == 0 ? v : (v + (std::int64_t{1} << (shift - 1))) >> shift;
}

// floor(2048*log2(v/2^15) + ...), 11 fraction bits, of v >= 2^17.  The 16 leading bits count; as
// log2(1+m) exceeds m by less than 0.087, the table holds only that excess, in a byte per entry.
inline constexpr int kLogTableSize = 32768;
VQX_FN std::int64_t log2_q11(std::int64_t v, const std::uint8_t* excess) {
  int top = 17;
  while ((v >> (top + 1)) != 0) ++top;
  const auto mantissa = static_cast<std::int32_t>(v >> (top - 15)) - 32768;
  return std::int64_t{2048} * top + (mantissa >> 4) + excess[mantissa];
}

struct GainTerms {
  std::int64_t residual;   // variance that the gain does not explain
  std::int64_t explained;  // limited gain^2 * reference variance
};

// Of s11 >= kNoise, s12 > 0 and s22 > 0.  Each operation rounds on its own.
VQX_FN GainTerms gain_terms(std::int32_t s11, std::int32_t s12, std::int32_t s22, double limit) {
  const double gain = s12 / (s11 + kGainEpsilon);
  const double product = gain * s12;
  const double rest = s22 - product;
  const double limited = gain < limit ? gain : limit;
  const double square = limited * limited;
  return {rest > 0 ? static_cast<std::int64_t>(rest) : 0, static_cast<std::int64_t>(square * s11)};
}

}  // namespace vqx::vif
