// Rows of fp32 with SIMD: loading with mirrored edges, and running sums over taps.  Included once
// per target.
#if defined(VQX_FLOAT_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef VQX_FLOAT_ROWS_INL_HPP
#undef VQX_FLOAT_ROWS_INL_HPP
#else
#define VQX_FLOAT_ROWS_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "metric/float_rows/float_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::float_rows::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using VF = hn::Vec<F>;

// Loops over a row's values run in whole vectors: buffers have this much room behind a row.
constexpr int kOverrun = 64;

template <class T>
HWY_INLINE void ConvertRow(const T* HWY_RESTRICT in, int count, float scale, float offset,
                           float* HWY_RESTRICT out) {
  const F f;
  const hn::Rebind<T, F> narrow;
  const hn::RebindToSigned<F> wide;
  const int lanes = static_cast<int>(hn::Lanes(f));
  int x = 0;
  for (; x + lanes <= count; x += lanes) {
    const VF v = hn::ConvertTo(f, hn::PromoteTo(wide, hn::LoadU(narrow, in + x)));
    hn::StoreU(hn::Add(hn::Mul(v, hn::Set(f, scale)), hn::Set(f, offset)), f, out + x);
  }
  for (; x < count; ++x) out[x] = static_cast<float>(in[x]) * scale + offset;
}

// Positions first .. first + count - 1 of row y, of which at least one is inside the plane.
HWY_INLINE void LoadRow(const Samples& in, int y, int first, int count, Edge edge, float* out) {
  const int begin = std::max(first, 0);
  const int end = std::min(first + count, in.width);
  for (int x = first; x < begin; ++x) out[x - first] = in.at(fold(x, in.width, edge), y);
  for (int x = end; x < first + count; ++x) out[x - first] = in.at(fold(x, in.width, edge), y);
  out += begin - first;
  const std::byte* row = in.row(y);
  if (in.kind == Samples::Kind::kUint8)
    ConvertRow(reinterpret_cast<const std::uint8_t*>(row) + begin, end - begin, in.scale, in.offset,
               out);
  else if (in.kind == Samples::Kind::kUint16)
    ConvertRow(reinterpret_cast<const std::uint16_t*>(row) + begin, end - begin, in.scale,
               in.offset, out);
  else
    std::copy_n(reinterpret_cast<const float*>(row) + begin, end - begin, out);
}

// out[x] = taps[0] * in(0)[x] + taps[1] * in(1)[x] + ..., a running sum, for x below `count` and on
// to the end of the last vector.  (It starts at the first product instead of at 0 + that: they
// differ for a product of -0 only, and there is none, as samples that vanish are +0.)
template <class Input>
HWY_INLINE void Correlate(const Input& in, const float* HWY_RESTRICT taps, int tap_count, int count,
                          float* HWY_RESTRICT out) {
  const F f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  int x = 0;
  for (; x + 3 * lanes < count; x += 4 * lanes) {
    const float* row = in(0) + x;
    VF tap = hn::Set(f, taps[0]);
    VF sum0 = hn::Mul(tap, hn::LoadU(f, row));
    VF sum1 = hn::Mul(tap, hn::LoadU(f, row + lanes));
    VF sum2 = hn::Mul(tap, hn::LoadU(f, row + 2 * lanes));
    VF sum3 = hn::Mul(tap, hn::LoadU(f, row + 3 * lanes));
    for (int k = 1; k < tap_count; ++k) {
      row = in(k) + x;
      tap = hn::Set(f, taps[k]);
      sum0 = hn::Add(sum0, hn::Mul(tap, hn::LoadU(f, row)));
      sum1 = hn::Add(sum1, hn::Mul(tap, hn::LoadU(f, row + lanes)));
      sum2 = hn::Add(sum2, hn::Mul(tap, hn::LoadU(f, row + 2 * lanes)));
      sum3 = hn::Add(sum3, hn::Mul(tap, hn::LoadU(f, row + 3 * lanes)));
    }
    hn::StoreU(sum0, f, out + x);
    hn::StoreU(sum1, f, out + x + lanes);
    hn::StoreU(sum2, f, out + x + 2 * lanes);
    hn::StoreU(sum3, f, out + x + 3 * lanes);
  }
  for (; x < count; x += lanes) {
    VF sum = hn::Mul(hn::Set(f, taps[0]), hn::LoadU(f, in(0) + x));
    for (int k = 1; k < tap_count; ++k)
      sum = hn::Add(sum, hn::Mul(hn::Set(f, taps[k]), hn::LoadU(f, in(k) + x)));
    hn::StoreU(sum, f, out + x);
  }
}

// Columns of a tile whose first row is `in`, then the row that they give.  `line` has room for the
// tile's input width; out for `count` values.  Both overrun.
HWY_INLINE void FilterTileRow(const float* in, std::ptrdiff_t stride, const float* taps,
                              int tap_count, int count, float* line, float* out) {
  Correlate([=](int k) { return in + k * stride; }, taps, tap_count, count + tap_count - 1, line);
  Correlate([=](int k) { return line + k; }, taps, tap_count, count, out);
}

}  // namespace vqx::float_rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
