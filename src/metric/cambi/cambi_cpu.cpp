// The fast form.
//
// Levels and mask travel in one plane of 16-bit samples (the top bit says kept).  Rows are prepared
// and filtered in bands of rows that fit the cache.  The contrast values are made in strips of
// columns: a strip holds, for every level, the window counts of all its columns at the current row,
// and slides down, so no band pays for filling its first window.  A run of equal levels in the
// entering (leaving) row adds (subtracts) a trapezoid to the counts of that level, and the few
// distinct levels of a vector of pixels are looked up one after the other.
#include "metric/cambi/cambi_cpu.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "metric/cambi/cambi_math.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/cambi/cambi_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vqx::cambi::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // never reached: machines without SSE4 run the reference
void PrepareBand(const Preparation&, int, int, ScratchPool&) {}
void FilterBand(const Filtering&, int, int, ScratchPool&) {}
TopSum ContrastStrip(const Strip&, ScratchPool&) {
  return {};
}
std::uint64_t SelectRow(const float*, int, std::uint32_t, std::uint32_t*) {
  return 0;
}
bool RowAbove(const std::uint16_t*, int, int) {
  return false;
}
#else

using D16 = hn::ScalableTag<std::uint16_t>;
using DS16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using DU32 = hn::ScalableTag<std::uint32_t>;
using DF = hn::ScalableTag<float>;
using D8 = hn::Rebind<std::uint8_t, D16>;  // as many lanes as D16
using DHalf16 = hn::Rebind<std::uint16_t, D32>;
using V16 = hn::Vec<D16>;
using VF = hn::Vec<DF>;

HWY_INLINE int Lanes16() {
  return static_cast<int>(hn::Lanes(D16()));
}

// ---- from the input to levels -----------------------------------------------------------------

// left > 0: shifted to 10 bits; right > 0: rounded to 10 bits (without the carry that v + half
// would need).
HWY_INLINE V16 Scaled(V16 v, int left, int right) {
  if (left > 0) return hn::ShiftLeftSame(v, left);
  if (right == 0) return v;
  return hn::ShiftRight<1>(hn::Add(hn::ShiftRightSame(v, right - 1), hn::Set(D16(), 1)));
}

HWY_INLINE V16 LoadSamples(const std::uint8_t* in) {
  return hn::PromoteTo(D16(), hn::LoadU(D8(), in));
}
HWY_INLINE V16 LoadSamples(const std::uint16_t* in) {
  return hn::LoadU(D16(), in);
}

template <class Sample>
void LevelRow(const Preparation& p, int y, std::uint16_t* out) {
  const int width = p.analysis->size.width;
  const int depth = p.analysis->bit_depth;
  const bool resampled = p.columns != nullptr;
  const Sample* in = p.luma->row<Sample>(resampled ? (*p.rows)[static_cast<std::size_t>(y)] : y);
  const auto level = [&](int sample) {
    return static_cast<std::uint16_t>(p.unit == 1 ? ten_bit(sample, depth) : sample);
  };
  int x = 0;
  if (resampled) {
    const int* columns = p.columns->data();
    for (; x < width; ++x) out[x] = level(in[columns[x]]);
  } else {
    const int left = p.unit == 1 && depth < 10 ? 10 - depth : 0;
    const int right = std::max(depth - 10, 0);
    for (; x + Lanes16() <= width; x += Lanes16())
      hn::StoreU(Scaled(LoadSamples(in + x), left, right), D16(), out + x);
    for (; x < width; ++x) out[x] = level(in[x]);
  }
  out[width] = out[width - 1];  // a missing right neighbour counts as equal
}

// In place: what it overwrites is not needed any more.
void RemoveDither(std::uint16_t* row, const std::uint16_t* below, int width) {
  const D16 d;
  for (int x = 0; x < width; x += Lanes16()) {
    const V16 left = hn::Add(hn::LoadU(d, row + x), hn::LoadU(d, below + x));
    const V16 right = hn::Add(hn::LoadU(d, row + x + 1), hn::LoadU(d, below + x + 1));
    hn::StoreU(hn::ShiftRight<2>(hn::Add(left, right)), d, row + x);
  }
  row[width] = row[width - 1];
}

// ---- flatness mask ----------------------------------------------------------------------------

// 1 where the sample equals its right and its lower neighbour; 0 after the row.
void FlatRow(const std::uint16_t* row, const std::uint16_t* below, int width, std::uint8_t* flat) {
  const D16 d;
  const DS16 ds;
  const V16 one = hn::Set(d, 1);
  for (int x = 0; x < width; x += Lanes16()) {
    const V16 here = hn::LoadU(d, row + x);
    const auto same =
        hn::And(hn::Eq(here, hn::LoadU(d, row + x + 1)), hn::Eq(here, hn::LoadU(d, below + x)));
    const V16 bit = hn::IfThenElseZero(same, one);
    hn::StoreU(hn::DemoteTo(D8(), hn::BitCast(ds, bit)), D8(), flat + x);
  }
  std::memset(flat + width, 0, kPad);
}

void AddRow(const std::uint8_t* row, int width, std::uint8_t* sums) {
  const hn::ScalableTag<std::uint8_t> d;
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d)))
    hn::StoreU(hn::Add(hn::LoadU(d, sums + x), hn::LoadU(d, row + x)), d, sums + x);
}

void SubtractRow(const std::uint8_t* row, int width, std::uint8_t* sums) {
  const hn::ScalableTag<std::uint8_t> d;
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d)))
    hn::StoreU(hn::Sub(hn::LoadU(d, sums + x), hn::LoadU(d, row + x)), d, sums + x);
}

// Marks the samples whose 7 x 7 surroundings (given as sums over 7 rows) are flat enough.
void FlagRow(const std::uint8_t* sums, int width, int threshold, std::uint16_t* row) {
  const D16 d;
  const D8 d8;
  const V16 limit = hn::Set(d, static_cast<std::uint16_t>(threshold));
  const V16 kept = hn::Set(d, kKept);
  for (int x = 0; x < width; x += Lanes16()) {
    auto sum = hn::LoadU(d8, sums + x);
    for (int i = 1; i <= kMaskRadius; ++i)
      sum = hn::Add(sum, hn::Add(hn::LoadU(d8, sums + x - i), hn::LoadU(d8, sums + x + i)));
    const V16 flag = hn::IfThenElseZero(hn::Gt(hn::PromoteTo(d, sum), limit), kept);
    hn::StoreU(hn::Or(hn::LoadU(d, row + x), flag), d, row + x);
  }
}

// ---- halving and mode filter ------------------------------------------------------------------

void HalveRow(const std::uint16_t* in, int width, std::uint16_t* out) {
  const D16 d;
  for (int x = 0; x < width; x += Lanes16()) {
    const std::uint16_t* from = in + 2 * x;
    hn::StoreU(hn::ConcatEven(d, hn::LoadU(d, from + Lanes16()), hn::LoadU(d, from)), d, out + x);
  }
}

HWY_INLINE V16 Mode(V16 a, V16 b, V16 c) {
  const V16 least = hn::Min(hn::Min(a, b), c);
  const auto first_twice = hn::Or(hn::Eq(a, b), hn::Eq(a, c));
  return hn::IfThenElse(first_twice, a, hn::IfThenElse(hn::Eq(b, c), b, least));
}

void HorizontalMode(const std::uint16_t* in, int width, std::uint16_t* out) {
  const D16 d;
  const V16 level = hn::Set(d, kLevelBits);
  for (int x = 0; x < width; x += Lanes16()) {
    const V16 here = hn::LoadU(d, in + x);
    const V16 mode = Mode(hn::And(hn::LoadU(d, in + x - 1), level), hn::And(here, level),
                          hn::And(hn::LoadU(d, in + x + 1), level));
    hn::StoreU(hn::Or(mode, hn::AndNot(level, here)), d, out + x);
  }
  out[0] = in[0];
  out[width - 1] = in[width - 1];
}

void VerticalMode(const std::uint16_t* above, const std::uint16_t* here, const std::uint16_t* below,
                  int width, std::uint16_t* out) {
  const D16 d;
  const V16 level = hn::Set(d, kLevelBits);
  for (int x = 0; x < width; x += Lanes16()) {
    const V16 centre = hn::LoadU(d, here + x);
    const V16 mode = Mode(hn::And(hn::LoadU(d, above + x), level), hn::And(centre, level),
                          hn::And(hn::LoadU(d, below + x), level));
    hn::StoreU(hn::Or(mode, hn::AndNot(level, centre)), d, out + x);
  }
}

// Rows first .. end - 1 of the target.  What follows each row is zeroed: not kept.
void FilterBand(const Filtering& f, int first, int end, ScratchPool& pool) {
  const int width = f.size.width;
  const int last = f.size.height - 1;
  const std::ptrdiff_t stride = padded_stride(width);
  ScratchArray<std::uint16_t> work(pool, static_cast<std::size_t>(4 * stride + kPad));
  std::uint16_t* const halved = work.data() + kPad;
  const auto filtered = [&](int y) { return work.data() + kPad + (1 + y % 3) * stride; };
  const auto finish = [&](std::uint16_t* row) {
    std::memset(row + width, 0, static_cast<std::size_t>(f.target.stride - width) * 2);
  };
  for (int y = std::max(first - 1, 0); y <= std::min(end, last); ++y) {
    const std::uint16_t* source = f.source.row(std::ptrdiff_t{y} * f.step);
    if (f.step == 2) {
      HalveRow(source, width, halved);
      source = halved;
    }
    HorizontalMode(source, width, filtered(y));
    if ((y == 0 || y == last) && y >= first && y < end) {  // kept as they were
      std::memcpy(f.target.row(y), source, static_cast<std::size_t>(width) * 2);
      finish(f.target.row(y));
    }
    if (y - 1 >= std::max(first, 1) && y - 1 < end) {
      VerticalMode(filtered(y - 2), filtered(y - 1), filtered(y), width, f.target.row(y - 1));
      finish(f.target.row(y - 1));
    }
  }
}

// ---- all up to scale 0 ------------------------------------------------------------------------

// Levels of the rows first .. last; `all` says how many rows the picture has.
void FillLevels(const Preparation& p, const Rows& rows, int first, int last) {
  const int bottom = p.analysis->size.height - 1;
  const int width = p.analysis->size.width;
  const bool antidither = p.analysis->antidither;
  for (int y = first; y <= std::min(last + (antidither ? 1 : 0), bottom); ++y) {
    if (p.analysis->bit_depth == 8)
      LevelRow<std::uint8_t>(p, y, rows.row(y - first));
    else
      LevelRow<std::uint16_t>(p, y, rows.row(y - first));
  }
  for (int y = first; antidither && y <= last; ++y)
    RemoveDither(rows.row(y - first), rows.row(std::min(y + 1, bottom) - first), width);
}

// Marks rows top .. bottom, those that a halving keeps; `rows` starts at picture row `origin`.
void FlagRows(const Analysis& analysis, const Rows& rows, int origin, int top, int bottom,
              ScratchPool& pool) {
  constexpr int kRing = 2 * kMaskRadius + 2;
  const auto [width, height] = analysis.size;
  const std::ptrdiff_t stride = padded_stride(width) + kPad;
  ScratchArray<std::uint8_t> work(pool, static_cast<std::size_t>((kRing + 1) * stride + kPad));
  std::uint8_t* const sums = work.data() + kPad;
  std::memset(work.data(), 0, static_cast<std::size_t>(stride + kPad));
  const auto flat = [&](int y) { return sums + (1 + y % kRing) * stride; };
  const int step = analysis.halve_first ? 2 : 1;
  const int threshold = analysis.mask_threshold();
  const int start = std::max(top - kMaskRadius, 0);
  for (int y = start; y <= bottom + kMaskRadius; ++y) {
    if (y < height) {
      FlatRow(rows.row(y - origin), rows.row(std::min(y + 1, height - 1) - origin), width, flat(y));
      AddRow(flat(y), width, sums);
    }
    const int leaving = y - 2 * kMaskRadius - 1;
    if (leaving >= start) SubtractRow(flat(leaving), width, sums);
    const int centre = y - kMaskRadius;
    if (centre >= top && centre % step == 0)
      FlagRow(sums, width, threshold, rows.row(centre - origin));
  }
}

void PrepareBand(const Preparation& p, int first, int end, ScratchPool& pool) {
  const Analysis& analysis = *p.analysis;
  const Size target = analysis.scale_size(0);
  const int step = analysis.halve_first ? 2 : 1;
  const int top = std::max(first - 1, 0) * step;
  const int bottom = std::min(end, target.height - 1) * step;
  const int origin = std::max(top - kMaskRadius, 0);
  const int last = std::min(bottom + kMaskRadius + 1, analysis.size.height - 1);
  const std::ptrdiff_t stride = padded_stride(analysis.size.width);
  ScratchArray<std::uint16_t> work(pool,
                                   static_cast<std::size_t>((last - origin + 2) * stride + kPad));
  const Rows rows{work.data() + kPad, stride};
  FillLevels(p, rows, origin, last);
  FlagRows(analysis, rows, origin, top, bottom, pool);
  const Rows source{rows.origin - origin * stride, stride};
  FilterBand({source, step, p.target, target}, first, end, pool);
}

// ---- contrast values --------------------------------------------------------------------------

class StripCounter {
 public:
  StripCounter(const Strip& strip, ScratchPool& pool)
      : strip_(strip),
        width_(strip.end - strip.first),
        stride_(padded_stride(width_)),
        none_(static_cast<std::uint16_t>(strip.levels->rows())),
        left_(std::max(strip.first - strip.radius, 0)),
        count_(std::min(strip.end + strip.radius, strip.width) - left_),
        counts_(pool, static_cast<std::size_t>(strip.levels->rows() * stride_)),
        keys_(pool, static_cast<std::size_t>(2 * KeyStride())) {
    std::memset(counts_.data(), 0, counts_.size() * sizeof(counts_[0]));
    std::fill_n(keys_.data(), keys_.size(), none_);
  }

  // Counts of a level at the strip's first column; columns follow.
  const std::uint16_t* row(int index) const { return counts_.data() + index * stride_; }
  std::ptrdiff_t stride() const { return stride_; }

  // Moves the windows: row `entering` comes in, row `leaving` goes; -1 for none.
  void Slide(int entering, int leaving) {
    std::uint16_t* const in = keys_.data() + kPad;
    std::uint16_t* const out = in + KeyStride();
    if (entering >= 0) MakeKeys(entering, in);
    if (leaving >= 0) MakeKeys(leaving, out);
    if (entering >= 0 && leaving >= 0) Cancel(in, out);
    if (entering >= 0) CountRuns<true>(in);
    if (leaving >= 0) CountRuns<false>(out);
  }

 private:
  // Row index of each counted sample's level, none_ elsewhere and around the keys.
  std::ptrdiff_t KeyStride() const { return padded_stride(count_) + 2 * kPad; }

  void MakeKeys(int y, std::uint16_t* keys) const {
    const D16 d;
    const std::uint16_t* const row = strip_.plane.row(y) + left_;
    const V16 first = hn::Set(d, static_cast<std::uint16_t>(kKept + strip_.levels->first_row()));
    const V16 none = hn::Set(d, none_);
    for (int x = 0; x < count_; x += Lanes16())
      hn::StoreU(hn::Min(hn::Sub(hn::LoadU(d, row + x), first), none), d, keys + x);
    hn::StoreU(none, d, keys + count_);
  }

  // A level that enters where it leaves changes nothing.
  void Cancel(std::uint16_t* in, std::uint16_t* out) const {
    const D16 d;
    const V16 none = hn::Set(d, none_);
    for (int x = 0; x < count_; x += Lanes16()) {
      const V16 a = hn::LoadU(d, in + x);
      const V16 b = hn::LoadU(d, out + x);
      const auto same = hn::Eq(a, b);
      hn::StoreU(hn::IfThenElse(same, none, a), d, in + x);
      hn::StoreU(hn::IfThenElse(same, none, b), d, out + x);
    }
  }

  template <bool kAdd>
  void CountRuns(const std::uint16_t* keys) {
    const D16 d;
    std::uint16_t level = none_;
    int start = 0;
    for (int x = 0; x <= count_; x += Lanes16()) {
      std::uint64_t changes = 0;
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, keys + x), hn::LoadU(d, keys + x - 1)), bytes);
      std::memcpy(&changes, bytes, sizeof(bytes));
      for (; changes != 0; changes &= changes - 1) {
        const int at = x + std::countr_zero(changes);
        if (level != none_) CountRun<kAdd>(level, start, at);
        level = keys[at];
        start = at;
      }
    }
  }

  // Column x sees max(0, min(x + r + 1, end) - max(x - r, start)) samples of the run.
  template <bool kAdd>
  HWY_INLINE void CountRun(int level, int start, int end) {
    const D16 d;
    const DS16 ds;
    const int shift = left_ - strip_.first;
    const auto a = hn::Set(ds, static_cast<std::int16_t>(start + shift));
    const auto b = hn::Set(ds, static_cast<std::int16_t>(end + shift));
    const auto before = hn::Iota(ds, static_cast<std::int16_t>(-strip_.radius));
    const auto after = hn::Iota(ds, static_cast<std::int16_t>(strip_.radius + 1));
    const int from = std::max(start + shift - strip_.radius, 0) & -Lanes16();
    const int to = std::min(end + shift + strip_.radius, width_);
    std::uint16_t* const counts = counts_.data() + level * stride_;
    for (int x = from; x < to; x += Lanes16()) {
      const auto at = hn::Set(ds, static_cast<std::int16_t>(x));
      const auto seen = hn::Sub(hn::Min(hn::Add(after, at), b), hn::Max(hn::Add(before, at), a));
      const V16 change = hn::BitCast(d, hn::Max(seen, hn::Zero(ds)));
      const V16 old = hn::Load(d, counts + x);
      hn::Store(kAdd ? hn::Add(old, change) : hn::Sub(old, change), d, counts + x);
    }
  }

  const Strip& strip_;
  int width_;
  std::ptrdiff_t stride_;
  std::uint16_t none_;
  int left_;   // first column that the strip's windows see
  int count_;  // how many they see
  ScratchArray<std::uint16_t> counts_;
  ScratchArray<std::uint16_t> keys_;  // entering and leaving row
};

// Exact sums of c-values: whole parts and fractions (in 2^-24) in 32-bit lanes, emptied per row.
class UnitSum {
 public:
  HWY_INLINE UnitSum() : whole_(hn::Zero(D32())), fraction_(hn::Zero(D32())) {}
  HWY_INLINE void Add(VF c) {
    const D32 d;
    const DF df;
    const auto whole = hn::ConvertTo(d, c);
    const VF rest = hn::Mul(hn::Sub(c, hn::ConvertTo(df, whole)), hn::Set(df, 16777216.0f));
    whole_ = hn::Add(whole_, whole);
    fraction_ = hn::Add(fraction_, hn::ConvertTo(d, rest));
  }
  HWY_INLINE std::uint64_t Total() const { return (Sum(whole_) << kUnitExponent) + Sum(fraction_); }

 private:
  static HWY_INLINE std::uint64_t Sum(hn::Vec<D32> v) {
    const DU32 d;
    HWY_ALIGN std::uint32_t lanes[hn::MaxLanes(DU32())];
    hn::Store(hn::BitCast(d, v), d, lanes);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) sum += lanes[i];
    return sum;
  }
  hn::Vec<D32> whole_;
  hn::Vec<D32> fraction_;
};

// The largest contrast of half a vector of pixels.
template <int kSteps>
HWY_INLINE VF LargestContrast(const Levels& levels, const float* reciprocal, hn::Vec<DHalf16> own16,
                              const std::uint16_t* others) {
  const D32 d;
  const DF df;
  const int steps = kSteps == 1 ? 1 : levels.steps;
  const auto own = hn::PromoteTo(d, own16);
  const VF own_f = hn::ConvertTo(df, own);
  VF best = hn::Zero(df);
  for (int i = 0; i < steps; ++i) {
    const auto other = hn::PromoteTo(d, hn::Load(DHalf16(), others + i * hn::MaxLanes(D16())));
    const VF product = hn::Mul(own_f, hn::ConvertTo(df, other));
    const VF weighted = hn::Mul(hn::Set(df, levels.weight[static_cast<std::size_t>(i)]), product);
    const VF c = hn::Mul(weighted, hn::GatherIndex(df, reciprocal, hn::Add(own, other)));
    best = hn::Max(best, c);
  }
  return best;
}

template <int kSteps>
TopSum ContrastRow(const StripCounter& counter, const Strip& strip, int y) {
  const D16 d;
  const DF df;
  const DHalf16 dh;
  const Levels& levels = *strip.levels;
  const float* const reciprocal = reciprocals().data();
  const std::uint16_t* const row = strip.plane.row(y);
  float* const out = strip.values + y * strip.value_stride;
  const int steps = kSteps == 1 ? 1 : levels.steps;
  const V16 first = hn::Set(d, static_cast<std::uint16_t>(kKept + levels.first_scored));
  const V16 scored = hn::Set(d, static_cast<std::uint16_t>(levels.scored));
  HWY_ALIGN std::uint16_t others[kSteps * hn::MaxLanes(D16())];
  UnitSum sum;
  std::int64_t nonzero = 0;
  for (int x = strip.first; x < strip.end; x += Lanes16()) {
    const V16 level = hn::Sub(hn::LoadU(d, row + x), first);
    auto left = hn::Lt(level, scored);
    if (hn::AllFalse(d, left)) {
      hn::StoreU(hn::Zero(df), df, out + x);
      hn::StoreU(hn::Zero(df), df, out + x + Lanes16() / 2);
      continue;
    }
    V16 own = hn::Zero(d);
    for (int i = 0; i < steps; ++i) hn::Store(hn::Zero(d), d, others + i * hn::MaxLanes(d));
    do {  // once for each level that occurs
      const auto lane = hn::FindFirstTrue(d, left);
      const auto at = static_cast<std::uint16_t>(row[x + lane] - kKept - levels.first_scored);
      const auto here = hn::Eq(level, hn::Set(d, at));
      const std::uint16_t* const counts = counter.row(at + levels.steps) + (x - strip.first);
      own = hn::IfThenElse(here, hn::Load(d, counts), own);
      const std::uint32_t visible = levels.visible[at];
      for (int i = 0; i < steps; ++i) {
        if ((visible >> i & 1) == 0) continue;
        const std::ptrdiff_t away = (i + 1) * counter.stride();
        const V16 other = hn::Max(hn::Load(d, counts + away), hn::Load(d, counts - away));
        std::uint16_t* const slot = others + i * hn::MaxLanes(d);
        hn::Store(hn::IfThenElse(here, other, hn::Load(d, slot)), d, slot);
      }
      left = hn::AndNot(here, left);
    } while (!hn::AllFalse(d, left));
    const VF low = LargestContrast<kSteps>(levels, reciprocal, hn::LowerHalf(dh, own), others);
    const VF high =
        LargestContrast<kSteps>(levels, reciprocal, hn::UpperHalf(dh, own), others + hn::Lanes(dh));
    hn::StoreU(low, df, out + x);
    hn::StoreU(high, df, out + x + Lanes16() / 2);
    sum.Add(low);
    sum.Add(high);
    nonzero += static_cast<std::int64_t>(hn::CountTrue(df, hn::Gt(low, hn::Zero(df))) +
                                         hn::CountTrue(df, hn::Gt(high, hn::Zero(df))));
  }
  return {sum.Total(), nonzero};
}

template <int kSteps>
TopSum ContrastRows(const Strip& strip, ScratchPool& pool) {
  StripCounter counter(strip, pool);
  TopSum total;
  for (int y = 0; y < std::min(strip.radius, strip.height); ++y) counter.Slide(y, -1);
  for (int y = 0; y < strip.height; ++y) {
    counter.Slide(y + strip.radius < strip.height ? y + strip.radius : -1, y - strip.radius - 1);
    const TopSum row = ContrastRow<kSteps>(counter, strip, y);
    total.units += row.units;
    total.nonzero += row.nonzero;
  }
  return total;
}

TopSum ContrastStrip(const Strip& strip, ScratchPool& pool) {
  const int steps = strip.levels->steps;
  if (steps == 1) return ContrastRows<1>(strip, pool);
  if (steps <= 4) return ContrastRows<4>(strip, pool);
  return ContrastRows<kMaxSteps>(strip, pool);
}

// ---- selection of the largest -----------------------------------------------------------------

// Of a row of c-values (padded with zeros to whole vectors): the sum of those whose key lies above
// the coarse bin, and the fine histogram of those inside.
std::uint64_t SelectRow(const float* values, int width, std::uint32_t bin, std::uint32_t* fine) {
  const DU32 d;
  const DF df;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto base = hn::Set(d, kHalfBits + (bin << kFineBits));
  const auto size = hn::Set(d, static_cast<std::uint32_t>(kFineBins));
  const auto last = hn::Set(d, kHalfBits + ((bin + 1) << kFineBits) - 1);
  UnitSum sum;
  for (int x = 0; x < width; x += lanes) {
    const VF c = hn::LoadU(df, values + x);
    const auto bits = hn::BitCast(d, c);
    sum.Add(hn::IfThenElseZero(hn::RebindMask(df, hn::Gt(bits, last)), c));
    const auto inside = hn::Sub(bits, base);
    const auto hit = hn::Lt(inside, size);
    if (hn::AllFalse(d, hit)) continue;
    HWY_ALIGN std::uint32_t keys[hn::MaxLanes(DU32())];
    hn::Store(inside, d, keys);
    for (int i = 0; i < lanes; ++i)
      if (keys[i] < kFineBins) ++fine[keys[i]];
  }
  return sum.Total();
}

bool RowAbove(const std::uint16_t* row, int width, int peak) {
  const D16 d;
  V16 largest = hn::Zero(d);
  int x = 0;
  for (; x + Lanes16() <= width; x += Lanes16()) largest = hn::Max(largest, hn::LoadU(d, row + x));
  bool above = !hn::AllFalse(d, hn::Gt(largest, hn::Set(d, static_cast<std::uint16_t>(peak))));
  for (; x < width; ++x) above |= row[x] > peak;
  return above;
}

#endif  // HWY_TARGET == HWY_SCALAR
}  // namespace vqx::cambi::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <atomic>

namespace vqx::cambi {
HWY_EXPORT(PrepareBand);
HWY_EXPORT(FilterBand);
HWY_EXPORT(ContrastStrip);
HWY_EXPORT(SelectRow);
HWY_EXPORT(RowAbove);

namespace {

constexpr int kBandSamples = 1 << 18;  // of 16 bits: half a megabyte
constexpr int kStripWidth = 512;
constexpr int kRowsPerPart = 64;

int divided_up(int value, int by) {
  return (value + by - 1) / by;
}

struct ScaledPlane {
  Rows rows;
  Size size;
};

// The c-values of one scale and what is known of their sum.
struct ContrastPlane {
  Size size;
  float* values = nullptr;
  std::ptrdiff_t stride = 0;
  std::vector<Strip> strips;
  std::vector<TopSum> sums;  // of each strip
};

ContrastPlane plan_contrast(const Analysis& analysis, const Levels& levels,
                            const ScaledPlane& plane, float* values) {
  ContrastPlane plan;
  plan.size = plane.size;
  plan.values = values;
  plan.stride = padded_stride(plane.size.width);
  const int count = divided_up(plane.size.width, kStripWidth);
  const int width = divided_up(divided_up(plane.size.width, count), kPad) * kPad;
  for (int x = 0; x < plane.size.width; x += width)
    plan.strips.push_back({plane.rows, plane.size.height, plane.size.width, analysis.radius(),
                           &levels, x, std::min(x + width, plane.size.width), values, plan.stride});
  plan.sums.resize(plan.strips.size());
  return plan;
}

// Exact sum of the k largest of more than k non-zero c-values: coarse bins of their bits, then fine
// ones inside the bin that holds the k-th.
std::uint64_t select_largest(const ContrastPlane& plane, std::int64_t k,
                             const MeasureContext& context) {
  const int parts = divided_up(plane.size.height, kRowsPerPart);
  const auto rows_of = [&](int part) {
    return std::pair(part * kRowsPerPart, std::min((part + 1) * kRowsPerPart, plane.size.height));
  };
  std::vector<std::atomic<std::uint32_t>> coarse(kCoarseBins);
  context.parallel(parts, [&](int part) {
    std::vector<std::uint32_t> own(2 * kCoarseBins);  // two, so that equal neighbours do not wait
    const auto [first, end] = rows_of(part);
    for (int y = first; y < end; ++y) {
      const float* row = plane.values + y * plane.stride;
      for (int x = 0; x < plane.size.width; ++x) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(row[x]);
        if (bits != 0) ++own[(x & 1) * kCoarseBins + ((bits - kHalfBits) >> kFineBits)];
      }
    }
    for (int i = 0; i < kCoarseBins; ++i) {
      const std::uint32_t count = own[i] + own[kCoarseBins + i];
      if (count != 0) coarse[i].fetch_add(count, std::memory_order_relaxed);
    }
  });
  std::uint32_t bin = kCoarseBins - 1;
  for (; coarse[bin] < k; --bin) k -= coarse[bin];

  std::vector<std::atomic<std::uint32_t>> fine(kFineBins);
  std::atomic<std::uint64_t> above{0};
  context.parallel(parts, [&](int part) {
    std::vector<std::uint32_t> own(kFineBins);
    std::uint64_t sum = 0;
    const auto [first, end] = rows_of(part);
    for (int y = first; y < end; ++y)
      sum += HWY_DYNAMIC_DISPATCH(SelectRow)(plane.values + y * plane.stride, plane.size.width, bin,
                                             own.data());
    above.fetch_add(sum, std::memory_order_relaxed);
    for (int i = 0; i < kFineBins; ++i)
      if (own[i] != 0) fine[i].fetch_add(own[i], std::memory_order_relaxed);
  });
  std::uint64_t units = above;
  for (std::uint32_t i = kFineBins; k > 0 && i-- > 0;) {
    const std::int64_t taken = std::min<std::int64_t>(fine[i], k);
    k -= taken;
    units += static_cast<std::uint64_t>(taken) * units_of_bits(kHalfBits + (bin << kFineBits) + i);
  }
  return units;
}

std::uint64_t pool(const Analysis& analysis, int scale, const ContrastPlane& plane,
                   const MeasureContext& context) {
  const std::int64_t k = analysis.pool_count(scale);
  if (analysis.upstream_pooling) {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(plane.size.pixels()));
    for (int y = 0; y < plane.size.height; ++y) {
      const float* row = plane.values + y * plane.stride;
      values.insert(values.end(), row, row + plane.size.width);
    }
    return std::bit_cast<std::uint64_t>(upstream_sum(std::move(values), k));
  }
  TopSum all;
  for (const TopSum& sum : plane.sums) {
    all.units += sum.units;
    all.nonzero += sum.nonzero;
  }
  return all.nonzero <= k ? all.units : select_largest(plane, k, context);
}

// The filtered planes of all scales, in one piece of memory.
class Pyramid {
 public:
  Pyramid(const Analysis& analysis, ScratchPool& pool) : memory_(pool, total(analysis)) {
    std::uint16_t* next = memory_.data() + kPad;
    for (int scale = 0; scale < kScales; ++scale) {
      const Size size = analysis.scale_size(scale);
      planes_[static_cast<std::size_t>(scale)] = {{next, padded_stride(size.width)}, size};
      next += samples(size);
    }
  }
  const ScaledPlane& operator[](int scale) const {
    return planes_[static_cast<std::size_t>(scale)];
  }

  static std::ptrdiff_t samples(Size size) { return padded_stride(size.width) * size.height; }

 private:
  static std::size_t total(const Analysis& analysis) {
    std::ptrdiff_t sum = kPad;
    for (int scale = 0; scale < kScales; ++scale) sum += samples(analysis.scale_size(scale));
    return static_cast<std::size_t>(sum);
  }
  ScratchArray<std::uint16_t> memory_;
  std::array<ScaledPlane, kScales> planes_;
};

void in_bands(int height, int rows, const MeasureContext& context,
              const std::function<void(int first, int end)>& band) {
  context.parallel(divided_up(height, rows),
                   [&](int i) { band(i * rows, std::min((i + 1) * rows, height)); });
}

void fill(const Pyramid& pyramid, const Analysis& analysis, const Levels& levels, const Plane& luma,
          const MeasureContext& context) {
  std::vector<int> columns, rows;
  Preparation preparation{&analysis, &luma, levels.unit, nullptr, nullptr, pyramid[0].rows};
  if (analysis.size != analysis.input) {
    columns = sample_positions(analysis.input.width, analysis.size.width);
    rows = sample_positions(analysis.input.height, analysis.size.height);
    preparation.columns = &columns;
    preparation.rows = &rows;
  }
  const int band_rows =
      std::max(16, kBandSamples / static_cast<int>(padded_stride(analysis.size.width)) /
                       (analysis.halve_first ? 2 : 1));
  in_bands(pyramid[0].size.height, band_rows, context, [&](int first, int end) {
    HWY_DYNAMIC_DISPATCH(PrepareBand)(preparation, first, end, context.scratch());
  });
  for (int scale = 1; scale < kScales; ++scale) {
    const Filtering filtering{pyramid[scale - 1].rows, 2, pyramid[scale].rows, pyramid[scale].size};
    in_bands(filtering.size.height, 2 * kRowsPerPart, context, [&](int first, int end) {
      HWY_DYNAMIC_DISPATCH(FilterBand)(filtering, first, end, context.scratch());
    });
  }
}

}  // namespace

bool any_sample_above(const Plane& luma, int peak, const MeasureContext& context) {
  std::atomic<bool> above{false};
  in_bands(luma.height, kRowsPerPart, context, [&](int first, int end) {
    for (int y = first; y < end; ++y)
      if (HWY_DYNAMIC_DISPATCH(RowAbove)(luma.row<std::uint16_t>(y), luma.width, peak))
        above = true;
  });
  return above;
}

Result<PooledSums> analyse_simd(const Analysis& analysis, const Plane& luma,
                                const MeasureContext& context, const MapSink& sink) {
  const Levels levels(analysis);
  const Pyramid pyramid(analysis, context.scratch());
  fill(pyramid, analysis, levels, luma, context);

  // The c-values of scale 0 need most memory; those of the other scales take their place together.
  std::ptrdiff_t small = 0;
  for (int scale = 1; scale < kScales; ++scale) small += Pyramid::samples(pyramid[scale].size);
  ScratchArray<float> values(context.scratch(), static_cast<std::size_t>(std::max(
                                                    Pyramid::samples(pyramid[0].size), small)));
  PooledSums sums{};
  for (const auto& [first, end] : {std::pair(0, 1), std::pair(1, kScales)}) {
    std::vector<ContrastPlane> planes;
    std::vector<std::pair<Strip*, TopSum*>> work;
    float* next = values.data();
    for (int scale = first; scale < end; ++scale) {
      planes.push_back(plan_contrast(analysis, levels, pyramid[scale], next));
      next += Pyramid::samples(pyramid[scale].size);
    }
    for (ContrastPlane& plane : planes)
      for (std::size_t i = 0; i < plane.strips.size(); ++i)
        work.emplace_back(&plane.strips[i], &plane.sums[i]);
    context.parallel(static_cast<int>(work.size()), [&](int i) {
      const auto& [strip, sum] = work[static_cast<std::size_t>(i)];
      *sum = HWY_DYNAMIC_DISPATCH(ContrastStrip)(*strip, context.scratch());
    });
    for (int scale = first; scale < end; ++scale) {
      const ContrastPlane& plane = planes[static_cast<std::size_t>(scale - first)];
      if (sink) VQX_RETURN_IF_ERROR(sink(scale, plane.values, plane.stride));
      sums[static_cast<std::size_t>(scale)] = pool(analysis, scale, plane, context);
    }
  }
  return sums;
}

}  // namespace vqx::cambi
#endif  // HWY_ONCE
