// Colour differences of several pixels at once: the steps of ciede_math.hpp, in binary64 lanes,
// with a rounding test wherever a result of an inexact function is stored as binary32.
#include <cstddef>

#include "base/simd.hpp"
#include "metric/ciede/ciede.hpp"
#include "metric/ciede/ciede_math.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/ciede/ciede_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/ciede/ciede_functions-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::ciede::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // less than SSE4
void RowDifferences(const RowPair& rows, int bit_depth, std::size_t width, float* differences) {
  row_differences_reference(rows, bit_depth, width, differences);
}
#else

using Mask32 = hn::Mask<F32>;
using Codes = hn::Rebind<std::uint16_t, F64>;

HWY_INLINE V64 Widen(V32 v) {
  return hn::PromoteTo(F64(), v);
}
HWY_INLINE V32 Store32(V64 v) {
  return hn::DemoteTo(F32(), v);
}
HWY_INLINE V64 Squared(V32 v) {
  const V64 wide = Widen(v);
  return hn::Mul(wide, wide);
}
HWY_INLINE V32 Halved(V32 v) {
  return hn::Mul(v, hn::Set(F32(), 0.5f));
}

// Rounds inexact binary64 values to binary32 and notes the lanes where the error could show.
class Rounder {
 public:
  Rounder() : unsure_(hn::Zero(F32())) {}

  // The law's binary64 value is within `bound` of v.
  HWY_INLINE V32 Absolute(V64 v, V64 bound) {
    const V32 low = Store32(hn::Sub(v, bound));
    const V32 high = Store32(hn::Add(v, bound));
    Note(hn::Ne(low, high));
    return high;
  }
  // Within 2^-46 |v|: one function's error, and the roundings of the few operations around it.
  HWY_INLINE V32 Relative(V64 v) {
    return Absolute(v, hn::Mul(hn::Abs(v), Constant(2 * kFunctionError)));
  }
  HWY_INLINE void Note(Mask32 unsure) { unsure_ = hn::Or(unsure_, hn::VecFromMask(F32(), unsure)); }
  HWY_INLINE Mask32 Unsure() const { return hn::MaskFromVec(unsure_); }

 private:
  V32 unsure_;
};

struct Colours {
  V32 lightness, a, b;
};

HWY_INLINE V64 ToLinear(V64 c) {
  const V64 shifted = hn::Mul(hn::Add(c, Constant(0.055)), Constant(1.0 / 1.055));
  const V64 power = Power24(hn::Max(shifted, Constant(0.0625)));
  return hn::IfThenElse(hn::Gt(c, Constant(kLinearLimit)), power,
                        hn::Mul(c, Constant(1.0 / 12.92)));
}

// `bound`: how far the result may be from the law's.
HWY_INLINE V32 LabCurve(V64 c, V64 bound, Rounder& rounder) {
  const V64 limit = Constant(kCubeLimit);
  const V64 line =
      hn::Mul(hn::Add(hn::Mul(Constant(kCubeSlope), c), Constant(16)), Constant(1.0 / 116.0));
  const V64 cube = CubeRoot(hn::Max(c, limit));
  // The curve is as steep as 7.8, so `bound` covers the error of c as well.
  const V64 to_limit = hn::Abs(hn::Sub(c, limit));
  rounder.Note(
      hn::Ne(Store32(hn::IfThenElseZero(hn::Le(to_limit, bound), Constant(1))), hn::Zero(F32())));
  return rounder.Absolute(hn::IfThenElse(hn::Gt(c, limit), cube, line), bound);
}

HWY_INLINE V64 CodeValues(const std::uint16_t* codes, double offset, double factor) {
  const hn::Rebind<std::int32_t, F64> di;
  const V64 value = hn::PromoteTo(F64(), hn::PromoteTo(di, hn::LoadU(Codes(), codes)));
  return hn::Mul(hn::Sub(value, Constant(offset)), Constant(factor));
}

HWY_INLINE V64 XyzRow(V64 r, V64 g, V64 b, const double (&m)[3]) {
  return hn::Add(hn::Add(hn::Mul(r, Constant(m[0])), hn::Mul(g, Constant(m[1]))),
                 hn::Mul(b, Constant(m[2])));
}

HWY_INLINE Colours ToColours(const CodeScale& scale, const std::uint16_t* const planes[kPlanes],
                             std::size_t x, Rounder& rounder) {
  const V64 y = CodeValues(planes[0] + x, scale.luma_offset, scale.luma_factor);
  const V64 u = CodeValues(planes[1] + x, scale.chroma_offset, scale.chroma_factor);
  const V64 v = CodeValues(planes[2] + x, scale.chroma_offset, scale.chroma_factor);
  const V64 r = ToLinear(hn::Add(y, hn::Mul(Constant(1.28033), v)));
  const V64 g =
      ToLinear(hn::Sub(hn::Sub(y, hn::Mul(Constant(0.21482), u)), hn::Mul(Constant(0.38059), v)));
  const V64 b = ToLinear(hn::Add(y, hn::Mul(Constant(2.12798), u)));
  // With m the largest of |r|, |g|, |b|, each relatively off by 2^-47: the rows of the matrix over
  // the white point sum to 1, so X, Y and Z are off by 1.1 * 2^-47 m (roundings included), the
  // curve, at most 7.8 steep, by 2^-43.8 m, and the cube root, below 3, by 2^-45.4 itself.
  const V64 m = hn::Max(hn::Max(hn::Abs(r), hn::Abs(g)), hn::Abs(b));
  const V64 bound = hn::Add(hn::Mul(m, Constant(0x1p-43)), Constant(0x1p-45));
  const V64 fx =
      Widen(LabCurve(hn::Mul(XyzRow(r, g, b, kXyz[0]), Constant(kWhiteX)), bound, rounder));
  const V64 fy = Widen(LabCurve(XyzRow(r, g, b, kXyz[1]), bound, rounder));
  const V64 fz =
      Widen(LabCurve(hn::Mul(XyzRow(r, g, b, kXyz[2]), Constant(kWhiteZ)), bound, rounder));
  return {Store32(hn::Sub(hn::Mul(Constant(116), fy), Constant(16))),
          Store32(hn::Mul(Constant(500), hn::Sub(fx, fy))),
          Store32(hn::Mul(Constant(200), hn::Sub(fy, fz)))};
}

HWY_INLINE V32 Hypotenuse(V32 a, V32 b) {
  return Store32(hn::Sqrt(hn::Add(Squared(a), Squared(b))));
}

// How much a* is stretched.  A relative error of 6u in the power moves the result by less than 8u.
HWY_INLINE V64 Stretch(V32 chroma_mean) {
  const V64 c = Widen(chroma_mean);
  const V64 c2 = hn::Mul(c, c);
  const V64 power = hn::Mul(hn::Mul(hn::Mul(c2, c2), c2), c);
  return hn::Sub(Constant(1), hn::Sqrt(hn::Div(power, hn::Add(power, Constant(kChroma25To7)))));
}

HWY_INLINE V32 HueAngle(V32 b, V32 a, Rounder& rounder) {
  const V32 zero = hn::Zero(F32());
  const V32 angle = rounder.Relative(Atan2(Widen(b), Widen(a)));
  const V32 positive = Store32(hn::Add(Widen(angle), Constant(2 * kPi)));
  return hn::IfThenElse(hn::Lt(angle, zero), positive, angle);
}

// All four cosines of hue_weight from those of h by addition theorems.  The errors of sine and
// cosine (2^-50) grow sixteenfold at most, the law's rounding of the arguments (below 32) adds
// 2^-48: with the weights, less than 2^-46 together.
HWY_INLINE V32 HueWeight(V64 h, Rounder& rounder) {
  const SinCos one = SinAndCos(h);
  const V64 twice = hn::Add(one.cos, one.cos);
  const V64 cos2 = hn::Sub(hn::Mul(twice, one.cos), Constant(1));
  const V64 sin2 = hn::Mul(twice, one.sin);
  const V64 twice2 = hn::Add(cos2, cos2);
  const V64 cos3 = hn::Mul(one.cos, hn::Sub(twice2, Constant(1)));
  const V64 sin3 = hn::Mul(one.sin, hn::Add(twice2, Constant(1)));
  const V64 cos4 = hn::Sub(hn::Mul(twice2, cos2), Constant(1));
  const V64 sin4 = hn::Mul(twice2, sin2);
  // weight * cos(k h + phase), sine and cosine of the phase given.
  const auto turned = [](V64 cos, V64 sin, double weight, double cos_phase, double sin_phase) {
    return hn::Sub(hn::Mul(cos, Constant(weight * cos_phase)),
                   hn::Mul(sin, Constant(weight * sin_phase)));
  };
  constexpr double kCos30 = 0.86602540378443864676, kSin30 = 0.5;
  constexpr double kCos6 = 0.99452189536827333692, kSin6 = 0.10452846326765347140;
  constexpr double kCos63 = 0.45399049973954679156, kSin63 = 0.89100652418836786236;
  V64 weight = hn::Sub(Constant(1), turned(one.cos, one.sin, 0.17, kCos30, -kSin30));
  weight = hn::Add(weight, hn::Mul(Constant(0.24), cos2));
  weight = hn::Add(weight, turned(cos3, sin3, 0.32, kCos6, kSin6));
  weight = hn::Sub(weight, turned(cos4, sin4, 0.20, kCos63, -kSin63));
  return rounder.Absolute(weight, Constant(0x1p-44));
}

HWY_INLINE V32 Rotation(V64 mean_hue, V32 mean_chroma, Rounder& rounder) {
  const V32 degrees = Store32(hn::Mul(mean_hue, Constant(180 / kPi)));
  const V32 from_blue =
      Store32(hn::Mul(hn::Sub(Widen(degrees), Constant(275)), Constant(1.0 / 25.0)));
  const V64 exponent = Widen(hn::Mul(from_blue, from_blue));
  const V32 bell = rounder.Relative(hn::Mul(Constant(60), ExpOfMinus(exponent)));
  const V64 angle = Widen(Store32(hn::Mul(Widen(bell), Constant(kPi / 180))));
  const V64 c = Widen(mean_chroma);
  const V64 c2 = hn::Mul(c, c);
  const V32 power = rounder.Relative(hn::Mul(hn::Mul(hn::Mul(c2, c2), c2), c));
  const V32 share =
      hn::Div(power, hn::Add(power, hn::Set(F32(), static_cast<float>(kChroma25To7))));
  return rounder.Relative(hn::Mul(hn::Mul(Constant(-2), hn::Sqrt(Widen(share))), Sin(angle)));
}

HWY_INLINE V32 Differences(const Colours& x, const Colours& y, Rounder& rounder) {
  const F32 d32;
  const V32 lightness_step = hn::Sub(y.lightness, x.lightness);
  const V32 lightness_mean = Halved(hn::Add(x.lightness, y.lightness));
  const V32 chroma1 = Hypotenuse(x.a, x.b), chroma2 = Hypotenuse(y.a, y.b);
  const V64 stretch = Stretch(Halved(hn::Add(chroma1, chroma2)));
  const auto stretched = [&](V32 a) {
    return rounder.Relative(hn::Add(Widen(a), hn::Mul(Widen(Halved(a)), stretch)));
  };
  const V32 a1 = stretched(x.a), a2 = stretched(y.a);
  const V32 new_chroma1 = Hypotenuse(a1, x.b), new_chroma2 = Hypotenuse(a2, y.b);
  const V32 new_chroma_mean = Halved(hn::Add(new_chroma1, new_chroma2));
  const V32 chroma_step = hn::Sub(new_chroma2, new_chroma1);

  const V64 q = Squared(hn::Sub(lightness_mean, hn::Set(d32, 50)));
  const V32 s_lightness = Store32(hn::Add(
      Constant(1), hn::Div(hn::Mul(Constant(0.015), q), hn::Sqrt(hn::Add(Constant(20), q)))));
  const V32 s_chroma =
      Store32(hn::Add(Constant(1), hn::Mul(Constant(0.045), Widen(new_chroma_mean))));

  const V32 h1 = HueAngle(x.b, a1, rounder), h2 = HueAngle(y.b, a2, rounder);
  const V64 apart = Widen(hn::Abs(hn::Sub(h1, h2)));
  const auto wraps = hn::Gt(apart, Constant(kPi));
  const V64 plain_step = Widen(hn::Sub(h2, h1));
  const V64 turn =
      hn::IfThenElse(hn::Le(Widen(h2), Widen(h1)), Constant(2 * kPi), Constant(-2 * kPi));
  const V32 step = Store32(hn::IfThenElse(wraps, hn::Add(plain_step, turn), plain_step));
  const auto grey = hn::Or(hn::Eq(chroma1, hn::Zero(d32)), hn::Eq(chroma2, hn::Zero(d32)));
  const V64 half_step = hn::Mul(Widen(hn::IfThenZeroElse(grey, step)), Constant(0.5));
  const V64 scale = hn::Mul(Constant(2), hn::Sqrt(Widen(hn::Mul(new_chroma1, new_chroma2))));
  const V32 hue_difference = rounder.Relative(hn::Mul(scale, Sin(half_step)));

  const V64 both = Widen(hn::Add(h1, h2));
  const V64 around = hn::IfThenElse(wraps, hn::Add(both, Constant(2 * kPi)), both);
  const V64 mean = Widen(Store32(hn::Mul(around, Constant(0.5))));
  const V64 weight = Widen(HueWeight(mean, rounder));
  const V32 s_hue = Store32(
      hn::Add(Constant(1), hn::Mul(hn::Mul(Constant(0.015), Widen(new_chroma_mean)), weight)));
  const V32 rotation = Rotation(mean, new_chroma_mean, rounder);

  const V32 l = hn::Div(lightness_step, hn::Mul(hn::Set(d32, 0.65f), s_lightness));
  const V32 c = hn::Div(chroma_step, s_chroma);
  const V32 h = hn::Div(hue_difference, hn::Mul(hn::Set(d32, 4), s_hue));
  const V64 squares = hn::Add(hn::Add(Squared(l), Squared(c)), Squared(h));
  const V64 mixed = Widen(hn::Mul(hn::Mul(rotation, c), h));
  return Store32(hn::Sqrt(hn::Add(squares, mixed)));
}

// All ones where the two sides' pixels differ, as binary32 lanes.
HWY_INLINE Mask32 Differing(const RowPair& rows, std::size_t x) {
  const Codes d;
  auto difference = hn::Zero(d);
  for (int p = 0; p < kPlanes; ++p)
    difference = hn::Or(
        difference, hn::Xor(hn::LoadU(d, rows.side[0][p] + x), hn::LoadU(d, rows.side[1][p] + x)));
  const hn::Rebind<std::int32_t, F64> di;
  return hn::RebindMask(F32(), hn::Ne(hn::PromoteTo(di, difference), hn::Zero(di)));
}

void RowDifferences(const RowPair& rows, int bit_depth, std::size_t width, float* differences) {
  const F32 d32;
  const std::size_t lanes = hn::Lanes(d32);
  const CodeScale scale(bit_depth);
  for (std::size_t x = 0; x < width; x += lanes) {
    // Equal pixels differ by exactly 0: all three steps are 0, and nothing divides by 0.
    const Mask32 differing = Differing(rows, x);
    if (hn::AllFalse(d32, differing)) {
      hn::StoreU(hn::Zero(d32), d32, differences + x);
      continue;
    }
    Rounder rounder;
    const Colours reference = ToColours(scale, rows.side[0], x, rounder);
    const Colours distorted = ToColours(scale, rows.side[1], x, rounder);
    const V32 result = Differences(reference, distorted, rounder);
    hn::StoreU(hn::IfThenElseZero(differing, result), d32, differences + x);
    const Mask32 unsure = hn::And(rounder.Unsure(), differing);
    if (hn::AllFalse(d32, unsure)) continue;
    std::uint8_t flags[8] = {};
    hn::StoreMaskBits(d32, unsure, flags);
    for (std::size_t lane = 0; lane < lanes && x + lane < width; ++lane) {
      if ((flags[0] >> lane & 1) == 0) continue;
      RowPair pixel{};
      for (int i = 0; i < 2 * kPlanes; ++i)
        pixel.side[i / kPlanes][i % kPlanes] = rows.side[i / kPlanes][i % kPlanes] + x + lane;
      row_differences_reference(pixel, bit_depth, 1, differences + x + lane);
    }
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace vqx::ciede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::ciede {
HWY_EXPORT(RowDifferences);

void row_differences(const RowPair& rows, int bit_depth, std::size_t width, float* differences) {
  HWY_DYNAMIC_DISPATCH(RowDifferences)(rows, bit_depth, width, differences);
}

}  // namespace vqx::ciede
#endif  // HWY_ONCE
