// float_adm with SIMD.  A scale takes two steps, each in bands of rows:
//   transform: four rows give one row of each band; even and odd columns are filtered apart;
//   energies:  the bands are split and weighted row by row; three rows stay at hand for the
//              masking thresholds.  The terms of a few rows at a time continue their running sums.
#include <algorithm>
#include <cstring>
#include <vector>

#include "metric/adm/adm_math.hpp"
#include "metric/float_adm/float_adm.hpp"
#include "metric/float_rows/float_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/float_adm/float_adm_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/float_rows/float_rows-inl.hpp"

#ifndef VQX_FLOAT_ADM_CPU_ONCE
#define VQX_FLOAT_ADM_CPU_ONCE
namespace vqx::float_adm {

inline constexpr int kRoom = 64;      // samples before and behind a row that vectors may touch
inline constexpr int kBandRows = 32;  // of coefficients
inline constexpr int kTermRows = 8;   // whose terms are added up together
inline constexpr int kSignals = 3;    // reference, restored detail, additive impairment

// A plane of coefficients; rows have kRoom behind them.
struct Rows {
  float* data = nullptr;
  std::ptrdiff_t stride = 0;

  float* row(int y) const { return data + y * stride; }
};

struct Subbands {
  int width = 0;
  int height = 0;
  Rows approximation;
  Rows detail[kBands];  // h, v, d
};

// One scale of one option set.
struct EnergyJob {
  Subbands reference;
  Subbands distorted;
  const Params* params = nullptr;
  const float* weights = nullptr;
  const float* reciprocals = nullptr;
  Range columns{};
  Range rows{};
  float* row_sums = nullptr;  // kSignals * kBands runs, one value a scored row

  int row_count() const { return rows.last - rows.first; }
};

// Columns of a row that a band needs, whole vectors, with room at both ends.
inline std::ptrdiff_t line_stride(int width) {
  return (width + 2 * kRoom + 15) / 16 * 16;
}
// Floats that a band needs: four source rows, and even and odd columns of two filtered ones.
inline std::size_t transform_memory(int width) {
  return static_cast<std::size_t>(4 * line_stride(width) + 4 * line_stride(width / 2));
}
// Three rows of weighted magnitudes and of neighbour shares for two signals and all bands, and
// the terms.
inline std::size_t energy_memory(int width) {
  return static_cast<std::size_t>((3 * 2 * 2 + kSignals * kTermRows) * kBands) *
         static_cast<std::size_t>(line_stride(width));
}

}  // namespace vqx::float_adm
#endif  // VQX_FLOAT_ADM_CPU_ONCE

HWY_BEFORE_NAMESPACE();
namespace vqx::float_adm::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // a machine without SIMD, or with less than SSE4

void TransformRows(const float_rows::Samples&, const Subbands&, int, int, float*) {}
void EnergyRows(const EnergyJob&, int, int, float*) {}
bool HasRows() {
  return false;
}

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace rows = float_rows::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using D = hn::ScalableTag<double>;
using U = hn::RebindToUnsigned<F>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VD = hn::Vec<D>;

HWY_INLINE int Lanes() {
  return static_cast<int>(hn::Lanes(F()));
}

// -------------------------------------------------------------------------------- transform

HWY_INLINE VF Filter(const float (&taps)[4], VF a, VF b, VF c, VF d) {
  const F f;
  const VF two = hn::Add(hn::Mul(hn::Set(f, taps[0]), a), hn::Mul(hn::Set(f, taps[1]), b));
  const VF three = hn::Add(two, hn::Mul(hn::Set(f, taps[2]), c));
  return hn::Add(three, hn::Mul(hn::Set(f, taps[3]), d));
}

// Index of a position outside an axis of n samples: the first is not repeated, the last is.
HWY_INLINE int Mirror(int i, int n) {
  return float_rows::fold(i, n, float_rows::Edge::kRepeatLast);
}

// Rows of a plane as floats; integer samples are converted when first asked for, and the last four
// rows kept.
class SourceRows {
 public:
  SourceRows(const float_rows::Samples& in, float* memory) : in_(in), memory_(memory) {
    std::fill_n(held_, 4, -1);
  }
  const float* operator()(int y) {
    if (in_.kind == float_rows::Samples::Kind::kFloat)
      return reinterpret_cast<const float*>(in_.row(y));
    float* row = memory_ + y % 4 * line_stride(in_.width);
    if (held_[y % 4] != y) rows::LoadRow(in_, y, 0, in_.width, float_rows::Edge::kRepeatLast, row);
    held_[y % 4] = y;
    return row;
  }

 private:
  const float_rows::Samples& in_;
  float* memory_;
  int held_[4];
};

// Even and odd columns of a filtered row.
struct Line {
  float* even;
  float* odd;
};

HWY_INLINE void FilterColumns(const float* const (&in)[4], const float (&taps)[4], int width,
                              const Line& out) {
  const F f;
  const int lanes = Lanes();
  for (int x = 0; x < width; x += 2 * lanes) {
    const auto at = [&](int offset) {
      return Filter(taps, hn::LoadU(f, in[0] + x + offset), hn::LoadU(f, in[1] + x + offset),
                    hn::LoadU(f, in[2] + x + offset), hn::LoadU(f, in[3] + x + offset));
    };
    const VF low = at(0);
    const VF high = at(lanes);
    hn::StoreU(hn::ConcatEven(f, high, low), f, out.even + x / 2);
    hn::StoreU(hn::ConcatOdd(f, high, low), f, out.odd + x / 2);
  }
  const auto value = [&](int x) { return x % 2 == 0 ? out.even[x / 2] : out.odd[x / 2]; };
  const float last = value(width - 1);
  const float last_but_one = value(width - 2);
  out.odd[-1] = out.odd[0];
  if (width % 2 == 0) {
    out.even[width / 2] = last;
  } else {
    out.odd[width / 2] = last;
    out.even[width / 2 + 1] = last_but_one;
  }
}

HWY_INLINE void FilterRow(const Line& in, int width, float* low_out, float* high_out) {
  const F f;
  for (int x = 0; x < width; x += Lanes()) {
    const VF a = hn::LoadU(f, in.odd + x - 1);
    const VF b = hn::LoadU(f, in.even + x);
    const VF c = hn::LoadU(f, in.odd + x);
    const VF d = hn::LoadU(f, in.even + x + 1);
    hn::StoreU(Filter(kLow, a, b, c, d), f, low_out + x);
    hn::StoreU(Filter(kHigh, a, b, c, d), f, high_out + x);
  }
}

// Rows [first, last) of all bands.
void TransformRows(const float_rows::Samples& in, const Subbands& out, int first, int last,
                   float* memory) {
  SourceRows source(in, memory);
  float* lines = memory + 4 * line_stride(in.width) + kRoom;
  const std::ptrdiff_t stride = line_stride(in.width / 2);
  const Line low{lines, lines + stride};
  const Line high{lines + 2 * stride, lines + 3 * stride};
  for (int y = first; y < last; ++y) {
    const float* rows[4];
    for (int t = 0; t < 4; ++t) rows[t] = source(Mirror(2 * y - 1 + t, in.height));
    FilterColumns(rows, kLow, in.width, low);
    FilterColumns(rows, kHigh, in.width, high);
    FilterRow(low, out.width, out.approximation.row(y), out.detail[1].row(y));
    FilterRow(high, out.width, out.detail[0].row(y), out.detail[2].row(y));
  }
}

// --------------------------------------------------------------------------------- energies

// f(v) of a vector through binary64.
template <class Function>
HWY_INLINE VF ThroughDouble(VF v, const Function& function) {
  const hn::Half<F> half;
  const VD low = function(hn::PromoteTo(D(), hn::LowerHalf(half, v)));
  const VD high = function(hn::PromoteTo(D(), hn::UpperHalf(half, v)));
  return hn::Combine(F(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

HWY_INLINE VF Reciprocal(VF x, const float* table) {
  const F f;
  const U u;
  const auto bits = hn::BitCast(u, x);
  const auto biased = hn::And(hn::ShiftRight<23>(bits), hn::Set(u, 255));
  const VF scale = hn::BitCast(f, hn::ShiftLeft<23>(hn::Sub(hn::Set(u, 254), biased)));
  const auto place = hn::And(hn::ShiftRight<12>(bits), hn::Set(u, kReciprocals - 1));
  const VF magnitude = hn::Mul(hn::GatherIndex(f, table, hn::BitCast(I(), place)), scale);
  const VF estimate = hn::CopySignToAbs(magnitude, x);
  const VF error = hn::Sub(hn::Set(f, 1), hn::Mul(x, estimate));
  return hn::Add(estimate, hn::Mul(estimate, error));
}

// A signal's weighted magnitudes of one row, and what they add to the thresholds of neighbours.
struct Weighted {
  float* magnitude[kBands];
  float* share[kBands];
};

// Splits a vector of distorted coefficients.
HWY_INLINE void Split(const EnergyJob& job, int y, int x, VF (&restored)[kBands],
                      VF (&additive)[kBands]) {
  const F f;
  VF o[kBands];
  VF t[kBands];
  for (int b = 0; b < kBands; ++b) {
    o[b] = hn::LoadU(f, job.reference.detail[b].row(y) + x);
    t[b] = hn::LoadU(f, job.distorted.detail[b].row(y) + x);
  }
  const auto sum = [](VF a, VF b, VF c, VF d) { return hn::Add(hn::Mul(a, b), hn::Mul(c, d)); };
  const VF zero = hn::Zero(f);
  const VF dot = sum(o[0], t[0], o[1], t[1]);
  const VF limit = hn::Mul(hn::Mul(hn::Set(f, adm::kCosSquared), sum(o[0], o[0], o[1], o[1])),
                           sum(t[0], t[0], t[1], t[1]));
  const auto near = hn::And(hn::Ge(dot, zero), hn::Ge(hn::Mul(dot, dot), limit));
  const VD gain = hn::Set(D(), job.params->gain_limit);
  for (int b = 0; b < kBands; ++b) {
    const VF ratio = hn::Mul(t[b], Reciprocal(hn::Add(o[b], hn::Set(f, 1e-30f)), job.reciprocals));
    const VF share = hn::Min(hn::Max(ratio, zero), hn::Set(f, 1));
    const VF kept = hn::Mul(share, o[b]);
    // The law compares before it rounds to single; as t is a single, the result is the same.
    const VF boosted = ThroughDouble(kept, [&](VD v) { return hn::Mul(v, gain); });
    const VF raised =
        hn::IfThenElse(hn::Gt(kept, zero), hn::Min(boosted, t[b]), hn::Max(boosted, t[b]));
    restored[b] = hn::IfThenElse(hn::And(near, hn::Ne(kept, zero)), raised, kept);
    additive[b] = hn::Sub(t[b], restored[b]);
  }
}

HWY_INLINE void StoreWeighted(const VF (&values)[kBands], const float* weights, int x,
                              const Weighted& out) {
  const F f;
  for (int b = 0; b < kBands; ++b) {
    const VF magnitude = hn::Abs(hn::Mul(values[b], hn::Set(f, weights[b])));
    const VF share =
        ThroughDouble(magnitude, [](VD v) { return hn::Mul(hn::Set(D(), kNeighbourShare), v); });
    hn::StoreU(magnitude, f, out.magnitude[b] + x);
    hn::StoreU(share, f, out.share[b] + x);
  }
}

// Row y of both signals that mask each other, from a column before the scored ones to one behind.
HWY_INLINE void WeighRow(const EnergyJob& job, int y, const Weighted& restored,
                         const Weighted& additive) {
  const int width = job.reference.width;
  const int first = std::max(job.columns.first - 1, 0);
  const int last = std::min(job.columns.last + 1, width);
  for (int x = first; x < last; x += Lanes()) {
    VF kept[kBands];
    VF rest[kBands];
    Split(job, y, x, kept, rest);
    StoreWeighted(kept, job.weights, x, restored);
    StoreWeighted(rest, job.weights, x, additive);
  }
  if (job.columns.first > 0) return;  // else the row's ends are scored
  for (const Weighted& signal : {restored, additive})
    for (float* share : signal.share) {
      share[-1] = share[1];
      share[width] = share[width - 1];
    }
}

HWY_INLINE VF Threshold(const Weighted (&rows)[3], int b, int x) {
  const F f;
  const hn::Half<F> half;
  const float* above = rows[0].share[b] + x;
  const float* here = rows[1].share[b] + x;
  const float* below = rows[2].share[b] + x;
  VF sum = hn::Add(hn::LoadU(f, above - 1), hn::LoadU(f, above));
  sum = hn::Add(sum, hn::LoadU(f, above + 1));
  sum = hn::Add(sum, hn::LoadU(f, here - 1));
  const VF centre = hn::LoadU(f, rows[1].magnitude[b] + x);
  const auto add_centre = [&](auto s, auto c) {
    return hn::DemoteTo(half, hn::Add(hn::PromoteTo(D(), s),
                                      hn::Mul(hn::Set(D(), kCentreShare), hn::PromoteTo(D(), c))));
  };
  sum = hn::Combine(f, add_centre(hn::UpperHalf(half, sum), hn::UpperHalf(half, centre)),
                    add_centre(hn::LowerHalf(half, sum), hn::LowerHalf(half, centre)));
  sum = hn::Add(sum, hn::LoadU(f, here + 1));
  sum = hn::Add(sum, hn::LoadU(f, below - 1));
  sum = hn::Add(sum, hn::LoadU(f, below));
  return hn::Add(sum, hn::LoadU(f, below + 1));
}

HWY_INLINE VF Cube(VF v) {
  return hn::Mul(hn::Mul(v, v), v);
}

// Terms of the scored columns of a row of one signal and band.
struct Terms {
  float* data;  // a run of kTermRows rows for each signal and band
  std::ptrdiff_t stride;

  float* row(int signal, int band, int y) const {
    return data + ((signal * kBands + band) * kTermRows + y) * stride;
  }
};

// Terms of row y as the `slot`-th row.  The masked signal is the middle one of `rows`; null: none
// masks it.
template <bool kCubes>
HWY_INLINE void StoreTerms(const EnergyJob& job, int signal, const Weighted& values,
                           const Weighted (&masker)[3], const Terms& terms, int slot) {
  const F f;
  const VF zero = hn::Zero(f);
  const bool masked = !job.params->bypass_masking;
  for (int x = job.columns.first; x < job.columns.last; x += Lanes()) {
    VF threshold = zero;
    if (masked)
      threshold = hn::Add(hn::Add(Threshold(masker, 0, x), Threshold(masker, 1, x)),
                          Threshold(masker, 2, x));
    for (int b = 0; b < kBands; ++b) {
      const VF value = hn::Max(hn::Sub(hn::LoadU(f, values.magnitude[b] + x), threshold), zero);
      hn::StoreU(kCubes ? Cube(value) : value, f,
                 terms.row(signal, b, slot) + x - job.columns.first);
    }
  }
}

template <bool kCubes>
HWY_INLINE void StoreReferenceTerms(const EnergyJob& job, int y, const Terms& terms, int slot) {
  const F f;
  for (int b = 0; b < kBands; ++b) {
    const float* row = job.reference.detail[b].row(y);
    float* out = terms.row(0, b, slot);
    for (int x = job.columns.first; x < job.columns.last; x += Lanes()) {
      const VF value = hn::Abs(hn::Mul(hn::LoadU(f, row + x), hn::Set(f, job.weights[b])));
      hn::StoreU(kCubes ? Cube(value) : value, f, out + x - job.columns.first);
    }
  }
}

// Row sums of scored rows y - count .. y - 1 from their terms.
void AddTerms(const EnergyJob& job, const Terms& terms, int y, int count) {
  const int columns = job.columns.last - job.columns.first;
  float sums[kSignals * kBands * kTermRows] = {};
  if (job.params->exponent != 3.0f)
    for (int row = 0; row < kSignals * kBands * kTermRows; ++row) {
      float* values = terms.data + row * terms.stride;
      if (row % kTermRows < count)
        for (int x = 0; x < columns; ++x) values[x] = power(values[x], job.params->exponent);
    }
  // Rows behind `count` add up stale terms, which are not looked at.
  float_rows::add_to_row_sums(terms.data, terms.stride, kSignals * kBands * kTermRows, columns,
                              sums);
  for (int run = 0; run < kSignals * kBands; ++run)
    std::copy_n(sums + run * kTermRows, count,
                job.row_sums + run * job.row_count() + (y - count - job.rows.first));
}

template <bool kCubes>
void EnergyRowsOf(const EnergyJob& job, int first, int last, float* memory) {
  const std::ptrdiff_t stride = line_stride(job.reference.width);
  Weighted ring[2][3];
  float* next = memory + kRoom;
  for (auto& signal : ring)
    for (Weighted& row : signal)
      for (int b = 0; b < kBands; ++b) {
        row.magnitude[b] = next;
        row.share[b] = next + stride;
        next += 2 * stride;
      }
  const Terms terms{next - kRoom, stride};
  // The row above the first one mirrors the second, that below the last one repeats it.
  const int height = job.reference.height;
  const auto weigh = [&](int y) {
    WeighRow(job, Mirror(y, height), ring[0][(y + 3) % 3], ring[1][(y + 3) % 3]);
  };
  weigh(first - 1);
  weigh(first);
  int held = 0;
  for (int y = first; y < last; ++y) {
    weigh(y + 1);
    const int above = (y + 2) % 3;
    const int here = y % 3;
    const int below = (y + 1) % 3;
    const Weighted restored[3] = {ring[0][above], ring[0][here], ring[0][below]};
    const Weighted additive[3] = {ring[1][above], ring[1][here], ring[1][below]};
    StoreReferenceTerms<kCubes>(job, y, terms, held);
    StoreTerms<kCubes>(job, 1, restored[1], additive, terms, held);
    StoreTerms<kCubes>(job, 2, additive[1], restored, terms, held);
    if (++held < kTermRows && y + 1 < last) continue;
    AddTerms(job, terms, y + 1, held);
    held = 0;
  }
}

// Row sums of the scored rows [first, last).
void EnergyRows(const EnergyJob& job, int first, int last, float* memory) {
  if (job.params->exponent == 3.0f)
    EnergyRowsOf<true>(job, first, last, memory);
  else
    EnergyRowsOf<false>(job, first, last, memory);
}
bool HasRows() {
  return true;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace vqx::float_adm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::float_adm {
HWY_EXPORT(TransformRows);
HWY_EXPORT(EnergyRows);
HWY_EXPORT(HasRows);

namespace {

// The bands of one picture.
class Level {
 public:
  Level(ScratchPool& pool, int width, int height)
      : samples_(pool, static_cast<std::size_t>(1 + kBands) * plane_size(width, height)) {
    bands.width = width;
    bands.height = height;
    float* next = samples_.data();
    for (Rows* rows :
         {&bands.approximation, &bands.detail[0], &bands.detail[1], &bands.detail[2]}) {
      *rows = {next, line_stride(width)};
      next += plane_size(width, height);
    }
  }
  float_rows::Samples approximation() const {
    return float_rows::samples_of(bands.approximation.data, bands.approximation.stride, bands.width,
                                  bands.height);
  }

  Subbands bands;

 private:
  static std::size_t plane_size(int width, int height) {
    return static_cast<std::size_t>(line_stride(width)) * static_cast<std::size_t>(height);
  }
  ScratchArray<float> samples_;
};

// Calls part(first, last) for bands of rows.
template <class Part>
void in_bands(const MeasureContext& context, int first, int last, const Part& part) {
  const int count = (last - first + kBandRows - 1) / kBandRows;
  context.parallel(count, [&](int band) {
    const int begin = first + band * kBandRows;
    part(begin, std::min(last, begin + kBandRows));
  });
}

Level transform(const MeasureContext& context, const float_rows::Samples& in) {
  Level level(context.scratch(), (in.width + 1) / 2, (in.height + 1) / 2);
  in_bands(context, 0, level.bands.height, [&](int first, int last) {
    ScratchArray<float> memory(context.scratch(), transform_memory(in.width));
    HWY_DYNAMIC_DISPATCH(TransformRows)(in, level.bands, first, last, memory.data());
  });
  return level;
}

void energies(const MeasureContext& context, EnergyJob job, int scale, Sums& out) {
  std::vector<float> row_sums(static_cast<std::size_t>(kSignals * kBands * job.row_count()));
  job.row_sums = row_sums.data();
  in_bands(context, job.rows.first, job.rows.last, [&](int first, int last) {
    ScratchArray<float> memory(context.scratch(), energy_memory(job.reference.width));
    HWY_DYNAMIC_DISPATCH(EnergyRows)(job, first, last, memory.data());
  });
  double* sums[kSignals] = {out.reference[scale], out.detail[scale], out.impairment[scale]};
  for (int signal = 0; signal < kSignals; ++signal)
    for (int b = 0; b < kBands; ++b)
      sums[signal][b] = static_cast<double>(float_rows::running_sum(
          job.row_sums + (signal * kBands + b) * job.row_count(), job.row_count()));
}

}  // namespace

void measure_simd(const Plane& reference, const Plane& distorted, int bit_depth,
                  std::span<const Params* const> sets, const MeasureContext& context,
                  std::span<Sums> out) {
  if (!HWY_DYNAMIC_DISPATCH(HasRows)())
    return measure_reference(reference, distorted, bit_depth, sets, out);
  std::vector<Level> levels;  // two a scale
  levels.reserve(2 * kScales);
  float_rows::Samples inputs[2] = {float_rows::samples_of(reference, bit_depth, -128.0f),
                                   float_rows::samples_of(distorted, bit_depth, -128.0f)};
  for (int scale = 0; scale < kScales; ++scale) {
    for (float_rows::Samples& input : inputs) {
      levels.push_back(transform(context, input));
      input = levels.back().approximation();
    }
    EnergyJob job;
    job.distorted = levels.back().bands;
    job.reference = levels[levels.size() - 2].bands;
    job.reciprocals = reciprocal_table();
    job.columns = scored(job.reference.width);
    job.rows = scored(job.reference.height);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      job.params = sets[s];
      job.weights = sets[s]->weights[scale];
      out[s].area[scale] = std::int64_t{job.row_count()} * (job.columns.last - job.columns.first);
      if (scale > 0 || !sets[s]->skip_scale0) energies(context, job, scale, out[s]);
    }
  }
}

}  // namespace vqx::float_adm
#endif  // HWY_ONCE
