// float_vif with SIMD.  Work is cut into tiles whose samples, products and moments stay in an L2
// cache; the running sums of rows go on from tile to tile.
#include <algorithm>

#include "metric/float_vif/float_vif.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/float_vif/float_vif_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/float_rows/float_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::float_vif::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace rows = float_rows::HWY_NAMESPACE;
using float_rows::Edge;
using float_rows::fold;

constexpr int kTileWidth = 256;  // of a tile's input; the widest window has 65 taps
constexpr int kTileStride = kTileWidth + rows::kOverrun;
constexpr int kMoments = 5;

#if HWY_TARGET != HWY_SCALAR
using F = hn::ScalableTag<float>;
using D = hn::ScalableTag<double>;
using U = hn::RebindToUnsigned<F>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VD = hn::Vec<D>;

HWY_INLINE VF Log2(VF v) {
  const F f;
  const U u;
  const auto bits = hn::BitCast(u, v);
  const auto fraction = hn::Or(hn::And(bits, hn::Set(u, 0x7FFFFF)), hn::Set(u, 0x3F800000));
  const VF t = hn::Sub(hn::BitCast(f, fraction), hn::Set(f, 1));
  VF sum = hn::Set(f, log_coefficient(0));
  for (int i = 1; i < kLogDegree; ++i)
    sum = hn::Add(hn::Mul(sum, t), hn::Set(f, log_coefficient(i)));
  sum = hn::Mul(sum, t);
  const auto biased = hn::And(hn::ShiftRight<23>(bits), hn::Set(u, 255));
  const auto exponent = hn::Sub(hn::BitCast(I(), biased), hn::Set(I(), 127));
  return hn::Add(hn::ConvertTo(f, exponent), sum);
}

// Both halves of a vector through binary64: quotient(low or high half as binary64, which half).
template <class Quotient>
HWY_INLINE VF OnePlus(const Quotient& quotient) {
  const hn::Half<F> half;
  const VD one = hn::Set(D(), 1.0);
  const auto low = hn::DemoteTo(half, hn::Add(one, quotient(false)));
  const auto high = hn::DemoteTo(half, hn::Add(one, quotient(true)));
  return hn::Combine(F(), high, low);
}

HWY_INLINE VD Half(VF v, bool upper) {
  const hn::Half<F> half;
  return upper ? hn::PromoteTo(D(), hn::UpperHalf(half, v))
               : hn::PromoteTo(D(), hn::LowerHalf(half, v));
}

HWY_INLINE void ScoreVector(const float* const* moments, int x, const Channel& channel, float* num,
                            float* den) {
  const F f;
  const VF zero = hn::Zero(f), one = hn::Set(f, 1), tiny = hn::Set(f, kTiny);
  const VD noise = hn::Set(D(), channel.noise);
  const VF mean_a = hn::LoadU(f, moments[0] + x), mean_b = hn::LoadU(f, moments[1] + x);
  VF s11 = hn::Sub(hn::LoadU(f, moments[2] + x), hn::Mul(mean_a, mean_a));
  VF s22 = hn::Sub(hn::LoadU(f, moments[3] + x), hn::Mul(mean_b, mean_b));
  const VF s12 = hn::Sub(hn::LoadU(f, moments[4] + x), hn::Mul(mean_a, mean_b));
  s11 = hn::Max(s11, zero);
  s22 = hn::Max(s22, zero);
  VF gain = hn::Div(s12, hn::Add(s11, tiny));
  VF rest = hn::Sub(s22, hn::Mul(gain, s12));

  const auto still_a = hn::Lt(s11, tiny);
  gain = hn::IfThenZeroElse(still_a, gain);
  rest = hn::IfThenElse(still_a, s22, rest);
  s11 = hn::IfThenZeroElse(still_a, s11);
  const auto still_b = hn::Lt(s22, tiny);
  gain = hn::IfThenZeroElse(still_b, gain);
  rest = hn::IfThenZeroElse(still_b, rest);
  const auto inverted = hn::Lt(gain, zero);
  rest = hn::IfThenElse(inverted, s22, rest);
  gain = hn::IfThenZeroElse(inverted, gain);
  rest = hn::Max(rest, tiny);
  gain = hn::Min(gain, hn::Set(f, channel.gain_limit));

  const VF passed = hn::Mul(hn::Mul(gain, gain), s11);
  const VF explained = OnePlus(
      [&](bool upper) { return hn::Div(Half(passed, upper), hn::Add(Half(rest, upper), noise)); });
  const VF all = OnePlus([&](bool upper) { return hn::Div(Half(s11, upper), noise); });
  const auto flat = hn::Lt(s11, hn::Set(f, channel.flat_below));
  const VF busy_num = hn::IfThenZeroElse(hn::Lt(s12, zero), Log2(explained));
  const VF flat_num = hn::Sub(one, hn::Mul(s22, hn::Set(f, channel.flat_slope)));
  hn::StoreU(hn::IfThenElse(flat, flat_num, busy_num), f, num + x);
  hn::StoreU(hn::IfThenElse(flat, one, Log2(all)), f, den + x);
}

HWY_INLINE void ScoreTileRow(const float* const* moments, const Channel& channel, int count,
                             float* num, float* den) {
  const int lanes = static_cast<int>(hn::Lanes(F()));
  for (int x = 0; x < count; x += lanes) ScoreVector(moments, x, channel, num, den);
}
#else   // a machine without SIMD, or with less than SSE4
HWY_INLINE void ScoreTileRow(const float* const* moments, const Channel& channel, int count,
                             float* num, float* den) {
  const auto noise = kernel::HardwareReal64::from_bits(kernel::double_bits(channel.noise));
  for (int x = 0; x < count; ++x) {
    const Terms terms =
        score({moments[0][x], moments[1][x], moments[2][x], moments[3][x], moments[4][x]}, channel,
              noise);
    num[x] = terms.num;
    den[x] = terms.den;
  }
}
#endif  // HWY_TARGET != HWY_SCALAR

HWY_INLINE void Multiply(const float* a, const float* b, int count, float* out) {
  const hn::ScalableTag<float> f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  for (int x = 0; x < count; x += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(f, a + x), hn::LoadU(f, b + x)), f, out + x);
}

void ScoreRows(const float_rows::Samples& reference, const float_rows::Samples& distorted,
               const std::vector<float>& taps, const std::vector<Channel>& channels, int first,
               int last, ScratchPool& pool, const std::vector<RowSums>& sums) {
  const int tap_count = static_cast<int>(taps.size());
  const int radius = tap_count / 2;
  const int height = last - first;
  const int in_height = height + 2 * radius;
  const auto in_size = static_cast<std::size_t>(in_height) * kTileStride;
  const auto out_size = static_cast<std::size_t>(height) * kTileStride;
  ScratchArray<float> tiles(pool, 3 * in_size + (kMoments + 2) * out_size);
  float* a = tiles.data();
  float* b = a + in_size;
  float* product = b + in_size;
  float* moments = product + in_size;
  float* num = moments + kMoments * out_size;
  float* den = num + out_size;
  alignas(128) float line[kTileStride] = {};

  const int step = kTileWidth - 2 * radius;
  for (int x = 0; x < reference.width; x += step) {
    const int count = std::min(step, reference.width - x);
    const int in_count = count + 2 * radius;
    for (int r = 0; r < in_height; ++r) {
      const int y = fold(first - radius + r, reference.height, Edge::kReflect);
      rows::LoadRow(reference, y, x - radius, in_count, Edge::kReflect, a + r * kTileStride);
      rows::LoadRow(distorted, y, x - radius, in_count, Edge::kReflect, b + r * kTileStride);
    }
    const float* const factors[kMoments][2] = {{a}, {b}, {a, a}, {b, b}, {a, b}};
    for (int m = 0; m < kMoments; ++m) {
      const auto& [left, right] = factors[m];
      for (int r = 0; right != nullptr && r < in_height; ++r)
        Multiply(left + r * kTileStride, right + r * kTileStride, in_count,
                 product + r * kTileStride);
      const float* in = right == nullptr ? left : product;
      for (int r = 0; r < height; ++r)
        rows::FilterTileRow(in + r * kTileStride, kTileStride, taps.data(), tap_count, count, line,
                            moments + static_cast<std::ptrdiff_t>(m * out_size) + r * kTileStride);
    }
    for (std::size_t c = 0; c < channels.size(); ++c) {
      for (int r = 0; r < height; ++r) {
        const float* row[kMoments];
        for (std::size_t m = 0; m < kMoments; ++m)
          row[m] = moments + m * out_size + static_cast<std::size_t>(r) * kTileStride;
        ScoreTileRow(row, channels[c], count, num + r * kTileStride, den + r * kTileStride);
      }
      float_rows::add_to_row_sums(num, kTileStride, height, count, sums[c].num + first);
      float_rows::add_to_row_sums(den, kTileStride, height, count, sums[c].den + first);
    }
  }
}

// Even and odd positions of a row part: tap k of kept column x reads position 2 x + k.
HWY_INLINE void Deinterleave(const float* in, int count, float* even, float* odd) {
  const hn::ScalableTag<float> f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  for (int x = 0; x < count; x += lanes) {
    hn::Vec<decltype(f)> low, high;
    hn::LoadInterleaved2(f, in + 2 * x, low, high);
    hn::StoreU(low, f, even + x);
    hn::StoreU(high, f, odd + x);
  }
}

void HalveRows(const float_rows::Samples& in, const std::vector<float>& taps, int width, int first,
               int last, ScratchPool& pool, float* out, std::ptrdiff_t stride) {
  const int tap_count = static_cast<int>(taps.size());
  const int radius = tap_count / 2;
  const int in_height = 2 * (last - first) - 1 + 2 * radius;
  ScratchArray<float> tile(pool, static_cast<std::size_t>(in_height) * kTileStride);
  alignas(128) float line[2 * kTileStride] = {};
  alignas(128) float even[kTileStride] = {}, odd[kTileStride] = {};
  const int step = (kTileWidth - 2 * radius) / 2;
  for (int x = 0; x < width; x += step) {
    const int count = std::min(step, width - x);
    const int in_count = 2 * count - 1 + 2 * radius;
    for (int r = 0; r < in_height; ++r)
      rows::LoadRow(in, fold(2 * first - radius + r, in.height, Edge::kReflect), 2 * x - radius,
                    in_count, Edge::kReflect, tile.data() + r * kTileStride);
    for (int y = first; y < last; ++y) {
      const float* top = tile.data() + 2 * (y - first) * kTileStride;
      rows::Correlate([=](int k) { return top + k * kTileStride; }, taps.data(), tap_count,
                      in_count, line);
      Deinterleave(line, (in_count + 1) / 2, even, odd);
      rows::Correlate([&](int k) { return (k % 2 == 0 ? even : odd) + k / 2; }, taps.data(),
                      tap_count, count, out + y * stride + x);
    }
  }
}

}  // namespace vqx::float_vif::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::float_vif {
HWY_EXPORT(ScoreRows);
HWY_EXPORT(HalveRows);

void score_rows(const float_rows::Samples& reference, const float_rows::Samples& distorted,
                const std::vector<float>& taps, const std::vector<Channel>& channels, int first,
                int last, ScratchPool& pool, const std::vector<RowSums>& sums) {
  HWY_DYNAMIC_DISPATCH(ScoreRows)
  (reference, distorted, taps, channels, first, last, pool, sums);
}

void halve_rows(const float_rows::Samples& in, const std::vector<float>& taps, int width, int first,
                int last, ScratchPool& pool, float* out, std::ptrdiff_t stride) {
  HWY_DYNAMIC_DISPATCH(HalveRows)(in, taps, width, first, last, pool, out, stride);
}

}  // namespace vqx::float_vif
#endif  // HWY_ONCE
