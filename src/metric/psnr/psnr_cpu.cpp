// Sums of squared differences with SIMD.  Lanes hold integers (or binary64 numbers that are
// integers below 2^53), so how samples spread over lanes never shows.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/simd.hpp"
#include "metric/psnr/psnr.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/psnr/psnr_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vqx::psnr::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // a machine without SIMD, or with less than SSE4
std::uint64_t SumRows(const Plane& reference, const Plane& distorted, int bit_depth, Term term,
                      int first, int last) {
  return sum_rows_reference(reference, distorted, bit_depth, term, first, last);
}
#else

using Wide = hn::ScalableTag<std::uint64_t>;
using Word = hn::ScalableTag<std::uint32_t>;
using Pair = hn::ScalableTag<std::uint16_t>;
using Signed = hn::ScalableTag<std::int32_t>;

// Adds both 32-bit halves of each lane of `v`.
template <class V32>
hn::Vec<Wide> AddHalves(hn::Vec<Wide> total, V32 v) {
  const Wide d;
  const auto both = hn::BitCast(d, v);
  const auto low = hn::And(both, hn::Set(d, 0xFFFFFFFF));
  return hn::Add(total, hn::Add(low, hn::ShiftRight<32>(both)));
}

template <class V>
V AbsoluteDifference(V a, V b) {
  return hn::Sub(hn::Max(a, b), hn::Min(a, b));
}

// Each of the following adds up vectors of samples.  kLimit is the number of vectors after which
// a lane could be full; Total() is asked no later than that.  (Constructors are spelt out because
// GCC compiles implicit ones without the target's instructions.)

// 8 bits: squares below 2^16, four to a lane and vector.
struct SumOfBytes {
  using Tag = hn::ScalableTag<std::uint8_t>;
  static constexpr std::size_t kLimit = std::size_t{1} << 13;
  const Signed d32;
  hn::Vec<Signed> sum0, sum1;

  SumOfBytes() : sum0(hn::Zero(Signed())), sum1(hn::Zero(Signed())) {}

  void Add(hn::Vec<Tag> a, hn::Vec<Tag> b) {
    const hn::ScalableTag<std::int16_t> d16;
    const auto d = hn::BitCast(Pair(), AbsoluteDifference(a, b));
    const auto even = hn::BitCast(d16, hn::And(d, hn::Set(Pair(), 0xFF)));
    const auto odd = hn::BitCast(d16, hn::ShiftRight<8>(d));
    sum0 = hn::ReorderWidenMulAccumulate(d32, even, even, sum0, sum1);
    sum0 = hn::ReorderWidenMulAccumulate(d32, odd, odd, sum0, sum1);
  }
  std::uint64_t Total() const {
    const auto total = AddHalves(AddHalves(hn::Zero(Wide()), sum0), sum1);
    return hn::GetLane(hn::SumOfLanes(Wide(), total));
  }
};

// Up to 12 bits: squares below 2^24, two to a lane and vector.
struct SumOfShorts {
  using Tag = Pair;
  static constexpr std::size_t kLimit = 64;
  const Signed d32;
  hn::Vec<Signed> sum0, sum1;

  SumOfShorts() : sum0(hn::Zero(Signed())), sum1(hn::Zero(Signed())) {}

  void Add(hn::Vec<Tag> a, hn::Vec<Tag> b) {
    const auto d = hn::BitCast(hn::ScalableTag<std::int16_t>(), hn::Sub(a, b));
    sum0 = hn::ReorderWidenMulAccumulate(d32, d, d, sum0, sum1);
  }
  std::uint64_t Total() const {
    const auto total = AddHalves(AddHalves(hn::Zero(Wide()), sum0), sum1);
    return hn::GetLane(hn::SumOfLanes(Wide(), total));
  }
};

// 16 bits: the 16-bit halves of the squares are summed apart, two to a lane and vector.
struct SumOfFullShorts {
  using Tag = Pair;
  static constexpr std::size_t kLimit = std::size_t{1} << 15;
  hn::Vec<Word> low, high;

  SumOfFullShorts() : low(hn::Zero(Word())), high(hn::Zero(Word())) {}

  static hn::Vec<Word> AddPairs(hn::Vec<Word> sum, hn::Vec<Pair> v) {
    const Word d;
    const auto both = hn::BitCast(d, v);
    return hn::Add(hn::Add(sum, hn::And(both, hn::Set(d, 0xFFFF))), hn::ShiftRight<16>(both));
  }
  void Add(hn::Vec<Tag> a, hn::Vec<Tag> b) {
    const auto d = AbsoluteDifference(a, b);
    low = AddPairs(low, hn::Mul(d, d));
    high = AddPairs(high, hn::MulHigh(d, d));
  }
  std::uint64_t Total() const {
    const auto lows = AddHalves(hn::Zero(Wide()), low);
    const auto highs = AddHalves(hn::Zero(Wide()), high);
    return hn::GetLane(hn::SumOfLanes(Wide(), hn::Add(lows, hn::ShiftLeft<16>(highs))));
  }
};

// 16 bits, squares rounded to binary32: integers below 2^32, at most 2^21 of them exact in
// binary64.
struct SumOfRoundedSquares {
  using Tag = Pair;
  using Double = hn::ScalableTag<double>;
  static constexpr std::size_t kLimit = std::size_t{1} << 14;
  hn::Vec<Double> sum;

  SumOfRoundedSquares() : sum(hn::Zero(Double())) {}

  void AddSquares(hn::Vec<Word> d) {
    const hn::ScalableTag<float> df;
    const Double dd;
    const auto f = hn::ConvertTo(df, hn::BitCast(hn::ScalableTag<std::int32_t>(), d));
    const auto square = hn::Mul(f, f);
    sum = hn::Add(sum, hn::PromoteTo(dd, hn::LowerHalf(square)));
    sum = hn::Add(sum, hn::PromoteTo(dd, hn::UpperHalf(hn::Half<decltype(df)>(), square)));
  }
  void Add(hn::Vec<Tag> a, hn::Vec<Tag> b) {
    const Word d32;
    const auto d = hn::BitCast(d32, AbsoluteDifference(a, b));
    AddSquares(hn::And(d, hn::Set(d32, 0xFFFF)));
    AddSquares(hn::ShiftRight<16>(d));
  }
  std::uint64_t Total() const {
    return static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(Double(), sum)));
  }
};

template <class Sum>
std::uint64_t SumRow(const hn::TFromD<typename Sum::Tag>* a, const hn::TFromD<typename Sum::Tag>* b,
                     std::size_t width) {
  using Sample = hn::TFromD<typename Sum::Tag>;
  const typename Sum::Tag d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t total = 0;
  std::size_t x = 0;
  while (x + lanes <= width) {
    const std::size_t vectors = std::min(Sum::kLimit, (width - x) / lanes);
    Sum sum;
    for (std::size_t i = 0; i < vectors; ++i, x += lanes)
      sum.Add(hn::LoadU(d, a + x), hn::LoadU(d, b + x));
    total += sum.Total();
  }
  if (x < width) {
    // Nothing beyond the row may be read; zeros on both sides add nothing.
    alignas(128) Sample tail_a[hn::MaxLanes(d)] = {};
    alignas(128) Sample tail_b[hn::MaxLanes(d)] = {};
    std::memcpy(tail_a, a + x, (width - x) * sizeof(Sample));
    std::memcpy(tail_b, b + x, (width - x) * sizeof(Sample));
    Sum sum;
    sum.Add(hn::Load(d, tail_a), hn::Load(d, tail_b));
    total += sum.Total();
  }
  return total;
}

template <class Sum>
std::uint64_t SumRowsAs(const Plane& reference, const Plane& distorted, int first, int last) {
  using Sample = hn::TFromD<typename Sum::Tag>;
  std::uint64_t total = 0;
  for (int y = first; y < last; ++y)
    total += SumRow<Sum>(reference.row<Sample>(y), distorted.row<Sample>(y),
                         static_cast<std::size_t>(reference.width));
  return total;
}

std::uint64_t SumRows(const Plane& reference, const Plane& distorted, int bit_depth, Term term,
                      int first, int last) {
  if (bit_depth == 8) return SumRowsAs<SumOfBytes>(reference, distorted, first, last);
  if (bit_depth <= 12) return SumRowsAs<SumOfShorts>(reference, distorted, first, last);
  if (term == Term::kExact) return SumRowsAs<SumOfFullShorts>(reference, distorted, first, last);
  return SumRowsAs<SumOfRoundedSquares>(reference, distorted, first, last);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace vqx::psnr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::psnr {
HWY_EXPORT(SumRows);

std::uint64_t sum_rows(const Plane& reference, const Plane& distorted, int bit_depth, Term term,
                       int first, int last) {
  if (simd_is_scalar())
    return sum_rows_reference(reference, distorted, bit_depth, term, first, last);
  return HWY_DYNAMIC_DISPATCH(SumRows)(reference, distorted, bit_depth, term, first, last);
}

std::uint64_t sum_plane(const MeasureContext& context, int plane, Term term) {
  const Frame& frame = context.frame();
  const Plane& reference = frame.reference().plane(plane);
  const Plane& distorted = frame.distorted().plane(plane);
  if (reference.width == 0 || reference.height == 0) return 0;
  constexpr int kBandSamples = 1 << 18;
  const int rows = std::max(1, kBandSamples / reference.width);
  const int bands = (reference.height + rows - 1) / rows;
  std::vector<std::uint64_t> partial(static_cast<std::size_t>(bands));
  context.parallel(bands, [&](int band) {
    const int first = band * rows;
    partial[static_cast<std::size_t>(band)] =
        sum_rows(reference, distorted, frame.reference().format().bit_depth, term, first,
                 std::min(first + rows, reference.height));
  });
  std::uint64_t total = 0;
  for (const std::uint64_t part : partial) total += part;
  return total;
}

}  // namespace vqx::psnr
#endif  // HWY_ONCE
