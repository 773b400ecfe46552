// Row by row: V of one row into a small buffer with mirrored ends, then |R| summed from it.
#include <algorithm>
#include <cstdlib>

#include "metric/motion/motion.hpp"
#include "metric/motion/motion_math.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/motion/motion_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vqx::motion::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // a machine without SIMD, or with less than SSE4

std::uint64_t Sad(const Plane& earlier, const Plane& current, int bits, int first, int last,
                  std::int32_t* /*v*/) {
  return sad_reference(earlier, current, bits, first, last);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::int32_t>;
using V32 = hn::Vec<D32>;

HWY_INLINE V32 Blur(V32 outer, V32 inner, V32 centre, int shift) {
  const D32 d;
  const V32 outer_half = hn::ShiftRight<1>(hn::Mul(outer, hn::Set(d, kOuterTap)));
  const V32 inner_half = hn::Mul(inner, hn::Set(d, kHalfInnerTap));
  const V32 centre_half = hn::Mul(centre, hn::Set(d, kHalfCentreTap));
  const V32 rounded = hn::Add(centre_half, hn::Set(d, 1 << (shift - 2)));
  return hn::ShiftRightSame(hn::Add(hn::Add(outer_half, inner_half), rounded), shift - 1);
}

// The five rows of both pictures that one row of V needs, top to bottom.
template <class Sample>
struct Rows {
  const Sample* earlier[5];
  const Sample* current[5];
};

// Differences of 8-bit samples and sums of two of them fit 16 bits.
struct ByteLanes {
  using D = hn::ScalableTag<std::int16_t>;
  static HWY_INLINE hn::Vec<D> Difference(const Rows<std::uint8_t>& rows, int k, int x) {
    const D d;
    const hn::Rebind<std::uint8_t, D> bytes;
    return hn::Sub(hn::PromoteTo(d, hn::LoadU(bytes, rows.earlier[k] + x)),
                   hn::PromoteTo(d, hn::LoadU(bytes, rows.current[k] + x)));
  }
};

HWY_INLINE int VerticalVectors(const Rows<std::uint8_t>& rows, int width, int bits,
                               std::int32_t* out) {
  const D32 d32;
  const ByteLanes::D d;
  const int step = static_cast<int>(hn::Lanes(d));
  const hn::Half<decltype(d)> half;
  int x = 0;
  for (; x + step <= width; x += step) {
    const auto outer =
        hn::Add(ByteLanes::Difference(rows, 0, x), ByteLanes::Difference(rows, 4, x));
    const auto inner =
        hn::Add(ByteLanes::Difference(rows, 1, x), ByteLanes::Difference(rows, 3, x));
    const auto centre = ByteLanes::Difference(rows, 2, x);
    hn::StoreU(Blur(hn::PromoteTo(d32, hn::LowerHalf(half, outer)),
                    hn::PromoteTo(d32, hn::LowerHalf(half, inner)),
                    hn::PromoteTo(d32, hn::LowerHalf(half, centre)), bits),
               d32, out + x);
    hn::StoreU(Blur(hn::PromoteTo(d32, hn::UpperHalf(half, outer)),
                    hn::PromoteTo(d32, hn::UpperHalf(half, inner)),
                    hn::PromoteTo(d32, hn::UpperHalf(half, centre)), bits),
               d32, out + x + step / 2);
  }
  return x;
}

HWY_INLINE V32 Difference(const Rows<std::uint16_t>& rows, int k, int x) {
  const D32 d;
  const hn::Rebind<std::uint16_t, D32> words;
  return hn::Sub(hn::PromoteTo(d, hn::LoadU(words, rows.earlier[k] + x)),
                 hn::PromoteTo(d, hn::LoadU(words, rows.current[k] + x)));
}

HWY_INLINE int VerticalVectors(const Rows<std::uint16_t>& rows, int width, int bits,
                               std::int32_t* out) {
  const D32 d;
  const int step = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + step <= width; x += step) {
    const V32 outer = hn::Add(Difference(rows, 0, x), Difference(rows, 4, x));
    const V32 inner = hn::Add(Difference(rows, 1, x), Difference(rows, 3, x));
    hn::StoreU(Blur(outer, inner, Difference(rows, 2, x), bits), d, out + x);
  }
  return x;
}

template <class Sample>
HWY_INLINE void Vertical(const Rows<Sample>& rows, int width, int bits, std::int32_t* out) {
  const auto difference = [&](int k, int x) {
    return static_cast<std::int32_t>(rows.earlier[k][x]) - rows.current[k][x];
  };
  for (int x = VerticalVectors(rows, width, bits, out); x < width; ++x)
    out[x] = blur(difference(0, x) + difference(4, x), difference(1, x) + difference(3, x),
                  difference(2, x), bits);
}

// `v` has two valid samples before 0 and after `width`.
HWY_INLINE std::uint64_t HorizontalSad(const std::int32_t* v, int width) {
  const D32 d;
  const int step = static_cast<int>(hn::Lanes(d));
  const hn::RebindToUnsigned<D32> du;
  std::uint64_t sad = 0;
  int x = 0;
  while (x + step <= width) {
    // A lane adds at most 65535 each time: emptied long before 2^32.
    const int end = static_cast<int>(std::min<std::int64_t>(width, x + std::int64_t{4096} * step));
    V32 sum = hn::Zero(d);
    for (; x + step <= end; x += step) {
      const V32 outer = hn::Add(hn::LoadU(d, v + x - 2), hn::LoadU(d, v + x + 2));
      const V32 inner = hn::Add(hn::LoadU(d, v + x - 1), hn::LoadU(d, v + x + 1));
      sum = hn::Add(sum, hn::Abs(Blur(outer, inner, hn::LoadU(d, v + x), 16)));
    }
    // Lanes stay below 2^28 but their total may not fit 32 bits.
    const auto total = hn::BitCast(du, sum);
    const hn::RepartitionToWide<decltype(du)> d64;
    const auto wide = hn::BitCast(d64, total);
    sad += hn::GetLane(hn::SumOfLanes(
        d64, hn::Add(hn::And(wide, hn::Set(d64, 0xffffffffU)), hn::ShiftRight<32>(wide))));
  }
  for (; x < width; ++x)
    sad += static_cast<std::uint64_t>(
        std::abs(blur(v[x - 2] + v[x + 2], v[x - 1] + v[x + 1], v[x], 16)));
  return sad;
}

template <class Sample>
std::uint64_t SadOf(const Plane& earlier, const Plane& current, int bits, int first, int last,
                    std::int32_t* v) {
  const int width = current.width;
  std::uint64_t sad = 0;
  for (int y = first; y < last; ++y) {
    Rows<Sample> rows;
    for (int k = 0; k < 5; ++k) {
      const int row = mirror(y + k - kRadius, current.height);
      rows.earlier[k] = earlier.row<Sample>(row);
      rows.current[k] = current.row<Sample>(row);
    }
    Vertical(rows, width, bits, v);
    v[-1] = v[1];
    v[-2] = v[2];
    v[width] = v[width - 2];
    v[width + 1] = v[width - 3];
    sad += HorizontalSad(v, width);
  }
  return sad;
}

std::uint64_t Sad(const Plane& earlier, const Plane& current, int bits, int first, int last,
                  std::int32_t* v) {
  return bits == 8 ? SadOf<std::uint8_t>(earlier, current, bits, first, last, v)
                   : SadOf<std::uint16_t>(earlier, current, bits, first, last, v);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace vqx::motion::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::motion {
HWY_EXPORT(Sad);

std::uint64_t sad_simd(const Plane& earlier, const Plane& current, int bits, int first, int last,
                       ScratchPool& scratch) {
  constexpr int kLead = 32;  // keeps the row aligned behind the two mirrored samples
  ScratchArray<std::int32_t> row(scratch, static_cast<std::size_t>(current.width) + 2 * kLead);
  return HWY_DYNAMIC_DISPATCH(Sad)(earlier, current, bits, first, last, row.data() + kLead);
}

}  // namespace vqx::motion
#endif  // HWY_ONCE
