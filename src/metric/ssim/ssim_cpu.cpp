// SSIM with SIMD.  The law fixes the order of additions only inside one window, so lanes hold
// different windows and every lane does what the plain reference does.  Work is cut into tiles
// whose row sums stay in the cache; fp32 forms of integer planes exist one row at a time.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/simd.hpp"
#include "kernel/target.hpp"
#include "metric/ssim/ssim.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/ssim/ssim_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef VQX_SSIM_CPU_SHARED
#define VQX_SSIM_CPU_SHARED
namespace vqx::ssim {
namespace {

constexpr int kLanesAtMost = 32;  // of fp64, on any target; tiles are padded to it

// Window positions of one tile.  138 rows of row sums of one moment fill an L1 cache, all five an
// L2 cache; the ten extra rows cost 8 %.
constexpr int kTileWidth = 64;
constexpr int kTileHeight = 128;
constexpr int kMoments = 5;
constexpr int kLine = 128;  // room for kTileWidth + kReach samples and a vector
static_assert(kLine >= kTileWidth + kReach + kLanesAtMost && kLine % kLanesAtMost == 0);
constexpr std::size_t kTileRows = std::size_t{kTileHeight + kReach} * kTileWidth;

// Nodes of a tile of the next pyramid level, and the samples around them.
constexpr int kNodesWide = 64;
constexpr int kNodesHigh = 64;
constexpr int kHalfLine = 112;  // even or odd samples of a row, and a vector
constexpr int kPyramidRows = 2 * kNodesHigh + kPyramidTaps - 2;

struct TileArea {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

struct TileGrid {
  TileGrid(Size all, int tile_width, int tile_height)
      : size(all),
        tile{tile_width, tile_height},
        columns((all.width + tile_width - 1) / tile_width),
        count(columns * ((all.height + tile_height - 1) / tile_height)) {}
  TileArea area(int index) const {
    const int x = index % columns * tile.width;
    const int y = index / columns * tile.height;
    return {x, y, std::min(tile.width, size.width - x), std::min(tile.height, size.height - y)};
  }
  Size size;
  Size tile;
  int columns;
  int count;
};

}  // namespace
}  // namespace vqx::ssim
#endif  // VQX_SSIM_CPU_SHARED

HWY_BEFORE_NAMESPACE();
namespace vqx::ssim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using I = hn::RebindToSigned<D>;
using F = hn::Rebind<float, D>;  // as many lanes as D
using VD = hn::Vec<D>;
using VI = hn::Vec<I>;
using VF = hn::Vec<F>;
using MD = hn::Mask<D>;

template <class T>
void ConvertRow(const std::byte* row, int x, int count, float scale, float* HWY_RESTRICT out) {
  const T* HWY_RESTRICT in = reinterpret_cast<const T*>(row) + x;
  for (int i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]) * scale;
}

// Samples x .. x + count - 1 of row y, all inside the plane.
void LoadRow(const Samples& in, int x, int y, int count, float* HWY_RESTRICT out) {
  const std::byte* row = in.row(y);
  if (in.kind == Samples::Kind::kUint8)
    ConvertRow<std::uint8_t>(row, x, count, in.scale, out);
  else if (in.kind == Samples::Kind::kUint16)
    ConvertRow<std::uint16_t>(row, x, count, in.scale, out);
  else
    std::copy_n(reinterpret_cast<const float*>(row) + x, count, out);
}

HWY_INLINE VD Product(VF sample, VF tap) {
  return hn::PromoteTo(D(), hn::Mul(sample, tap));
}

// ---- window sums -------------------------------------------------------------------------------

// out[x] = the window sum over line[x .. x + 10]: fp64 running sum of fp32 products in tap order.
HWY_INLINE void RowSums(const float* HWY_RESTRICT line, int width, float* HWY_RESTRICT out) {
  const F f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  const VF g0 = hn::Set(f, gaussian_tap(0)), g1 = hn::Set(f, gaussian_tap(1)),
           g2 = hn::Set(f, gaussian_tap(2)), g3 = hn::Set(f, gaussian_tap(3)),
           g4 = hn::Set(f, gaussian_tap(4)), g5 = hn::Set(f, gaussian_tap(5));
  for (int x = 0; x < width; x += lanes) {
    const float* at = line + x;
    VD sum = Product(hn::LoadU(f, at), g0);
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 1), g1));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 2), g2));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 3), g3));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 4), g4));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 5), g5));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 6), g4));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 7), g3));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 8), g2));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 9), g1));
    sum = hn::Add(sum, Product(hn::LoadU(f, at + 10), g0));
    hn::StoreU(hn::DemoteTo(f, sum), f, out + x);
  }
}

// Window sums down the columns, in place: row y of `rows` becomes the sum over rows y .. y + 10.
// Ten windows are open at any time, and a new row adds its product with the right tap to each, in
// tap order as the law wants; the six distinct products are formed once.
HWY_INLINE void ColumnSums(float* HWY_RESTRICT rows, int width, int height) {
  const F f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  const VF g0 = hn::Set(f, gaussian_tap(0)), g1 = hn::Set(f, gaussian_tap(1)),
           g2 = hn::Set(f, gaussian_tap(2)), g3 = hn::Set(f, gaussian_tap(3)),
           g4 = hn::Set(f, gaussian_tap(4)), g5 = hn::Set(f, gaussian_tap(5));
  for (int x = 0; x < width; x += lanes) {
    const VD zero = hn::Zero(D());
    VD s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero, s6 = zero, s7 = zero,
       s8 = zero, s9 = zero;
    for (int y = 0; y < height + kReach; ++y) {
      const VF value = hn::Load(f, rows + y * kTileWidth + x);
      const VD p0 = Product(value, g0), p1 = Product(value, g1), p2 = Product(value, g2),
               p3 = Product(value, g3), p4 = Product(value, g4), p5 = Product(value, g5);
      if (y >= kReach)
        hn::Store(hn::DemoteTo(f, hn::Add(s9, p0)), f, rows + (y - kReach) * kTileWidth + x);
      s9 = hn::Add(s8, p1);
      s8 = hn::Add(s7, p2);
      s7 = hn::Add(s6, p3);
      s6 = hn::Add(s5, p4);
      s5 = hn::Add(s4, p5);
      s4 = hn::Add(s3, p4);
      s3 = hn::Add(s2, p3);
      s2 = hn::Add(s1, p2);
      s1 = hn::Add(s0, p1);
      s0 = p0;
    }
  }
}

// ---- terms -------------------------------------------------------------------------------------

// Adding one of these pushes all bits of a small number below 2^-26, or 2^-52, out of the binary64
// mantissa, rounding to nearest even; the mantissa then counts those units.
constexpr double kHighMagic = 0x1.8p26;
constexpr double kLowMagic = 0x1.8p0;

// Sums terms in units of 2^-52 with 64-bit lanes: a term t is split into h, t rounded to 2^-26, and
// the rest t - h (exact), rounded to 2^-52.  As h is an even multiple of 2^-52, the two counts
// together are t rounded to nearest even.  Lanes add up the bit patterns of the shifted numbers,
// modulo 2^64; the constant part is taken off at the end.
HWY_INLINE void AddTerm(VD term, VI& high, VI& low) {
  const D d;
  const VD shifted = hn::Add(term, hn::Set(d, kHighMagic));
  const VD rest = hn::Sub(term, hn::Sub(shifted, hn::Set(d, kHighMagic)));
  high = hn::Add(high, hn::BitCast(I(), shifted));
  low = hn::Add(low, hn::BitCast(I(), hn::Add(rest, hn::Set(d, kLowMagic))));
}

std::int64_t TakeOff(VI counts, double magic, std::int64_t terms) {
  std::uint64_t bits;
  std::memcpy(&bits, &magic, sizeof(bits));
  const auto sum = static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(I(), counts)));
  return static_cast<std::int64_t>(sum - bits * static_cast<std::uint64_t>(terms));
}

WideSum Total(VI high, VI low, std::int64_t terms) {
  return WideSum(exact::Int128{TakeOff(high, kHighMagic, terms)} * (1 << 26) +
                 TakeOff(low, kLowMagic, terms));
}

HWY_INLINE VF ClampedVariance(VF square, VF mean_squared) {
  const F f;
  return hn::Max(hn::Sub(square, mean_squared), hn::Zero(f));
}

// Terms of the tile whose five window sums lie `kTileRows` apart.
TermSums TileTerms(const float* HWY_RESTRICT moments, int width, int height) {
  const D d;
  const F f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  const VF c1 = hn::Set(f, kC1), c2 = hn::Set(f, kC2), c3 = hn::Set(f, kC3), zero = hn::Zero(f);
  const VD c1_wide = hn::Set(d, double{kC1}), c2_wide = hn::Set(d, double{kC2});
  const VI none = hn::Zero(I());
  VI high0 = none, high1 = none, high2 = none, high3 = none;
  VI low0 = none, low1 = none, low2 = none, low3 = none;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; x += lanes) {
      const float* at = moments + y * kTileWidth + x;
      const VF mean_a = hn::Load(f, at);
      const VF mean_b = hn::Load(f, at + kTileRows);
      const VF aa = hn::Mul(mean_a, mean_a);
      const VF bb = hn::Mul(mean_b, mean_b);
      const VF variance_a = ClampedVariance(hn::Load(f, at + 2 * kTileRows), aa);
      const VF variance_b = ClampedVariance(hn::Load(f, at + 3 * kTileRows), bb);
      const VF covariance = hn::Sub(hn::Load(f, at + 4 * kTileRows), hn::Mul(mean_a, mean_b));
      const VF deviation = hn::Sqrt(hn::Mul(variance_a, variance_b));
      // A deviation is never negative, so "<= 0" is "== 0": max() leaves covariances that stay.
      const VF kept =
          hn::IfThenElse(hn::Eq(deviation, zero), hn::Max(covariance, zero), covariance);
      const VF structure_narrow = hn::Div(hn::Add(kept, c3), hn::Add(deviation, c3));

      // Both products are exact in binary64, so each numerator is rounded once.
      const VD twice_a = hn::PromoteTo(d, hn::Add(mean_a, mean_a));
      const VD luminance_top = hn::Add(hn::Mul(twice_a, hn::PromoteTo(d, mean_b)), c1_wide);
      const VD contrast_top = hn::Add(hn::PromoteTo(d, hn::Add(deviation, deviation)), c2_wide);
      VD luminance = hn::Div(luminance_top, hn::PromoteTo(d, hn::Add(hn::Add(aa, bb), c1)));
      VD contrast =
          hn::Div(contrast_top, hn::PromoteTo(d, hn::Add(hn::Add(variance_a, variance_b), c2)));
      VD structure = hn::PromoteTo(d, structure_narrow);
      if (width - x < lanes) {  // lanes behind the last position count as 0
        const MD inside = hn::FirstN(d, static_cast<std::size_t>(width - x));
        luminance = hn::IfThenElseZero(inside, luminance);
        contrast = hn::IfThenElseZero(inside, contrast);
        structure = hn::IfThenElseZero(inside, structure);
      }
      AddTerm(hn::Mul(hn::Mul(luminance, contrast), structure), high0, low0);
      AddTerm(luminance, high1, low1);
      AddTerm(contrast, high2, low2);
      AddTerm(structure, high3, low3);
    }
  }
  const std::int64_t terms = std::int64_t{height} * ((width + lanes - 1) / lanes * lanes);
  return {Total(high0, low0, terms), Total(high1, low1, terms), Total(high2, low2, terms),
          Total(high3, low3, terms)};
}

TermSums SsimTile(const Samples& a, const Samples& b, const TileArea& area, float* scratch) {
  const F f;
  float* moments = scratch;
  float* line_a = scratch + kMoments * kTileRows;
  float* line_b = line_a + kLine;
  float* squares_a = line_b + kLine;
  float* squares_b = squares_a + kLine;
  float* products = squares_b + kLine;
  const int count = area.width + kReach;
  std::fill_n(line_a, 2 * kLine, 0.0f);
  for (int y = 0; y < area.height + kReach; ++y) {
    LoadRow(a, area.x, area.y + y, count, line_a);
    LoadRow(b, area.x, area.y + y, count, line_b);
    for (int x = 0; x < kLine; x += static_cast<int>(hn::Lanes(f))) {
      const VF va = hn::LoadU(f, line_a + x);
      const VF vb = hn::LoadU(f, line_b + x);
      hn::StoreU(hn::Mul(va, va), f, squares_a + x);
      hn::StoreU(hn::Mul(vb, vb), f, squares_b + x);
      hn::StoreU(hn::Mul(va, vb), f, products + x);
    }
    float* row = moments + y * kTileWidth;
    const float* lines[kMoments] = {line_a, line_b, squares_a, squares_b, products};
    for (int m = 0; m < kMoments; ++m) RowSums(lines[m], area.width, row + m * kTileRows);
  }
  for (int m = 0; m < kMoments; ++m) ColumnSums(moments + m * kTileRows, area.width, area.height);
  return TileTerms(moments, area.width, area.height);
}

// ---- decimation --------------------------------------------------------------------------------

// Nodes of row y of the decimated plane.  For factors up to 128 every fp64 sum is exact (products
// are multiples of 2^-45 and totals stay below 2^8), so columns of a row of cells are summed first.
// `columns` has room for the samples and a reflected margin on both sides.
void DecimateRow(const Samples& in, int factor, int y, float* HWY_RESTRICT line,
                 double* HWY_RESTRICT columns, float* HWY_RESTRICT out) {
  const D d;
  const F f;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int margin = factor / 2;
  const VF tap = hn::Set(f, 1.0f / static_cast<float>(factor * factor));
  double* first = columns + margin;
  for (int j = 0; j < factor; ++j) {
    LoadRow(in, 0, mirror(y * factor - margin + j, in.height), in.width, line);
    for (int x = 0; x < in.width; x += lanes) {
      const VD product = Product(hn::LoadU(f, line + x), tap);
      hn::StoreU(j == 0 ? product : hn::Add(hn::LoadU(d, first + x), product), d, first + x);
    }
  }
  const int nodes = decimated({in.width, in.height}, factor).width;
  for (int i = 1; i <= margin; ++i) first[-i] = first[mirror(-i, in.width)];
  for (int x = in.width; x < (nodes - 1) * factor + factor - margin; ++x)
    first[x] = first[mirror(x, in.width)];
  for (int x = 0; x < nodes; ++x) {
    const double* cell = columns + x * factor;
    double sum = cell[0];
    for (int i = 1; i < factor; ++i) sum += cell[i];
    out[x] = static_cast<float>(sum);
  }
}

// ---- pyramid -----------------------------------------------------------------------------------

// Samples 2 x - 4 .. 2 x + 2 count + 2 of row y, reflected at the borders, even and odd ones apart.
void SplitRow(const Samples& in, int x, int y, int count, float* HWY_RESTRICT line,
              float* HWY_RESTRICT even, float* HWY_RESTRICT odd) {
  const hn::ScalableTag<float> f;
  const int first = 2 * x - 4;
  const int last = 2 * (x + count - 1) + 4;
  const int inside_first = std::max(first, 0);
  const int inside_last = std::min(last, in.width - 1);
  LoadRow(in, inside_first, y, inside_last - inside_first + 1, line + (inside_first - first));
  for (int i = first; i < inside_first; ++i)
    LoadRow(in, mirror(i, in.width), y, 1, line + (i - first));
  for (int i = inside_last + 1; i <= last; ++i)
    LoadRow(in, mirror(i, in.width), y, 1, line + (i - first));
  for (int i = 0; i < count + 4; i += static_cast<int>(hn::Lanes(f))) {
    hn::Vec<decltype(f)> v0, v1;
    hn::LoadInterleaved2(f, line + 2 * i, v0, v1);
    hn::StoreU(v0, f, even + i);
    hn::StoreU(v1, f, odd + i);
  }
}

// The nine samples of a window row, in order: five of even index, four of odd index between them.
HWY_INLINE VF WindowSample(const float* even, const float* odd, int i) {
  return hn::LoadU(F(), (i % 2 == 0 ? even : odd) + i / 2);
}

// Nodes of one strip of lanes.  Four or five windows are open at any time: an even row meets rows
// 8, 6, 4, 2 and 0 of theirs, an odd row 7, 5, 3 and 1.  Each window takes its 81 products in
// raster order; a sample's product with one tap serves both windows that are mirror images.
HWY_INLINE void TableStrip(const float* HWY_RESTRICT even, const float* HWY_RESTRICT odd,
                           int height, float* HWY_RESTRICT out, std::ptrdiff_t out_stride,
                           int out_count) {
  const F f;
  const VD zero = hn::Zero(D());
  VD s0 = zero, s1 = zero, s2 = zero, s3 = zero;  // the oldest window first
  for (int n = 0; n < height + kPyramidTaps / 2; ++n) {
    const float* e = even + 2 * n * kHalfLine;
    const float* o = odd + 2 * n * kHalfLine;
    VD fresh = zero;
    VQX_UNROLL
    for (int i = 0; i < kPyramidTaps; ++i) {
      const VF value = WindowSample(e, o, i);
      const VD outer = Product(value, hn::Set(f, pyramid_tap(i, 0)));
      const VD middle = Product(value, hn::Set(f, pyramid_tap(i, 2)));
      const VD centre = Product(value, hn::Set(f, pyramid_tap(i, 4)));
      s0 = hn::Add(s0, outer);
      s1 = hn::Add(s1, middle);
      s2 = hn::Add(s2, centre);
      s3 = hn::Add(s3, middle);
      fresh = hn::Add(fresh, outer);
    }
    if (n >= kPyramidTaps / 2) {
      const VF node = hn::DemoteTo(f, s0);
      float* target = out + (n - kPyramidTaps / 2) * out_stride;
      if (out_count >= static_cast<int>(hn::Lanes(f))) {
        hn::StoreU(node, f, target);
      } else {
        HWY_ALIGN float lanes[hn::MaxLanes(D())];
        hn::Store(node, f, lanes);
        std::copy_n(lanes, out_count, target);
      }
      if (n == height + kPyramidTaps / 2 - 1) return;  // no odd row follows the last even one
    }
    s0 = s1;
    s1 = s2;
    s2 = s3;
    s3 = fresh;
    VQX_UNROLL
    for (int i = 0; i < kPyramidTaps; ++i) {
      const VF value = WindowSample(e + kHalfLine, o + kHalfLine, i);
      const VD outer = Product(value, hn::Set(f, pyramid_tap(i, 1)));
      const VD inner = Product(value, hn::Set(f, pyramid_tap(i, 3)));
      s0 = hn::Add(s0, outer);
      s1 = hn::Add(s1, inner);
      s2 = hn::Add(s2, inner);
      s3 = hn::Add(s3, outer);
    }
  }
}

// a * b + c rounded once to fp32, also where the target has no such instruction: the product is
// exact in binary64, and the sum is rounded to odd there (its last bit says that something was cut
// off), which the rounding to fp32 then cannot mistake for a tie.
HWY_INLINE VF FusedMultiplyAdd(VF a, VF b, VF c) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || \
    HWY_TARGET == HWY_NEON
  return hn::MulAdd(a, b, c);  // fused on these targets
#else
  const D d;
  const I i;
  const VD product = hn::Mul(hn::PromoteTo(d, a), hn::PromoteTo(d, b));
  const VD addend = hn::PromoteTo(d, c);
  const VD sum = hn::Add(product, addend);
  const VD part = hn::Sub(sum, product);
  const VD error = hn::Add(hn::Sub(product, hn::Sub(sum, part)), hn::Sub(addend, part));
  const VI bits = hn::BitCast(i, sum);
  const auto even = hn::Eq(hn::And(bits, hn::Set(i, 1)), hn::Zero(i));
  const auto cut = hn::And(hn::RebindMask(d, even), hn::Ne(error, hn::Zero(d)));
  const VI sign_differs = hn::BroadcastSignBit(hn::BitCast(i, hn::Xor(sum, error)));  // 0 or -1
  const VI step = hn::Or(hn::Add(sign_differs, sign_differs), hn::Set(i, 1));         // 1 or -1
  const VI moved = hn::Add(bits, step);
  return hn::DemoteTo(F(), hn::IfThenElse(cut, hn::BitCast(d, moved), sum));
#endif
}

// Nodes of one strip of lanes in the separable form: rows first, then columns.
HWY_INLINE void SeparableStrip(const float* HWY_RESTRICT even, const float* HWY_RESTRICT odd,
                               int height, float* HWY_RESTRICT out, std::ptrdiff_t out_stride,
                               int out_count) {
  const F f;
  HWY_ALIGN float rows[kPyramidRows * hn::MaxLanes(D())];
  const int lanes = static_cast<int>(hn::Lanes(f));
  for (int y = 0; y < 2 * height + kPyramidTaps - 2; ++y) {
    VF sum = hn::Zero(f);
    VQX_UNROLL
    for (int i = 0; i < kPyramidTaps; ++i)
      sum = FusedMultiplyAdd(WindowSample(even + y * kHalfLine, odd + y * kHalfLine, i),
                             hn::Set(f, separable_tap(i)), sum);
    hn::Store(sum, f, rows + y * lanes);
  }
  for (int y = 0; y < height; ++y) {
    VF sum = hn::Zero(f);
    VQX_UNROLL
    for (int j = 0; j < kPyramidTaps; ++j)
      sum = FusedMultiplyAdd(hn::Load(f, rows + (2 * y + j) * lanes), hn::Set(f, separable_tap(j)),
                             sum);
    HWY_ALIGN float node[hn::MaxLanes(D())];
    hn::Store(sum, f, node);
    std::copy_n(node, std::min(lanes, out_count), out + y * out_stride);
  }
}

void PyramidTile(Variant variant, const Samples& in, const TileArea& area, float* scratch,
                 float* out, std::ptrdiff_t out_stride) {
  float* even = scratch;
  float* odd = even + kPyramidRows * kHalfLine;
  float* line = odd + kPyramidRows * kHalfLine;
  std::fill_n(line, 2 * kHalfLine, 0.0f);
  for (int y = 0; y < 2 * area.height + kPyramidTaps - 2; ++y)
    SplitRow(in, area.x, mirror(2 * area.y - 4 + y, in.height), area.width, line,
             even + y * kHalfLine, odd + y * kHalfLine);
  const int lanes = static_cast<int>(hn::Lanes(F()));
  for (int x = 0; x < area.width; x += lanes) {
    float* target = out + area.y * out_stride + area.x + x;
    if (variant == Variant::kTable)
      TableStrip(even + x, odd + x, area.height, target, out_stride, area.width - x);
    else
      SeparableStrip(even + x, odd + x, area.height, target, out_stride, area.width - x);
  }
}

}  // namespace vqx::ssim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::ssim {
HWY_EXPORT(SsimTile);
HWY_EXPORT(DecimateRow);
HWY_EXPORT(PyramidTile);

TermSums sum_terms(const MeasureContext& context, const Samples& a, const Samples& b) {
  const Size size = positions({a.width, a.height});
  if (size.width <= 0 || size.height <= 0) return {};
  if (simd_is_scalar()) return sum_terms_reference(a, b);
  const TileGrid grid(size, kTileWidth, kTileHeight);
  std::vector<TermSums> sums(static_cast<std::size_t>(grid.count));
  context.parallel(grid.count, [&](int tile) {
    ScratchArray<float> scratch(context.scratch(), kMoments * (kTileRows + kLine));
    sums[static_cast<std::size_t>(tile)] =
        HWY_DYNAMIC_DISPATCH(SsimTile)(a, b, grid.area(tile), scratch.data());
  });
  TermSums total;
  for (const TermSums& part : sums) total.add(part);
  return total;
}

void decimate(const MeasureContext& context, const Samples& in, int factor, float* out) {
  if (simd_is_scalar() || factor > kMaxExactFactor) return decimate_reference(in, factor, out);
  const Size size = decimated({in.width, in.height}, factor);
  constexpr int kRows = 8;
  context.parallel((size.height + kRows - 1) / kRows, [&](int band) {
    const std::size_t room = static_cast<std::size_t>(in.width + 2 * factor + kLanesAtMost);
    ScratchArray<float> line(context.scratch(), room);
    ScratchArray<double> columns(context.scratch(), room);
    std::fill_n(line.data(), room, 0.0f);
    for (int y = band * kRows; y < std::min(size.height, (band + 1) * kRows); ++y)
      HWY_DYNAMIC_DISPATCH(DecimateRow)
    (in, factor, y, line.data(), columns.data(), out + std::ptrdiff_t{y} * size.width);
  });
}

void pyramid_step(const MeasureContext& context, Variant variant, const Samples (&in)[2],
                  float* const (&out)[2]) {
  if (simd_is_scalar()) {
    for (int side = 0; side < 2; ++side) pyramid_step_reference(variant, in[side], out[side]);
    return;
  }
  const Size size = next_level({in[0].width, in[0].height});
  const TileGrid grid(size, kNodesWide, kNodesHigh);
  context.parallel(2 * grid.count, [&](int part) {
    ScratchArray<float> scratch(context.scratch(), std::size_t{2} * (kPyramidRows + 1) * kHalfLine);
    HWY_DYNAMIC_DISPATCH(PyramidTile)
    (variant, in[part % 2], grid.area(part / 2), scratch.data(), out[part % 2], size.width);
  });
}

}  // namespace vqx::ssim
#endif  // HWY_ONCE
