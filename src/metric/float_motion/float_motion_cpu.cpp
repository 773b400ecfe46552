// float_motion with SIMD: blurs in tiles, and differences added up row by row.
#include <algorithm>

#include "metric/float_motion/float_motion.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/float_motion/float_motion_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/float_rows/float_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::float_motion::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace rows = float_rows::HWY_NAMESPACE;
using float_rows::Edge;
using float_rows::fold;

constexpr int kTileWidth = 512;  // a tile's input: 36 rows of 2 KiB
constexpr int kTileStride = kTileWidth + rows::kOverrun;

void BlurRows(const float_rows::Samples& in, const Taps& taps, int first, int last,
              ScratchPool& pool, FloatImage& out) {
  const int radius = taps.count / 2;
  ScratchArray<float> tile(pool, static_cast<std::size_t>(last - first + 2 * radius) * kTileStride);
  alignas(128) float line[kTileStride] = {};
  for (int x = 0; x < in.width; x += kTileWidth - 2 * radius) {
    const int count = std::min(kTileWidth - 2 * radius, in.width - x);
    for (int y = first - radius; y < last + radius; ++y)
      rows::LoadRow(in, fold(y, in.height, Edge::kReflect), x - radius, count + 2 * radius,
                    Edge::kReflect, tile.data() + (y - first + radius) * kTileStride);
    for (int y = first; y < last; ++y)
      rows::FilterTileRow(tile.data() + (y - first) * kTileStride, kTileStride, taps.tap,
                          taps.count, count, line, out.row(y) + x);
  }
}

void DifferenceRows(const FloatImage& a, const FloatImage& b, int first, int last, float* sums) {
  constexpr int kRows = 8;
  const hn::ScalableTag<float> f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  alignas(128) float terms[kRows * kTileStride];
  for (int y = first; y < last; y += kRows) {
    const int height = std::min(kRows, last - y);
    float* band_sums = sums + (y - first);
    std::fill_n(band_sums, height, 0.0f);
    for (int x = 0; x < a.width; x += kTileWidth) {
      const int count = std::min(kTileWidth, a.width - x);
      for (int r = 0; r < height; ++r) {
        const float* p = a.row(y + r) + x;
        const float* q = b.row(y + r) + x;
        for (int i = 0; i < count; i += lanes)
          hn::Store(hn::Abs(hn::Sub(hn::LoadU(f, p + i), hn::LoadU(f, q + i))), f,
                    terms + r * kTileStride + i);
      }
      float_rows::add_to_row_sums(terms, kTileStride, height, count, band_sums);
    }
  }
}

}  // namespace vqx::float_motion::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::float_motion {
HWY_EXPORT(BlurRows);
HWY_EXPORT(DifferenceRows);

void blur_rows(const float_rows::Samples& in, const Taps& taps, int first, int last,
               ScratchPool& pool, FloatImage& out) {
  HWY_DYNAMIC_DISPATCH(BlurRows)(in, taps, first, last, pool, out);
}

void difference_rows(const FloatImage& a, const FloatImage& b, int first, int last, float* sums) {
  HWY_DYNAMIC_DISPATCH(DifferenceRows)(a, b, first, last, sums);
}

}  // namespace vqx::float_motion
#endif  // HWY_ONCE
