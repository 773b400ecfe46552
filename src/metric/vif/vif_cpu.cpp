// vif with SIMD.  Each scale is cut into bands of rows, a band into tiles of columns that stay in
// a core's own cache.  A tile goes down two rows at a time:
//   stage:      two source rows become rows of 16-bit quantities (samples and, split into halves of
//               16 bits, their products), the two rows interleaved so that one instruction
//               multiplies both by their taps and adds;
//   vertical:   the sums for both rows, and for the row of the next scale, from the same loads;
//   horizontal: adjacent samples are such pairs already: even and odd positions use the same loads
//               with different taps;
//   score:      a few doubles per sample and the logarithm by polynomials.
//
// Unsigned 16-bit values v are kept as the signed v - 32768 ("flipped": the top bit inverted),
// which the multiplier takes; as taps sum to 65536 a filter sum is then lower by exactly 2^31, a
// constant that is added back with the rounding term.  All sums are exact modulo 2^32.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "metric/vif/vif.hpp"

#define HWY_WANT_AVX3_DL  // for its dot products
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/vif/vif_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/vif/vif_log-inl.hpp"

#ifndef VQX_VIF_CPU_ONCE
#define VQX_VIF_CPU_ONCE
namespace vqx::vif {

inline constexpr int kTileColumns = 384;               // scored columns of a tile, a multiple of 64
inline constexpr int kTileBuffer = kTileColumns + 32;  // with both margins, whole vectors
inline constexpr int kRowBuffer = kTileBuffer + 64;    // the last vectors may read beyond
inline constexpr int kBandRows = 64;
inline constexpr int kPrefetchRows = 4;
inline constexpr int kLimitsPerPass = 2;
inline constexpr int kRows = 8;  // vertically filtered quantities: two means, three moments halved

// The pictures of one scale, and where those of the next one go.
struct ScaleJob {
  int scale;
  int bits;  // of the source pictures; 8: bytes
  Plane reference;
  Plane distorted;
  bool score;
  std::span<const double> limits;  // one or two
  std::uint16_t* next_reference = nullptr;
  std::uint16_t* next_distorted = nullptr;
  std::ptrdiff_t next_stride = 0;  // samples
  int next_height = 0;
};

struct BandSums {
  std::int64_t den_log = 0;
  std::int64_t flat_energy = 0;
  std::int64_t flat_count = 0;
  std::int64_t num_log[kLimitsPerPass] = {};
};

// 16-bit words of a band's working memory: the ring of staged row pairs, then the filtered rows.
constexpr std::size_t kRingWords = std::size_t{9} * kRows * 2 * kTileBuffer;
constexpr std::size_t kBandWords = kRingWords + std::size_t{2 * kRows + 2} * kRowBuffer;

}  // namespace vqx::vif
#endif  // VQX_VIF_CPU_ONCE

HWY_BEFORE_NAMESPACE();
namespace vqx::vif::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // a machine without SIMD, or with less than SSE4

void Band(const ScaleJob&, int, int, std::int16_t*, BandSums*) {}
bool HasBands() {
  return false;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using DU16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using DU32 = hn::ScalableTag<std::uint32_t>;
using DU64 = hn::ScalableTag<std::uint64_t>;
using DF64 = hn::ScalableTag<double>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using VU32 = hn::Vec<DU32>;
using VU64 = hn::Vec<DU64>;
using VF64 = hn::Vec<DF64>;

HWY_INLINE int Lanes16() {
  return static_cast<int>(hn::Lanes(D16()));
}

// acc + a[2i]*b[2i] + a[2i+1]*b[2i+1] in 32-bit lane i, modulo 2^32.
HWY_INLINE V32 AddPairProducts(V32 acc, V16 a, V16 b) {
#if HWY_TARGET == HWY_AVX3_DL
  // An intrinsic would ask for a compiler target that Highway 1.0.3 misspells.
  asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(b.raw));
  return acc;
#else
  const D32 d;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  V32 unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, a, b, acc, unused);
#else
  const V32 a32 = hn::BitCast(d, a);
  const V32 b32 = hn::BitCast(d, b);
  const V32 low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a32)),
                          hn::ShiftRight<16>(hn::ShiftLeft<16>(b32)));
  const V32 high = hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32));
  return hn::Add(acc, hn::Add(low, high));
#endif
#endif
}

// The kernel of a scale laid over a window of pairs, `kOffset` elements after its start.
template <int kScale, int kOffset>
struct Taps {
  static constexpr int kLength = 2 * kRadius[kScale] + 1;
  static constexpr int kFirst = kOffset / 2;
  static constexpr int kLast = (kOffset + kLength - 1) / 2;
  static constexpr int kCentre = kOffset + kRadius[kScale];
  // 43728 of scale 3 exceeds int16: it is used as 43728 - 65536, and 65536 times the sample added.
  static constexpr bool kWraps = kScale == 3;

  static constexpr std::uint32_t element(int i) {
    return i < kOffset || i >= kOffset + kLength
               ? 0
               : static_cast<std::uint32_t>(tap(kScale, i - kOffset)) & 0xffffU;
  }
  template <int j>
  static HWY_INLINE V32 Accumulate(V32 acc, V16 pair) {
    if constexpr (j < kFirst || j > kLast) {
      return acc;
    } else {
      const D32 d;
      constexpr std::uint32_t both = element(2 * j) | element(2 * j + 1) << 16;
      acc = AddPairProducts(acc, pair,
                            hn::BitCast(D16(), hn::Set(d, static_cast<std::int32_t>(both))));
      if constexpr (kWraps && kCentre / 2 == j) {
        const V32 whole = hn::BitCast(d, pair);
        acc = hn::Add(acc, kCentre % 2 == 0
                               ? hn::ShiftLeft<16>(whole)
                               : hn::And(whole, hn::Set(d, static_cast<std::int32_t>(0xffff0000))));
      }
      return acc;
    }
  }
};

// Positions of a window, and the kernels that are laid over it: for the first and the second of two
// neighbouring samples, and that of the next scale for the first.
template <int kScale>
struct Window {
  static constexpr int kPairs = kRadius[kScale] + 1;
  static constexpr int kNextScale = kScale < 3 ? kScale + 1 : 3;
  using First = Taps<kScale, 0>;
  using Second = Taps<kScale, 1>;
  using Next = Taps<kNextScale, kRadius[kScale] - kRadius[kNextScale]>;
  using Indices = std::make_integer_sequence<int, kPairs>;
};

template <int kScale>
struct Tile {
  static constexpr int kQuantities(bool bytes) { return bytes ? 5 : kRows; }
  const ScaleJob& job;
  int x0;       // first scored column
  int columns;  // scored columns
  std::int16_t* ring;
  std::int16_t* rows[2];  // vertically filtered: kRows rows of kRowBuffer for each of two rows
  std::int16_t* next;     // 2 rows for the next scale

  int buffered() const {  // columns with both margins, in whole vectors
    const int all = columns + 2 * kRadius[kScale];
    return (all + Lanes16() - 1) / Lanes16() * Lanes16();
  }
  // Interleaved rows of quantity `q` of the `pair`-th pair of rows.
  std::int16_t* staged(int pair, int q) const {
    const int slot = pair % Window<kScale>::kPairs;
    return ring + (slot * kRows + q) * 2 * kTileBuffer;
  }
};

// ---------------------------------------------------------------------------------------- stage

// A piece of a row, mirrored at the picture's edges.
template <class Sample>
HWY_INLINE void CopySegment(const Sample* row, int width, int first, int count, Sample* out) {
  const int begin = std::min(count, std::max(0, -first));
  const int end = std::max(begin, std::min(count, width - first));
  for (int i = 0; i < begin; ++i) out[i] = row[mirror(first + i, width)];
  std::memcpy(out + begin, row + first + begin,
              static_cast<std::size_t>(end - begin) * sizeof(Sample));
  for (int i = end; i < count; ++i) out[i] = row[mirror(first + i, width)];
}

HWY_INLINE V16 LoadSamples(const std::uint8_t* p) {
  const D16 d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, D16>(), p));
}
HWY_INLINE V16 LoadSamples(const std::uint16_t* p) {
  return hn::BitCast(D16(), hn::LoadU(DU16(), p));
}

HWY_INLINE V16 Flip(V16 v) {
  const D16 d;
  return hn::Xor(v, hn::Set(d, static_cast<std::int16_t>(-32768)));
}

HWY_INLINE void StorePair(V16 upper_row, V16 lower_row, std::int16_t* out) {
  const D16 d;
  hn::StoreU(hn::InterleaveLower(d, upper_row, lower_row), d, out);
  hn::StoreU(hn::InterleaveUpper(d, upper_row, lower_row), d, out + Lanes16());
}

HWY_INLINE V16 LowProduct(V16 a, V16 b) {
  return Flip(hn::Mul(a, b));
}
HWY_INLINE V16 HighProduct(V16 a, V16 b) {
  const DU16 du;
  return Flip(hn::BitCast(D16(), hn::MulHigh(hn::BitCast(du, a), hn::BitCast(du, b))));
}

// Products of bytes fit one quantity; otherwise their high and low halves are two.
template <bool kBytes>
HWY_INLINE void StoreProducts(V16 a0, V16 b0, V16 a1, V16 b1, std::int16_t* first,
                              std::int16_t* second) {
  if constexpr (!kBytes) {
    StorePair(HighProduct(a0, b0), HighProduct(a1, b1), first);
    StorePair(LowProduct(a0, b0), LowProduct(a1, b1), second);
  } else {
    StorePair(LowProduct(a0, b0), LowProduct(a1, b1), first);
  }
}

// Rows y and y+1 of both pictures (mirrored) as the `pair`-th pair.
template <int kScale, class Sample>
HWY_INLINE void Stage(const Tile<kScale>& tile, int y, int pair) {
  constexpr bool kBytes = sizeof(Sample) == 1;
  constexpr int kStep = kBytes ? 1 : 2;
  HWY_ALIGN Sample segments[4][kRowBuffer];
  const ScaleJob& job = tile.job;
  const int count = tile.buffered();
  for (int i = 0; i < 4; ++i) {
    const Plane& plane = i < 2 ? job.reference : job.distorted;
    const int row = mirror(y + i % 2, plane.height);
    CopySegment(plane.row<Sample>(row), plane.width, tile.x0 - kRadius[kScale], count, segments[i]);
    // Short pieces of rows far apart: too little for the hardware to foresee.
    const auto* ahead = plane.row<Sample>(std::min(row + kPrefetchRows, plane.height - 1));
    for (int x = 0; x < tile.columns; x += 64 / static_cast<int>(sizeof(Sample)))
      hwy::Prefetch(ahead + tile.x0 + x);
  }
  std::int16_t* q[kRows];
  for (int i = 0; i < kRows; ++i) q[i] = tile.staged(pair, i);
  for (int x = 0; x < count; x += Lanes16()) {
    const V16 x0 = LoadSamples(segments[0] + x);
    const V16 x1 = LoadSamples(segments[1] + x);
    const V16 y0 = LoadSamples(segments[2] + x);
    const V16 y1 = LoadSamples(segments[3] + x);
    StorePair(Flip(x0), Flip(x1), q[0] + 2 * x);
    StorePair(Flip(y0), Flip(y1), q[1] + 2 * x);
    StoreProducts<kBytes>(x0, x0, x1, x1, q[2] + 2 * x, q[3] + 2 * x);
    StoreProducts<kBytes>(y0, y0, y1, y1, q[2 + kStep] + 2 * x, q[3 + kStep] + 2 * x);
    StoreProducts<kBytes>(x0, y0, x1, y1, q[2 + 2 * kStep] + 2 * x,
                          q[std::min(7, 3 + 2 * kStep)] + 2 * x);
  }
}

// ------------------------------------------------------------------------------------- vertical

struct LowHigh {  // 32-bit sums of one vector of columns
  V32 low, high;
};

// Sums of one quantity at column x, for both rows.
template <int kScale, int... j>
HWY_INLINE void SumColumns(const std::int16_t* const* pairs, int x, LowHigh& first, LowHigh& second,
                           std::integer_sequence<int, j...>) {
  using W = Window<kScale>;
  const D16 d;
  const auto add = [&]<int n>(std::integral_constant<int, n>) {
    const V16 low = hn::LoadU(d, pairs[n] + 2 * x);
    const V16 high = hn::LoadU(d, pairs[n] + 2 * x + Lanes16());
    first.low = W::First::template Accumulate<n>(first.low, low);
    first.high = W::First::template Accumulate<n>(first.high, high);
    second.low = W::Second::template Accumulate<n>(second.low, low);
    second.high = W::Second::template Accumulate<n>(second.high, high);
  };
  (add(std::integral_constant<int, j>()), ...);
}

template <int kScale, int... j>
HWY_INLINE LowHigh SumNextColumns(const std::int16_t* const* pairs, int x,
                                  std::integer_sequence<int, j...>) {
  using W = Window<kScale>;
  const D16 d;
  LowHigh sum{hn::Zero(D32()), hn::Zero(D32())};
  const auto add = [&]<int n>(std::integral_constant<int, n>) {
    if constexpr (n >= W::Next::kFirst && n <= W::Next::kLast) {
      sum.low = W::Next::template Accumulate<n>(sum.low, hn::LoadU(d, pairs[n] + 2 * x));
      sum.high =
          W::Next::template Accumulate<n>(sum.high, hn::LoadU(d, pairs[n] + 2 * x + Lanes16()));
    }
  };
  (add(std::integral_constant<int, j>()), ...);
  return sum;
}

// Sums of means, rounded and flipped, in the order of the columns.
struct MeanRounding {
  explicit MeanRounding(int shift_by) : shift(shift_by) {}
  HWY_INLINE V32 operator()(V32 sum) const {
    const D32 d;
    const V32 rounded = hn::ShiftRightSame(hn::Add(sum, hn::Set(d, 1 << (shift - 1))), shift);
    return hn::Add(rounded, hn::Set(d, static_cast<std::int32_t>((1U << (31 - shift)) - 32768U)));
  }
  HWY_INLINE V16 operator()(LowHigh sum) const {
    return hn::ReorderDemote2To(D16(), (*this)(sum.low), (*this)(sum.high));
  }
  int shift;
};

// A flipped 32-bit moment from the sums of its high and low halves, after the rounding shift.
struct MomentRounding {
  explicit MomentRounding(int shift_by) : shift(shift_by) {
    const std::uint32_t lost = (shift == 16 ? 1U << 31 : 0U) + (1U << (31 - shift));
    constant = static_cast<std::int32_t>(lost - (1U << 31));
  }
  HWY_INLINE V32 operator()(V32 high, V32 low) const {
    const D32 d;
    const V32 rounded = hn::ShiftRightSame(hn::Add(low, hn::Set(d, 1 << (shift - 1))), shift);
    return hn::Add(hn::Add(hn::ShiftLeftSame(high, 16 - shift), rounded), hn::Set(d, constant));
  }
  int shift;
  std::int32_t constant = 0;
};

// The halves of flipped 32-bit values, each flipped, as two rows.
HWY_INLINE void StoreHalves(LowHigh v, std::int16_t* high, std::int16_t* low) {
  const D16 d;
  hn::StoreU(hn::ReorderDemote2To(d, hn::ShiftRight<16>(v.low), hn::ShiftRight<16>(v.high)), d,
             high);
  const V16 bottom = hn::ReorderDemote2To(d, hn::ShiftRight<16>(hn::ShiftLeft<16>(v.low)),
                                          hn::ShiftRight<16>(hn::ShiftLeft<16>(v.high)));
  hn::StoreU(Flip(bottom), d, low);
}

template <int kScale, bool kBytes>
HWY_INLINE void Vertical(const Tile<kScale>& tile, int first_pair) {
  using W = Window<kScale>;
  const typename W::Indices indices;
  const D16 d;
  const D32 d32;
  const int count = tile.buffered();
  const MeanRounding mean(mean_shift(kScale, tile.job.bits));
  const int shift = square_shift(kScale, tile.job.bits);
  const MomentRounding moment(kBytes ? 16 : shift);
  const auto zero = [&] { return LowHigh{hn::Zero(d32), hn::Zero(d32)}; };
  const std::int16_t* pairs[kRows][W::kPairs];
  for (int q = 0; q < Tile<kScale>::kQuantities(kBytes); ++q)
    for (int j = 0; j < W::kPairs; ++j) pairs[q][j] = tile.staged(first_pair + j, q);

  for (int q = 0; q < 2; ++q)
    for (int x = 0; x < count; x += Lanes16()) {
      if (kScale < 3)
        hn::StoreU(mean(SumNextColumns<kScale>(pairs[q], x, indices)), d,
                   tile.next + q * kRowBuffer + x);
      if (!tile.job.score) continue;
      LowHigh first = zero();
      LowHigh second = zero();
      SumColumns<kScale>(pairs[q], x, first, second, indices);
      hn::StoreU(mean(first), d, tile.rows[0] + q * kRowBuffer + x);
      hn::StoreU(mean(second), d, tile.rows[1] + q * kRowBuffer + x);
    }
  if (!tile.job.score) return;

  for (int m = 0; m < 3; ++m)
    for (int x = 0; x < count; x += Lanes16()) {
      LowHigh first = zero();
      LowHigh second = zero();
      SumColumns<kScale>(pairs[kBytes ? 2 + m : 2 + 2 * m], x, first, second, indices);
      if constexpr (!kBytes) {
        LowHigh first_low = zero();
        LowHigh second_low = zero();
        SumColumns<kScale>(pairs[3 + 2 * m], x, first_low, second_low, indices);
        first = {moment(first.low, first_low.low), moment(first.high, first_low.high)};
        second = {moment(second.low, second_low.low), moment(second.high, second_low.high)};
      }
      const int high = (2 + 2 * m) * kRowBuffer + x;
      StoreHalves(first, tile.rows[0] + high, tile.rows[0] + high + kRowBuffer);
      StoreHalves(second, tile.rows[1] + high, tile.rows[1] + high + kRowBuffer);
    }
}

// ---------------------------------------------------------------------------- horizontal, score

// Sums over a tile, whose lanes cannot overflow; of logarithms with their offsets, modulo 2^32.
template <int kLimits>
struct Totals {
  VU64 energy;
  VU32 den_exponent, den_steps;
  VU32 num_exponent[kLimits], num_steps[kLimits];  // offsets cancel
  std::int64_t flat_count = 0;
  std::uint32_t vectors = 0;  // that contributed to the logarithms

  // Spelled out: an implicit one is not compiled for the target of this namespace.
  HWY_INLINE Totals() {
    energy = hn::Zero(DU64());
    den_exponent = den_steps = hn::Zero(DU32());
    for (int i = 0; i < kLimits; ++i) num_exponent[i] = num_steps[i] = hn::Zero(DU32());
  }
};
static_assert(kTileColumns * kBandRows / 4 < (1 << 16),
              "a logarithm has 16 bits, a vector 4 lanes");

// What the logarithms of a vector of doubles are taken of.
template <int kLimits>
struct Arguments {
  VF64 den;
  VF64 base;
  VF64 total[kLimits];

  HWY_INLINE Arguments() {}  // spelled out, as above
};

// Samples that do not count have s11 = s12 = 0 and then add nothing.
template <int kLimits>
HWY_INLINE Arguments<kLimits> ScoreDoubles(VF64 s11, VF64 s22, VF64 s12, const double* limits) {
  const DF64 d;
  const VF64 noise = hn::Set(d, static_cast<double>(kNoise));
  Arguments<kLimits> out;
  out.den = hn::Add(s11, noise);
  const VF64 gain = hn::Div(s12, hn::Add(s11, hn::Set(d, kGainEpsilon)));
  const VF64 product = hn::Mul(gain, s12);
  const VF64 residual = hn::Trunc(hn::Max(hn::Sub(s22, product), hn::Zero(d)));
  out.base = hn::Add(residual, noise);
  for (int i = 0; i < kLimits; ++i) {
    const VF64 limited = hn::Min(gain, hn::Set(d, limits[i]));
    const VF64 square = hn::Mul(limited, limited);
    out.total[i] = hn::Add(out.base, hn::Trunc(hn::Mul(square, s11)));
  }
  return out;
}

// (a*b + 2^31) >> 32
HWY_INLINE VU32 MulHighRound(VU32 a, VU32 b) {
  const DU32 d;
  const DU64 d64;
  const VU64 half = hn::Set(d64, std::uint64_t{1} << 31);
  const VU32 a_odd = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, a)));
  const VU32 b_odd = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, b)));
  const VU64 even = hn::ShiftRight<32>(hn::Add(hn::MulEven(a, b), half));
  const VU64 odd = hn::Add(hn::MulEven(a_odd, b_odd), half);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even));
}

struct Moments {
  V32 mean1, mean2;             // 16.16, as uint32
  V32 square1, square2, cross;  // as uint32
};

template <int kLimits>
HWY_INLINE void Score(const Moments& m, int valid, const double* limits, const LogUnit& log,
                      Totals<kLimits>& totals) {
  const D32 d;
  const DU32 du;
  const DU64 d64;
  const DF64 df;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const VU32 mean1 = hn::BitCast(du, m.mean1);
  const VU32 mean2 = hn::BitCast(du, m.mean2);
  const auto centred = [&](V32 moment, VU32 a, VU32 b) {
    return hn::Sub(moment, hn::BitCast(d, MulHighRound(a, b)));
  };
  const V32 zero = hn::Zero(d);
  const V32 s11 = centred(m.square1, mean1, mean1);
  const V32 s22 = hn::Max(centred(m.square2, mean2, mean2), zero);
  const auto counts = hn::FirstN(d, static_cast<std::size_t>(std::min(valid, lanes)));
  const auto busy = hn::And(counts, hn::Gt(s11, hn::Set(d, kNoise - 1)));
  const std::size_t busy_count = hn::CountTrue(d, busy);
  totals.flat_count += std::min(valid, lanes) - static_cast<std::int64_t>(busy_count);
  const VU64 energy = hn::BitCast(d64, hn::IfThenElseZero(hn::AndNot(busy, counts), s22));
  totals.energy = hn::Add(totals.energy, hn::Add(hn::And(energy, hn::Set(d64, 0xffffffffU)),
                                                 hn::ShiftRight<32>(energy)));
  if (busy_count == 0) return;

  const V32 s12 = centred(m.cross, mean1, mean2);
  const auto gains = hn::And(busy, hn::And(hn::Gt(s12, zero), hn::Gt(s22, zero)));
  const V32 a = hn::IfThenElseZero(busy, s11);
  const V32 c = hn::IfThenElseZero(gains, s12);
  const hn::Rebind<std::int32_t, DF64> half;
  const auto low = [&](V32 v) { return hn::PromoteTo(df, hn::LowerHalf(half, v)); };
  const auto high = [&](V32 v) { return hn::PromoteTo(df, hn::UpperHalf(half, v)); };
  const auto first = ScoreDoubles<kLimits>(low(a), low(s22), low(c), limits);
  const auto second = ScoreDoubles<kLimits>(high(a), high(s22), high(c), limits);
  const auto den = log(first.den, second.den);
  totals.den_exponent = hn::Add(totals.den_exponent, den.exponent);
  totals.den_steps = hn::Add(totals.den_steps, den.steps);
  const auto base = log(first.base, second.base);
  for (int i = 0; i < kLimits; ++i) {
    const auto total = log(first.total[i], second.total[i]);
    totals.num_exponent[i] =
        hn::Add(totals.num_exponent[i], hn::Sub(total.exponent, base.exponent));
    totals.num_steps[i] = hn::Add(totals.num_steps[i], hn::Sub(total.steps, base.steps));
  }
  ++totals.vectors;
}

struct EvenOdd {  // sums at even and at odd columns
  V32 even, odd;
};

template <int kScale, int... j>
HWY_INLINE EvenOdd SumRow(const std::int16_t* row, std::uint32_t start,
                          std::integer_sequence<int, j...>) {
  using W = Window<kScale>;
  const D16 d;
  const D32 d32;
  EvenOdd sum{hn::Set(d32, static_cast<std::int32_t>(start)),
              hn::Set(d32, static_cast<std::int32_t>(start))};
  const auto add = [&]<int n>(std::integral_constant<int, n>) {
    const V16 pair = hn::LoadU(d, row + 2 * n);
    sum.even = W::First::template Accumulate<n>(sum.even, pair);
    sum.odd = W::Second::template Accumulate<n>(sum.odd, pair);
  };
  (add(std::integral_constant<int, j>()), ...);
  return sum;
}

// A second moment from the rows of its halves, rounded.
template <int kScale>
HWY_INLINE EvenOdd SumMoment(const std::int16_t* high_row) {
  const typename Window<kScale>::Indices indices;
  const EvenOdd low = SumRow<kScale>(high_row + kRowBuffer, 1U << 15, indices);
  const EvenOdd high = SumRow<kScale>(high_row, (1U << 31) + (1U << 15), indices);
  return {hn::Add(high.even, hn::ShiftRight<16>(low.even)),
          hn::Add(high.odd, hn::ShiftRight<16>(low.odd))};
}

template <int kScale, int kLimits>
HWY_INLINE void HorizontalScore(const Tile<kScale>& tile, const std::int16_t* rows,
                                const LogUnit& log, Totals<kLimits>& totals) {
  const typename Window<kScale>::Indices indices;
  const double* limits = tile.job.limits.data();
  for (int x = 0; x < tile.columns; x += Lanes16()) {
    const std::int16_t* at = rows + x;
    const EvenOdd mean1 = SumRow<kScale>(at, 1U << 31, indices);
    const EvenOdd mean2 = SumRow<kScale>(at + kRowBuffer, 1U << 31, indices);
    const EvenOdd square1 = SumMoment<kScale>(at + 2 * kRowBuffer);
    const EvenOdd square2 = SumMoment<kScale>(at + 4 * kRowBuffer);
    const EvenOdd cross = SumMoment<kScale>(at + 6 * kRowBuffer);
    const int left = tile.columns - x;
    Score<kLimits>({mean1.even, mean2.even, square1.even, square2.even, cross.even}, (left + 1) / 2,
                   limits, log, totals);
    Score<kLimits>({mean1.odd, mean2.odd, square1.odd, square2.odd, cross.odd}, left / 2, limits,
                   log, totals);
  }
}

template <int kScale, int... j>
HWY_INLINE void HorizontalNext(const Tile<kScale>& tile, int y, std::integer_sequence<int, j...>) {
  using W = Window<kScale>;
  const D16 d;
  const D32 d32;
  const hn::Rebind<std::uint16_t, D32> narrow;
  for (int p = 0; p < 2; ++p) {
    const std::int16_t* row = tile.next + p * kRowBuffer;
    std::uint16_t* out = (p == 0 ? tile.job.next_reference : tile.job.next_distorted) +
                         y / 2 * tile.job.next_stride + tile.x0 / 2;
    for (int x = 0; x < tile.columns; x += Lanes16()) {
      V32 sum = hn::Set(d32, 1 << 15);
      const auto add = [&]<int n>(std::integral_constant<int, n>) {
        sum = W::Next::template Accumulate<n>(sum, hn::LoadU(d, row + x + 2 * n));
      };
      (add(std::integral_constant<int, j>()), ...);
      const V32 value = hn::Add(hn::ShiftRight<16>(sum), hn::Set(d32, 32768));
      hn::StoreU(hn::DemoteTo(narrow, value), narrow, out + x / 2);
    }
  }
}

template <int kLimits>
HWY_INLINE void AddTotals(const Totals<kLimits>& totals, BandSums* sums) {
  const DU32 d;
  const DU64 d64;
  using Offsets = Log<VU32>;
  const std::uint32_t den_offset =
      totals.vectors * (2048 * (Offsets::kExponentOffset + 17) + Offsets::kStepsOffset);
  const auto sum = [&](VU32 exponent, VU32 steps, std::uint32_t offset) {
    const VU32 v = hn::Sub(hn::Add(hn::ShiftLeft<11>(exponent), steps), hn::Set(d, offset));
    const VU64 pairs = hn::BitCast(d64, v);
    const VU64 wide = hn::Add(hn::And(pairs, hn::Set(d64, 0xffffffffU)), hn::ShiftRight<32>(pairs));
    return static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(d64, wide)));
  };
  sums->flat_count += totals.flat_count;
  sums->flat_energy += static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(d64, totals.energy)));
  sums->den_log += sum(totals.den_exponent, totals.den_steps, den_offset);
  for (int i = 0; i < kLimits; ++i)
    sums->num_log[i] += sum(totals.num_exponent[i], totals.num_steps[i], 0);
}

template <int kScale, class Sample, int kLimits>
void TileOf(const Tile<kScale>& tile, int first, int last, BandSums* sums) {
  constexpr int kMargin = kRadius[kScale];
  constexpr int kPairs = Window<kScale>::kPairs;
  const ScaleJob& job = tile.job;
  const LogUnit log;
  Totals<kLimits> totals;
  for (int pair = 0; pair < kPairs - 1; ++pair)
    Stage<kScale, Sample>(tile, first - kMargin + 2 * pair, pair);
  for (int y = first; y < last; y += 2) {
    const int first_pair = (y - first) / 2;
    const int newest = first_pair + kPairs - 1;
    Stage<kScale, Sample>(tile, first - kMargin + 2 * newest, newest);
    Vertical<kScale, sizeof(Sample) == 1>(tile, first_pair);
    if (kScale < 3 && y / 2 < job.next_height)
      HorizontalNext<kScale>(tile, y, typename Window<kScale>::Indices());
    if (!job.score) continue;
    HorizontalScore<kScale, kLimits>(tile, tile.rows[0], log, totals);
    if (y + 1 < last) HorizontalScore<kScale, kLimits>(tile, tile.rows[1], log, totals);
  }
  AddTotals(totals, sums);
}

template <int kScale, class Sample>
void BandOf(const ScaleJob& job, int first, int last, std::int16_t* memory, BandSums* sums) {
  std::int16_t* rows = memory + kRingWords;
  for (int x0 = 0; x0 < job.reference.width; x0 += kTileColumns) {
    const Tile<kScale> tile{job,
                            x0,
                            std::min(kTileColumns, job.reference.width - x0),
                            memory,
                            {rows, rows + kRows * kRowBuffer},
                            rows + 2 * kRows * kRowBuffer};
    if (job.limits.size() == 1)
      TileOf<kScale, Sample, 1>(tile, first, last, sums);
    else
      TileOf<kScale, Sample, 2>(tile, first, last, sums);
  }
}

// Rows [first, last) of a scale; `first` is even.
void Band(const ScaleJob& job, int first, int last, std::int16_t* memory, BandSums* sums) {
  switch (job.scale) {
    case 0:
      if (job.bits == 8)
        BandOf<0, std::uint8_t>(job, first, last, memory, sums);
      else
        BandOf<0, std::uint16_t>(job, first, last, memory, sums);
      return;
    case 1:
      BandOf<1, std::uint16_t>(job, first, last, memory, sums);
      return;
    case 2:
      BandOf<2, std::uint16_t>(job, first, last, memory, sums);
      return;
    default:
      BandOf<3, std::uint16_t>(job, first, last, memory, sums);
      return;
  }
}
bool HasBands() {
  return true;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace vqx::vif::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::vif {
HWY_EXPORT(Band);
HWY_EXPORT(HasBands);

namespace {

// Both planes of a scale above the finest.
struct Level {
  Level(ScratchPool& pool, int w, int h)
      : width(w),
        height(h),
        stride((w + 127) / 64 * 64),  // the last vector of a row is stored whole
        samples(pool, 2 * static_cast<std::size_t>(stride) * static_cast<std::size_t>(h)) {}

  std::uint16_t* data(int picture) { return samples.data() + picture * stride * height; }
  Plane plane(int picture) { return {data(picture), stride * 2, width, height}; }

  int width;
  int height;
  std::ptrdiff_t stride;  // samples
  ScratchArray<std::uint16_t> samples;
};

void run_scale(const ScaleJob& job, const MeasureContext& context, std::span<Words> out) {
  const int height = job.reference.height;
  const int count = (height + kBandRows - 1) / kBandRows;
  std::vector<BandSums> bands(static_cast<std::size_t>(count));
  context.parallel(count, [&](int band) {
    ScratchArray<std::int16_t> memory(context.scratch(), kBandWords);
    const int first = band * kBandRows;
    HWY_DYNAMIC_DISPATCH(Band)
    (job, first, std::min(height, first + kBandRows), memory.data(),
     &bands[static_cast<std::size_t>(band)]);
  });
  if (!job.score) return;
  for (const BandSums& band : bands)
    for (std::size_t i = 0; i < out.size(); ++i) {
      ScaleWords& words = out[i].scale[job.scale];
      words.num_log += band.num_log[i];
      words.den_log += band.den_log;
      words.flat_energy += band.flat_energy;
      words.flat_count += band.flat_count;
    }
}

// All scales for one or two gain limits.
void measure_pass(const Request& request, const MeasureContext& context, std::span<Words> out) {
  std::vector<Level> levels;
  levels.reserve(kScales - 1);
  for (int scale = 0; scale < kScales; ++scale) {
    ScaleJob job{.scale = scale,
                 .bits = request.bits,
                 .reference = request.reference,
                 .distorted = request.distorted,
                 .score = scale > 0 || request.score_scale0,
                 .limits = request.limits};
    if (scale > 0) {
      job.reference = levels.back().plane(0);
      job.distorted = levels.back().plane(1);
    }
    if (scale + 1 < kScales) {
      Level& next =
          levels.emplace_back(context.scratch(), job.reference.width / 2, job.reference.height / 2);
      job.next_reference = next.data(0);
      job.next_distorted = next.data(1);
      job.next_stride = next.stride;
      job.next_height = next.height;
    }
    run_scale(job, context, out);
  }
}

}  // namespace

void measure_simd(const Request& request, const MeasureContext& context, std::span<Words> out) {
  if (!HWY_DYNAMIC_DISPATCH(HasBands)()) return measure_reference(request, out);
  std::fill(out.begin(), out.end(), Words{});
  for (std::size_t i = 0; i < out.size(); i += kLimitsPerPass) {
    const std::size_t count = std::min<std::size_t>(kLimitsPerPass, out.size() - i);
    Request part = request;
    part.limits = request.limits.subspan(i, count);
    measure_pass(part, context, out.subspan(i, count));
  }
}

}  // namespace vqx::vif
#endif  // HWY_ONCE
