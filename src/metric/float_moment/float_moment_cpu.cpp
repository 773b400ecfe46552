// Sums of samples and of their squares with SIMD.  Lanes hold integers (or binary64 numbers that
// are integers below 2^53), so how samples spread over lanes never shows.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/simd.hpp"
#include "metric/float_moment/float_moment.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/float_moment/float_moment_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vqx::float_moment::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // a machine without SIMD, or with less than SSE4
Sums SumRows(const Plane& plane, int bit_depth, int first, int last) {
  return sum_rows_reference(plane, bit_depth, first, last);
}
#else

using Short = hn::ScalableTag<std::int16_t>;
using Word = hn::ScalableTag<std::int32_t>;
using Single = hn::ScalableTag<float>;
using Double = hn::ScalableTag<double>;

template <class D32>
std::uint64_t Total(D32 d32, hn::Vec<D32> v) {
  alignas(128) hn::TFromD<D32> lanes[hn::MaxLanes(d32)];
  hn::Store(v, d32, lanes);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < hn::Lanes(d32); ++i) total += static_cast<std::uint64_t>(lanes[i]);
  return total;
}

// Each of the following adds up vectors of samples.  kLimit is the number of vectors after which
// a lane could be full.  (Constructors are spelt out because GCC compiles implicit ones without the
// target's instructions.)

// Up to 12 bits: squares below 2^24, two to a lane and vector.
template <class Sample>
struct SumOfShorts {
  using Tag = hn::Rebind<Sample, Short>;
  static constexpr std::size_t kLimit = 64;
  hn::Vec<Word> first0, first1, second0, second1;

  SumOfShorts()
      : first0(hn::Zero(Word())),
        first1(hn::Zero(Word())),
        second0(hn::Zero(Word())),
        second1(hn::Zero(Word())) {}

  static hn::Vec<Short> ToShort(hn::Vec<Tag> v) {
    if constexpr (sizeof(Sample) == 1)
      return hn::PromoteTo(Short(), v);
    else
      return hn::BitCast(Short(), v);
  }
  void Add(hn::Vec<Tag> samples) {
    const Word d;
    const auto v = ToShort(samples);
    first0 = hn::ReorderWidenMulAccumulate(d, v, hn::Set(Short(), 1), first0, first1);
    second0 = hn::ReorderWidenMulAccumulate(d, v, v, second0, second1);
  }
  Sums Result() const {
    return {Total(Word(), hn::Add(first0, first1)),
            Total(Word(), second0) + Total(Word(), second1)};
  }
};

// 16 bits: samples below 2^16; squares rounded to binary32, integers of at most 2^32, of which
// binary64 adds 2^21 exactly.
struct SumOfFullShorts {
  using Tag = hn::ScalableTag<std::uint16_t>;
  using UnsignedWord = hn::ScalableTag<std::uint32_t>;
  static constexpr std::size_t kLimit = std::size_t{1} << 14;
  hn::Vec<UnsignedWord> first;
  hn::Vec<Double> second;

  SumOfFullShorts() : first(hn::Zero(UnsignedWord())), second(hn::Zero(Double())) {}

  void AddSquares(hn::Vec<UnsignedWord> v) {
    const Single f;
    const Double d;
    const auto x = hn::ConvertTo(f, hn::BitCast(Word(), v));
    const auto square = hn::Mul(x, x);
    second = hn::Add(second, hn::PromoteTo(d, hn::LowerHalf(square)));
    second = hn::Add(second, hn::PromoteTo(d, hn::UpperHalf(hn::Half<Single>(), square)));
  }
  void Add(hn::Vec<Tag> samples) {
    const UnsignedWord d;
    const auto both = hn::BitCast(d, samples);
    const auto even = hn::And(both, hn::Set(d, 0xFFFF));
    const auto odd = hn::ShiftRight<16>(both);
    first = hn::Add(first, hn::Add(even, odd));
    AddSquares(even);
    AddSquares(odd);
  }
  Sums Result() const {
    return {Total(UnsignedWord(), first),
            static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(Double(), second)))};
  }
};

template <class Sum>
void AddRow(const hn::TFromD<typename Sum::Tag>* row, std::size_t width, Sums& total) {
  using Sample = hn::TFromD<typename Sum::Tag>;
  const typename Sum::Tag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t x = 0;
  while (x < width) {
    Sum sum;
    const std::size_t vectors = std::min(Sum::kLimit - 1, (width - x) / lanes);
    for (std::size_t i = 0; i < vectors; ++i, x += lanes) sum.Add(hn::LoadU(d, row + x));
    if (width - x < lanes && x < width) {
      // Nothing beyond the row may be read; zeros add nothing.
      alignas(128) Sample tail[hn::MaxLanes(d)] = {};
      std::memcpy(tail, row + x, (width - x) * sizeof(Sample));
      sum.Add(hn::Load(d, tail));
      x = width;
    }
    const Sums part = sum.Result();
    total.first += part.first;
    total.second += part.second;
  }
}

template <class Sum>
Sums SumRowsAs(const Plane& plane, int first, int last) {
  Sums total;
  for (int y = first; y < last; ++y)
    AddRow<Sum>(plane.row<hn::TFromD<typename Sum::Tag> >(y), static_cast<std::size_t>(plane.width),
                total);
  return total;
}

Sums SumRows(const Plane& plane, int bit_depth, int first, int last) {
  if (bit_depth == 8) return SumRowsAs<SumOfShorts<std::uint8_t> >(plane, first, last);
  if (bit_depth <= 12) return SumRowsAs<SumOfShorts<std::uint16_t> >(plane, first, last);
  return SumRowsAs<SumOfFullShorts>(plane, first, last);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace vqx::float_moment::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::float_moment {
HWY_EXPORT(SumRows);

Sums sum_rows(const Plane& plane, int bit_depth, int first, int last) {
  if (simd_is_scalar()) return sum_rows_reference(plane, bit_depth, first, last);
  return HWY_DYNAMIC_DISPATCH(SumRows)(plane, bit_depth, first, last);
}

}  // namespace vqx::float_moment
#endif  // HWY_ONCE
