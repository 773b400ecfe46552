// float_ansnr with SIMD: both windows and the terms of a tile, whose running row sums go on from
// tile to tile.
#include <algorithm>

#include "metric/float_ansnr/float_ansnr.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/float_ansnr/float_ansnr_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/float_rows/float_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::float_ansnr::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace rows = float_rows::HWY_NAMESPACE;
using float_rows::Edge;
using float_rows::fold;
using F = hn::ScalableTag<float>;
using VF = hn::Vec<F>;

constexpr int kTileWidth = 256;  // of a tile's input
constexpr int kTileStride = kTileWidth + rows::kOverrun;

// The window whose first sample is in[0].  (It starts at products instead of at 0: see Correlate.)
template <int kTaps>
HWY_INLINE VF Window(const float* in, const float* window) {
  const F f;
  VF sum = hn::Zero(f);
  for (int j = 0; j < kTaps; ++j) {
    const float* row = in + j * kTileStride;
    VF row_sum = hn::Mul(hn::Set(f, window[j * kTaps]), hn::LoadU(f, row));
    for (int i = 1; i < kTaps; ++i)
      row_sum = hn::Add(row_sum, hn::Mul(hn::Set(f, window[j * kTaps + i]), hn::LoadU(f, row + i)));
    sum = hn::Add(sum, row_sum);
  }
  return sum;
}

void SumRows(const float_rows::Samples& reference, const float_rows::Samples& distorted, int first,
             int last, ScratchPool& pool, float* signal, float* noise) {
  const F f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  const int height = last - first;
  const int in_height = height + 2 * kRadius;
  const auto in_size = static_cast<std::size_t>(in_height) * kTileStride;
  const auto out_size = static_cast<std::size_t>(height) * kTileStride;
  ScratchArray<float> tiles(pool, 2 * (in_size + out_size));
  float* a = tiles.data();
  float* b = a + in_size;
  float* signal_terms = b + in_size;
  float* noise_terms = signal_terms + out_size;
  constexpr int kInset = kRadius - kSoftTaps / 2;  // of the smaller window in the larger one
  std::fill_n(signal, height, 0.0f);
  std::fill_n(noise, height, 0.0f);

  const int step = kTileWidth - 2 * kRadius;
  for (int x = 0; x < reference.width; x += step) {
    const int count = std::min(step, reference.width - x);
    for (int r = 0; r < in_height; ++r) {
      const int y = fold(first - kRadius + r, reference.height, Edge::kRepeatLast);
      rows::LoadRow(reference, y, x - kRadius, count + 2 * kRadius, Edge::kRepeatLast,
                    a + r * kTileStride);
      rows::LoadRow(distorted, y, x - kRadius, count + 2 * kRadius, Edge::kRepeatLast,
                    b + r * kTileStride);
    }
    for (int r = 0; r < height; ++r)
      for (int i = 0; i < count; i += lanes) {
        const std::ptrdiff_t at = r * kTileStride + i;
        const VF soft = Window<kSoftTaps>(a + at + kInset * (kTileStride + 1), soft_window());
        const VF gap = hn::Sub(soft, Window<kNoiseTaps>(b + at, noise_window()));
        hn::StoreU(hn::Mul(soft, soft), f, signal_terms + at);
        hn::StoreU(hn::Mul(gap, gap), f, noise_terms + at);
      }
    float_rows::add_to_row_sums(signal_terms, kTileStride, height, count, signal);
    float_rows::add_to_row_sums(noise_terms, kTileStride, height, count, noise);
  }
}

}  // namespace vqx::float_ansnr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::float_ansnr {
HWY_EXPORT(SumRows);

void sum_rows(const float_rows::Samples& reference, const float_rows::Samples& distorted, int first,
              int last, ScratchPool& pool, float* signal, float* noise) {
  HWY_DYNAMIC_DISPATCH(SumRows)(reference, distorted, first, last, pool, signal, noise);
}

}  // namespace vqx::float_ansnr
#endif  // HWY_ONCE
