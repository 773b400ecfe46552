// Terms of many blocks at once, one block a lane, and their rounded running sum.
//
// Up to 10 bits the transform runs in 16-bit lanes: every intermediate value of both passes stays
// within 8 * peak + 36 <= 8220 (bound by the positive and the negative parts of its linear form,
// plus all roundings), and each lifting step is the instruction (a * b + 2^14) >> 15, factors with
// smaller shifts doubled as needed.  12 bits can reach 32796 and run in 32-bit lanes.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/simd.hpp"
#include "metric/psnr_hvs/psnr_hvs.hpp"
#include "metric/psnr_hvs/psnr_hvs_math.hpp"

namespace vqx::psnr_hvs {
#ifndef VQX_PSNR_HVS_CPU_TYPES
#define VQX_PSNR_HVS_CPU_TYPES

// The terms of some blocks counted in steps of a binade.
struct StepCount {
  std::int64_t steps = 0;
  bool exact = true;     // no tie, and fewer than 2^24 steps
  bool all_zero = true;  // terms of 0 leave any sum as it is
};

// Steps per unit in the binade of `sum`, or 0 where there is no use in counting steps.
inline float steps_per_unit(float sum) {
  if (!(sum > 0x1p-100f && sum < 0x1p100f)) return 0;
  const int exponent = static_cast<int>(std::bit_cast<std::uint32_t>(sum) >> 23) - 127;
  return std::bit_cast<float>(static_cast<std::uint32_t>(23 - exponent + 127) << 23);
}

// Adds counted terms to `sum` if that is what adding them one by one gives.
inline bool add_steps(float& sum, const StepCount& count, float scale) {
  if (count.all_zero) return true;
  if (scale == 0 || scale != steps_per_unit(sum) || !count.exact) return false;
  const std::int64_t total = static_cast<std::int64_t>(sum * scale) + count.steps;
  if (total >= std::int64_t{1} << 24) return false;
  sum = static_cast<float>(total) / scale;
  return true;
}

#endif  // VQX_PSNR_HVS_CPU_TYPES
}  // namespace vqx::psnr_hvs

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/psnr_hvs/psnr_hvs_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vqx::psnr_hvs::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // less than SSE4: the plain code runs instead
std::size_t BlocksPerGroup() {
  return 2;
}
StepCount StripTerms(const PlanePair&, int, float, float*) {
  return {};
}
float AddStrip(float sum, const float* terms, std::size_t size, const StepCount&, float) {
  for (std::size_t i = 0; i < size; ++i) sum += terms[i];
  return sum;
}
#else

namespace hn = hwy::HWY_NAMESPACE;

using I16 = hn::ScalableTag<std::int16_t>;
using F32 = hn::ScalableTag<float>;
using I32 = hn::ScalableTag<std::int32_t>;

// Blocks are handled in groups of one lane of 16 bits each; terms are binary32 and come as
// [group][half][coefficient][lane], so that a half group is `kCoefficients` whole vectors.
constexpr std::size_t kLanes = hn::MaxLanes(I16());
constexpr std::size_t kFloatLanes = hn::MaxLanes(F32());
constexpr std::size_t kGroupValues = kCoefficients * kLanes;

// ---------------------------------------------------------------------------- samples to lanes

// Four vectors of 64-bit words, one word a lane, become four vectors of their 16-bit parts, one
// lane a word: lane 4i + k is word i of words[k].
void SplitWords(const std::uint64_t* words, hn::Vec<hn::ScalableTag<std::uint16_t> > (&part)[4]) {
  const hn::ScalableTag<std::uint64_t> d64;
  const hn::ScalableTag<std::uint32_t> d32;
  const hn::ScalableTag<std::uint16_t> d16;
  const std::size_t n = hn::Lanes(d64);
  const auto w0 = hn::Load(d64, words), w1 = hn::Load(d64, words + n);
  const auto w2 = hn::Load(d64, words + 2 * n), w3 = hn::Load(d64, words + 3 * n);
  const auto low = [&](auto even, auto odd) {
    return hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(odd)), hn::BitCast(d32, even));
  };
  const auto high = [&](auto even, auto odd) {
    return hn::OddEven(hn::BitCast(d32, odd), hn::BitCast(d32, hn::ShiftRight<32>(even)));
  };
  const auto low02 = low(w0, w2), low13 = low(w1, w3);
  const auto high02 = high(w0, w2), high13 = high(w1, w3);
  part[0] = hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(low13)), hn::BitCast(d16, low02));
  part[1] = hn::OddEven(hn::BitCast(d16, low13), hn::BitCast(d16, hn::ShiftRight<16>(low02)));
  part[2] = hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(high13)), hn::BitCast(d16, high02));
  part[3] = hn::OddEven(hn::BitCast(d16, high13), hn::BitCast(d16, hn::ShiftRight<16>(high02)));
}

// Samples of `count` blocks of a row of blocks, the first at column `x`: samples[8 * row + column]
// [lane].  Lanes beyond `count` are 0.
template <class Sample>
void LoadBlocks(const Plane& plane, int x, int y, std::size_t count, std::int16_t* samples) {
  const I16 d16;
  const hn::ScalableTag<std::uint16_t> du16;
  constexpr std::size_t kWords = sizeof(Sample);  // 64-bit words per row of a block
  alignas(128) std::uint64_t words[kBlock][kWords][kLanes];
  const std::size_t lanes = hn::Lanes(d16);
  if (count < lanes) std::memset(words, 0, sizeof(words));
  for (int row = 0; row < kBlock; ++row) {
    const Sample* in = plane.row<Sample>(y + row) + x;
    for (std::size_t block = 0; block < count; ++block, in += kStep)
      for (std::size_t w = 0; w < kWords; ++w)
        std::memcpy(&words[row][w][block % 4 * (lanes / 4) + block / 4], in + w * 4, 8);
  }
  hn::Vec<decltype(du16)> part[4];
  for (std::size_t row = 0; row < kBlock; ++row)
    for (std::size_t w = 0; w < kWords; ++w) {
      SplitWords(words[row][w], part);
      std::int16_t* out = samples + (8 * row + 4 * w) * lanes;
      for (std::size_t k = 0; k < 4; ++k) {
        if constexpr (kWords == 1) {
          const auto even = hn::And(part[k], hn::Set(du16, 0xFF));
          hn::Store(hn::BitCast(d16, even), d16, out + 2 * k * lanes);
          hn::Store(hn::BitCast(d16, hn::ShiftRight<8>(part[k])), d16, out + (2 * k + 1) * lanes);
        } else {
          hn::Store(hn::BitCast(d16, part[k]), d16, out + k * lanes);
        }
      }
    }
}

// ---------------------------------------------------------------------------------- transform

template <int factor, int shift>
hn::Vec<I16> Lift(I16 d, hn::Vec<I16> v) {
  constexpr int kFactor = factor << (15 - shift);
  static_assert(kFactor < 1 << 15);
  return hn::MulFixedPoint15(v, hn::Set(d, kFactor));
}
template <int factor, int shift>
hn::Vec<I32> Lift(I32 d, hn::Vec<I32> v) {
  const auto rounded = hn::Add(hn::Mul(v, hn::Set(d, factor)), hn::Set(d, 1 << (shift - 1)));
  return hn::ShiftRight<shift>(rounded);
}

// v / 2 toward zero.
template <class D, class V>
V Half(D d, V v) {
  const hn::RebindToUnsigned<D> du;
  constexpr int kSignBit = sizeof(hn::TFromD<D>) * 8 - 1;
  const auto is_negative = hn::BitCast(d, hn::ShiftRight<kSignBit>(hn::BitCast(du, v)));
  return hn::ShiftRight<1>(hn::Add(v, is_negative));
}

// transform8 of psnr_hvs_math.hpp.
template <class D, class V>
HWY_INLINE void Transform8(D d, V& x0, V& x1, V& x2, V& x3, V& x4, V& x5, V& x6, V& x7) {
  using hn::Add;
  using hn::Sub;
  V t0 = x0, t1 = x7, t2 = x2, t3 = x5, t4 = x1, t5 = x6, t6 = x3, t7 = x4;
  t1 = Sub(t0, t1);
  const V p = Half(d, t1);
  t0 = Sub(t0, p);
  t4 = Add(t4, t5);
  const V q = Half(d, t4);
  t5 = Sub(t5, q);
  t3 = Sub(t2, t3);
  t2 = Sub(t2, Half(d, t3));
  t6 = Add(t6, t7);
  const V r = Half(d, t6);
  t7 = Sub(r, t7);
  t0 = Add(t0, r);
  t6 = Sub(t0, t6);
  t2 = Sub(q, t2);
  t4 = Sub(t2, t4);
  t0 = Sub(t0, Lift<13573, 15>(d, t4));
  t4 = Add(t4, Lift<11585, 14>(d, t0));
  t0 = Sub(t0, Lift<13573, 15>(d, t4));
  t6 = Sub(t6, Lift<21895, 15>(d, t2));
  t2 = Add(t2, Lift<15137, 14>(d, t6));
  t6 = Sub(t6, Lift<21895, 15>(d, t2));
  t3 = Add(t3, Lift<19195, 15>(d, t5));
  t5 = Add(t5, Lift<11585, 14>(d, t3));
  t3 = Sub(t3, Lift<7489, 13>(d, t5));
  t7 = Sub(Half(d, t5), t7);
  t5 = Sub(t5, t7);
  t3 = Sub(p, t3);
  t1 = Sub(t1, t3);
  t7 = Add(t7, Lift<3227, 15>(d, t1));
  t1 = Sub(t1, Lift<6393, 15>(d, t7));
  t7 = Add(t7, Lift<3227, 15>(d, t1));
  t5 = Add(t5, Lift<2485, 13>(d, t3));
  t3 = Sub(t3, Lift<18205, 15>(d, t5));
  t5 = Add(t5, Lift<2485, 13>(d, t3));
  x0 = t0, x1 = t1, x2 = t2, x3 = t3, x4 = t4, x5 = t5, x6 = t6, x7 = t7;
}

hn::Vec<I16> LoadAs(I16 d, const std::int16_t* p) {
  return hn::Load(d, p);
}
hn::Vec<I32> LoadAs(I32 d, const std::int16_t* p) {
  return hn::PromoteTo(d, hn::Load(hn::Rebind<std::int16_t, I32>(), p));
}
hn::Vec<I32> LoadAs(I32 d, const std::int32_t* p) {
  return hn::Load(d, p);
}
hn::Vec<F32> LoadAs(F32 d, const std::int16_t* p) {
  return hn::ConvertTo(d, LoadAs(I32(), p));
}
hn::Vec<F32> LoadAs(F32 d, const std::int32_t* p) {
  return hn::ConvertTo(d, LoadAs(I32(), p));
}

// One pass over one vector of lanes: 8 values `stride` apart become 8 frequencies.
template <class D, class In>
void TransformLine(D d, const In* in, hn::TFromD<D>* out, std::size_t stride) {
  auto x0 = LoadAs(d, in), x1 = LoadAs(d, in + stride);
  auto x2 = LoadAs(d, in + 2 * stride), x3 = LoadAs(d, in + 3 * stride);
  auto x4 = LoadAs(d, in + 4 * stride), x5 = LoadAs(d, in + 5 * stride);
  auto x6 = LoadAs(d, in + 6 * stride), x7 = LoadAs(d, in + 7 * stride);
  Transform8(d, x0, x1, x2, x3, x4, x5, x6, x7);
  hn::Store(x0, d, out);
  hn::Store(x1, d, out + stride);
  hn::Store(x2, d, out + 2 * stride);
  hn::Store(x3, d, out + 3 * stride);
  hn::Store(x4, d, out + 4 * stride);
  hn::Store(x5, d, out + 5 * stride);
  hn::Store(x6, d, out + 6 * stride);
  hn::Store(x7, d, out + 7 * stride);
}

// All columns of all lanes, then all rows.
template <class Coefficient>
void TransformBlocks(const std::int16_t* samples, Coefficient* coefficients) {
  const hn::ScalableTag<Coefficient> d;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    Coefficient* out = coefficients + lane;
    for (std::size_t column = 0; column < kBlock; ++column)
      TransformLine(d, samples + lane + column * kLanes, out + column * kLanes, kBlock * kLanes);
    for (std::size_t row = 0; row < kBlock; ++row)
      TransformLine(d, out + row * kBlock * kLanes, out + row * kBlock * kLanes, kLanes);
  }
}

// ------------------------------------------------------------------------------------- terms

// spread_ratio of psnr_hvs_math.hpp.
hn::Vec<F32> SpreadRatio(const std::int16_t* samples) {
  const F32 d;
  using V = hn::Vec<F32>;
  V sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (std::size_t i = 0; i < kCoefficients; ++i) {
    const std::size_t quadrant = i / 32 + i % 8 / 4 * 2;
    sum[quadrant] = hn::Add(sum[quadrant], LoadAs(d, samples + i * kLanes));
  }
  const V total = hn::Add(hn::Add(hn::Add(sum[0], sum[1]), sum[2]), sum[3]);
  const V mean = hn::Mul(total, hn::Set(d, 1.0f / 64));  // a power of two: as exact as dividing
  V part_mean[4], part[4];
  for (std::size_t q = 0; q < 4; ++q) {
    part_mean[q] = hn::Mul(sum[q], hn::Set(d, 1.0f / 16));
    part[q] = hn::Zero(d);
  }
  V variance = hn::Zero(d);
  for (std::size_t i = 0; i < kCoefficients; ++i) {
    const std::size_t quadrant = i / 32 + i % 8 / 4 * 2;
    const V sample = LoadAs(d, samples + i * kLanes);
    const V deviation = hn::Sub(sample, mean);
    variance = hn::Add(variance, hn::Mul(deviation, deviation));
    const V part_deviation = hn::Sub(sample, part_mean[quadrant]);
    part[quadrant] = hn::Add(part[quadrant], hn::Mul(part_deviation, part_deviation));
  }
  variance = hn::Mul(variance, hn::Set(d, kBlockVariance));
  for (V& v : part) v = hn::Mul(v, hn::Set(d, kQuadrantVariance));
  const V inner = hn::Add(hn::Add(hn::Add(part[0], part[1]), part[2]), part[3]);
  return hn::IfThenElse(hn::Gt(variance, hn::Zero(d)), hn::Div(inner, variance), variance);
}

// masking_threshold of psnr_hvs_math.hpp.  A squared coefficient is below 2^31, so rounding its
// product in binary32 is rounding the integer.
template <class Coefficient>
hn::Vec<F32> MaskingThreshold(const Coefficient* coefficients, hn::Vec<F32> ratio,
                              const float* mask) {
  const F32 d;
  auto energy = hn::Zero(d);
  for (std::size_t i = 1; i < kCoefficients; ++i) {
    const auto x = LoadAs(d, coefficients + i * kLanes);
    energy = hn::Add(energy, hn::Mul(hn::Mul(x, x), hn::Set(d, mask[i])));
  }
  return hn::Mul(hn::Sqrt(hn::Mul(energy, ratio)), hn::Set(d, 1.0f / 32));
}

// Terms of half a group.  The difference of two coefficients is exact in binary32.
template <class Coefficient>
void HalfGroupTerms(const std::int16_t* const samples[2], const Coefficient* const coefficients[2],
                    const Weights& weights, float* terms) {
  const F32 d;
  const auto a = MaskingThreshold(coefficients[0], SpreadRatio(samples[0]), weights.mask);
  const auto b = MaskingThreshold(coefficients[1], SpreadRatio(samples[1]), weights.mask);
  const auto threshold = hn::IfThenElse(hn::Gt(b, a), b, a);
  for (std::size_t i = 0; i < kCoefficients; ++i) {
    auto error = hn::Abs(
        hn::Sub(LoadAs(d, coefficients[0] + i * kLanes), LoadAs(d, coefficients[1] + i * kLanes)));
    if (i > 0) {
      const auto hidden = hn::Div(threshold, hn::Set(d, weights.mask[i]));
      error = hn::IfThenZeroElse(hn::Lt(error, hidden), hn::Sub(error, hidden));
    }
    error = hn::Mul(error, hn::Set(d, weights.csf[i]));
    hn::Store(hn::Mul(error, error), d, terms + i * kFloatLanes);
  }
}

template <class Sample, class Coefficient>
void GroupTerms(const PlanePair& planes, int x, int y, std::size_t count, float* terms) {
  alignas(128) std::int16_t samples[2][kGroupValues];
  alignas(128) Coefficient coefficients[2][kGroupValues];
  LoadBlocks<Sample>(planes.reference, x, y, count, samples[0]);
  LoadBlocks<Sample>(planes.distorted, x, y, count, samples[1]);
  for (int side = 0; side < 2; ++side) TransformBlocks(samples[side], coefficients[side]);
  for (std::size_t lane = 0; lane < kLanes; lane += kFloatLanes) {
    const std::int16_t* const half_samples[2] = {samples[0] + lane, samples[1] + lane};
    const Coefficient* const half[2] = {coefficients[0] + lane, coefficients[1] + lane};
    HalfGroupTerms(half_samples, half, planes.weights, terms + lane * kCoefficients);
  }
}

// --------------------------------------------------------------------------------------- sums

// Counts `vectors` vectors of terms in steps of 1 / scale.
StepCount CountSteps(const float* terms, std::size_t vectors, float scale) {
  const F32 d;
  const I32 di;
  const hn::ScalableTag<std::int64_t> d64;
  const auto full = hn::Set(d, 0x1p24f);  // as many steps as a binade has at most
  auto largest = hn::Zero(d);
  auto worst = hn::Zero(d);
  auto total = hn::Zero(d64);
  const auto step = hn::Set(d, scale == 0 ? 1.0f : scale);
  for (std::size_t done = 0; done < vectors;) {
    const std::size_t end = std::min(vectors, done + 64);  // 64 * 2^24 fit a lane
    auto steps = hn::Zero(di);
    for (; done < end; ++done) {
      const auto exact = hn::Min(hn::Mul(hn::Load(d, terms + done * kFloatLanes), step), full);
      const auto rounded = hn::NearestInt(exact);
      steps = hn::Add(steps, rounded);
      worst = hn::Max(worst, hn::Abs(hn::Sub(exact, hn::ConvertTo(d, rounded))));
      largest = hn::Max(largest, exact);
    }
    const auto pairs = hn::BitCast(d64, steps);
    total = hn::Add(total, hn::And(pairs, hn::Set(d64, 0xFFFFFFFF)));
    total = hn::Add(total, hn::ShiftRight<32>(pairs));
  }
  StepCount count;
  count.steps = hn::GetLane(hn::SumOfLanes(d64, total));
  count.exact = hn::GetLane(hn::MaxOfLanes(d, worst)) < 0.5f && count.steps < 1 << 24;
  count.all_zero = hn::GetLane(hn::MaxOfLanes(d, largest)) == 0;
  return count;
}

std::size_t BlocksPerGroup() {
  return kLanes;
}

// Terms of the row of blocks at `y`, and their count in steps of 1 / scale.
StepCount StripTerms(const PlanePair& planes, int y, float scale, float* terms) {
  const auto blocks = static_cast<std::size_t>(block_count(planes.reference.width));
  float* out = terms;
  for (std::size_t first = 0; first < blocks; first += kLanes, out += kGroupValues) {
    const std::size_t count = std::min(kLanes, blocks - first);
    const int x = static_cast<int>(first) * kStep;
    if (planes.bit_depth == 8)
      GroupTerms<std::uint8_t, std::int16_t>(planes, x, y, count, out);
    else if (planes.bit_depth == 10)
      GroupTerms<std::uint16_t, std::int16_t>(planes, x, y, count, out);
    else
      GroupTerms<std::uint16_t, std::int32_t>(planes, x, y, count, out);
  }
  return CountSteps(terms, static_cast<std::size_t>(out - terms) / kFloatLanes, scale);
}

// Continues the running sum over a strip, as adding its terms one by one in block order would.
float AddStrip(float sum, const float* terms, std::size_t size, const StepCount& count,
               float scale) {
  if (add_steps(sum, count, scale)) return sum;
  for (const float* half = terms; half < terms + size; half += kCoefficients * kFloatLanes) {
    const float finer = steps_per_unit(sum);
    if (add_steps(sum, CountSteps(half, kCoefficients, finer), finer)) continue;
    for (std::size_t lane = 0; lane < kFloatLanes; ++lane)
      for (std::size_t i = 0; i < kCoefficients; ++i) sum += half[i * kFloatLanes + lane];
  }
  return sum;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace vqx::psnr_hvs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::psnr_hvs {
HWY_EXPORT(BlocksPerGroup);
HWY_EXPORT(StripTerms);
HWY_EXPORT(AddStrip);

// Rows of blocks are worked on in waves: a wave's rows in parallel, counting steps of the binade in
// which the wave starts, then its terms are added in order.  The sum's binade changes ever more
// slowly, so waves grow, up to what a cache holds.
float sum_plane(const MeasureContext& context, const PlanePair& planes) {
  const int rows = block_count(planes.reference.height);
  const auto columns = static_cast<std::size_t>(block_count(planes.reference.width));
  if (rows == 0 || columns == 0) return 0;
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(BlocksPerGroup)();
  const std::size_t strip = (columns + lanes - 1) / lanes * lanes * kCoefficients;
  const int longest_wave = std::max(32, context.concurrency());
  ScratchArray<float> terms(context.scratch(),
                            static_cast<std::size_t>(std::min(rows, longest_wave)) * strip);
  std::vector<StepCount> counts(static_cast<std::size_t>(longest_wave));
  float sum = 0;
  for (int done = 0; done < rows;) {
    const int wave = std::min({rows - done, longest_wave, std::max(done, context.concurrency())});
    const float scale = steps_per_unit(sum);
    context.parallel(wave, [&](int i) {
      const auto row = static_cast<std::size_t>(i);
      counts[row] = HWY_DYNAMIC_DISPATCH(StripTerms)(planes, (done + i) * kStep, scale,
                                                     terms.data() + row * strip);
    });
    for (std::size_t row = 0; row < static_cast<std::size_t>(wave); ++row)
      sum = HWY_DYNAMIC_DISPATCH(AddStrip)(sum, terms.data() + row * strip, strip, counts[row],
                                           scale);
    done += wave;
  }
  return sum;
}

float continue_sum(float sum, const float* terms, std::size_t size) {
  const StepCount not_counted{.all_zero = false};
  return HWY_DYNAMIC_DISPATCH(AddStrip)(sum, terms, size, not_counted, 0);
}

std::size_t term_lanes() {
  return HWY_DYNAMIC_DISPATCH(BlocksPerGroup)() / 2;
}

}  // namespace vqx::psnr_hvs
#endif  // HWY_ONCE
