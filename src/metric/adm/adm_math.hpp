// Per-sample arithmetic of `adm`, straight from the law.  Small functions without state, so that
// they serve the reference, the rare slow path of the SIMD code, and device kernels.  Narrowing
// casts wrap (two's complement), as the law demands.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace vqx::adm {

// Daubechies-2.  Output j uses samples 2j-1 .. 2j+2 in this order.
inline constexpr int kLow[4] = {15826, 27411, 7345, -4240};
inline constexpr int kHigh[4] = {-4240, -7345, 27411, -15826};
inline constexpr int kLowSum = 46342;  // the high-pass taps sum to 0

constexpr int ceil_log2(std::uint64_t n) {
  int bits = 0;
  while ((std::uint64_t{1} << bits) < n) ++bits;
  return bits;
}
constexpr std::int64_t half_of(int shift) {
  return (std::int64_t{1} << shift) >> 1;
}
constexpr std::int64_t round_shift(std::int64_t x, int shift) {
  return (x + half_of(shift)) >> shift;
}

// Half-open range of positions.
struct Range {
  int begin = 0;
  int end = 0;
  constexpr int size() const { return end - begin; }
};

// The scored part of an axis of n coefficients: all but a tenth at either end.
constexpr Range scored_range(int n) {
  const int margin = (n > 5 ? n - 5 : 0) / 10;
  return {margin, n - margin};
}

// Index of a transform's input sample: mirrored without repeating the first sample, but repeating
// the last one.
constexpr int transform_index(int i, int n) {
  return i < 0 ? -i : i >= n ? 2 * n - 1 - i : i;
}
// Index of a neighbour in the masking window.
constexpr int window_index(int i, int n) {
  return i < 0 ? 1 : i >= n ? n - 1 : i;
}

// Rounding of the two passes of the transform to scale s; bit_depth matters at scale 0 only.
struct TransformShifts {
  int vertical;
  int horizontal;
};
constexpr TransformShifts transform_shifts(int scale, int bit_depth) {
  constexpr TransformShifts kShifts[] = {{0, 16}, {0, 15}, {16, 16}, {16, 15}};
  return scale == 0 ? TransformShifts{bit_depth, 16} : kShifts[scale];
}

// floor(2^30 / m), 1 <= m <= 32768.
constexpr std::int64_t reciprocal_q30(std::int64_t m) {
  return (std::int64_t{1} << 30) / m;
}

// t / o as Q15, clamped to [0, 1]; 1 where o is 0.
constexpr std::int32_t ratio_q15(std::int32_t o, std::int32_t t) {
  if (o == 0) return 32768;
  const std::int64_t magnitude = o < 0 ? -std::int64_t{o} : o;
  int excess = 0;  // bits beyond the 15 that the reciprocal takes
  while ((magnitude >> excess) > 32767) ++excess;
  const std::int64_t m = (magnitude + half_of(excess)) >> excess;
  const std::int64_t numerator = reciprocal_q30(m) * (o < 0 ? -std::int64_t{t} : t);
  const std::int64_t q = (numerator + (std::int64_t{1} << (14 + excess))) >> (15 + excess);
  return static_cast<std::int32_t>(q < 0 ? 0 : q > 32768 ? 32768 : q);
}

constexpr std::int32_t scale_q15(std::int32_t k, std::int32_t o) {
  return static_cast<std::int32_t>((std::int64_t{k} * o + 16384) >> 15);
}

inline constexpr float kCosSquared = 16772106.0f / 16777216.0f;  // of one degree, as a single

// Whether the vectors (oh, ov) and (th, tv) differ by less than one degree.
inline bool within_one_degree(std::int32_t oh, std::int32_t ov, std::int32_t th, std::int32_t tv) {
  const auto product = [](std::int32_t a, std::int32_t b) { return std::int64_t{a} * b; };
  const double dot = static_cast<float>(product(oh, th) + product(ov, tv));
  const double oo = static_cast<float>(product(oh, oh) + product(ov, ov));
  const double tt = static_cast<float>(product(th, th) + product(tv, tv));
  // Only the last product rounds; the law's division of each by 4096 is exact and cancels.
  return dot >= 0.0 && dot * dot >= (static_cast<double>(kCosSquared) * oo) * tt;
}

// Restored detail r raised towards t, at most by the gain limit.
constexpr std::int32_t enhance(std::int32_t r, std::int32_t o, std::int32_t t, double gain_limit) {
  const double boosted = static_cast<double>(r) * gain_limit;
  const double wanted = static_cast<double>(t);
  if (o > 0) return static_cast<std::int32_t>(boosted < wanted ? boosted : wanted);
  return static_cast<std::int32_t>(boosted > wanted ? boosted : wanted);
}

// Weighted coefficient at scale 0: full precision for the signal, 16 bits for the masker.
constexpr std::int32_t weigh_fine(std::int32_t x, std::uint32_t weight) {
  return static_cast<std::int32_t>(std::int64_t{x} * weight);
}
constexpr std::int32_t masker_fine(std::int32_t weighted, bool diagonal) {
  // 65535 is the law's, not a slip for 65536.
  return static_cast<std::int16_t>(diagonal ? (std::int64_t{weighted} + 65535) >> 17
                                            : (std::int64_t{weighted} + 16384) >> 15);
}
// At scales 1..3 one value serves both.
constexpr std::int32_t weigh_coarse(std::int32_t x, std::uint32_t weight) {
  return static_cast<std::int32_t>((std::int64_t{x} * weight + (1 << 27)) >> 28);
}

// Shares of a masker coefficient in the threshold of its neighbours (1/30) and its own (1/15).
struct MaskerTerms {
  std::int32_t neighbour;
  std::int32_t centre;
};
constexpr MaskerTerms masker_terms_fine(std::int32_t c) {
  const std::int32_t magnitude = c < 0 ? -c : c;
  return {static_cast<std::int16_t>((4369 * magnitude + 2048) >> 12),
          static_cast<std::int16_t>((8738 * magnitude + 2048) >> 12)};
}
constexpr MaskerTerms masker_terms_coarse(std::int32_t c) {
  const std::int64_t magnitude = c < 0 ? -std::int64_t{c} : c;
  // The law subtracts the rounding term.
  constexpr std::int64_t kRound = std::int64_t{1} << 31;
  return {static_cast<std::int32_t>((143165577 * magnitude - kRound) >> 32),
          static_cast<std::int32_t>((286331153 * magnitude - kRound) >> 32)};
}

// Shifts on the way from a signal above its threshold to its cube.
struct EnergyShifts {
  int threshold;  // left shift of the threshold to the signal's scale
  int square;
  int cube;
};
constexpr EnergyShifts energy_shifts(int scale, bool diagonal, int width) {
  const int bits = ceil_log2(static_cast<std::uint64_t>(width));
  if (scale > 0) return {0, 30, bits};
  const int cube = bits - (diagonal ? 3 : 4);
  return {diagonal ? 12 : 10, diagonal ? 30 : 29, cube > 0 ? cube : 0};
}
constexpr std::int32_t wrapped_difference(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}
constexpr std::int64_t masked_cube(std::int32_t weighted, std::int32_t threshold,
                                   const EnergyShifts& shifts) {
  const auto bits = static_cast<std::uint32_t>(weighted);
  const auto magnitude = static_cast<std::int32_t>(weighted < 0 ? 0 - bits : bits);
  const auto shifted =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(threshold) << shifts.threshold);
  const std::int64_t difference = wrapped_difference(magnitude, shifted);
  const std::int64_t excess = difference > 0 ? difference : 0;
  const auto square = static_cast<std::int32_t>(round_shift(excess * excess, shifts.square));
  return round_shift(square * excess, shifts.cube);
}

// Shifts of the reference's energy.  The term added before the square's shift is a whole unit.
struct ReferenceShifts {
  int square;
  int cube;
  int row;
};
constexpr ReferenceShifts reference_shifts(int scale, int scored_width, int scored_height) {
  const auto w = static_cast<std::uint64_t>(scored_width);
  const auto h = static_cast<std::uint64_t>(scored_height);
  if (scale > 0) return {scale == 2 ? 30 : 31, ceil_log2(w), ceil_log2(h)};
  const int row = ceil_log2(w * h) - 20;
  return {0, 0, row > 0 ? row : 0};
}
constexpr std::uint64_t reference_square_term(const ReferenceShifts& shifts) {
  return shifts.square > 0 ? std::uint64_t{1} << shifts.square : 0;
}
constexpr std::uint64_t reference_cube(std::int32_t o, const ReferenceShifts& shifts) {
  const std::uint64_t m = static_cast<std::uint64_t>(o < 0 ? -std::int64_t{o} : o);
  const std::uint64_t square = (m * m + reference_square_term(shifts)) >> shifts.square;
  return (square * m + static_cast<std::uint64_t>(half_of(shifts.cube))) >> shifts.cube;
}
constexpr std::uint64_t round_shift_unsigned(std::uint64_t x, int shift) {
  return (x + static_cast<std::uint64_t>(half_of(shift))) >> shift;
}

}  // namespace vqx::adm
