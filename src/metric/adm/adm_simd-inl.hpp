// Row kernels of `adm`, compiled once per SIMD target (included by adm_cpu.cpp).
//
// Lanes are positions of a row, all in 32 bits; 64-bit products are formed for even and odd lanes
// in turn.  Kernels may read and write past `count`, within the rows' padding.
#if defined(VQX_ADM_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VQX_ADM_SIMD_INL
#undef VQX_ADM_SIMD_INL
#else
#define VQX_ADM_SIMD_INL
#endif

#include <hwy/highway.h>

#include "metric/adm/adm_math.hpp"
#include "metric/adm/adm_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::adm::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<int32_t>;
using DU32 = hn::ScalableTag<uint32_t>;
using DF32 = hn::ScalableTag<float>;
using DU64 = hn::ScalableTag<uint64_t>;
using DF64 = hn::ScalableTag<double>;
using D16 = hn::ScalableTag<int16_t>;
using V32 = hn::Vec<D32>;
using VU32 = hn::Vec<DU32>;
using VF32 = hn::Vec<DF32>;
using VU64 = hn::Vec<DU64>;
using V16 = hn::Vec<D16>;

HWY_INLINE V32 Set32(int32_t value) {
  return hn::Set(D32(), value);
}

// ---- 64-bit products of 32-bit lanes

struct Wide {  // 64-bit results of even and odd lanes
  VU64 even;
  VU64 odd;
};
HWY_INLINE VU64 OddLanes(V32 v) {
  return hn::ShiftRight<32>(hn::BitCast(DU64(), v));
}
HWY_INLINE VU64 EvenLanes(V32 v) {
  return hn::And(hn::BitCast(DU64(), v), hn::Set(DU64(), 0xFFFFFFFFu));
}
HWY_INLINE VU64 MulEvenUnsigned(V32 a, V32 b) {
  return hn::MulEven(hn::BitCast(DU32(), a), hn::BitCast(DU32(), b));
}
HWY_INLINE VU64 MulEvenSigned(V32 a, V32 b) {
  return hn::BitCast(DU64(), hn::MulEven(a, b));
}
HWY_INLINE V32 AsLanes(VU64 v) {
  return hn::BitCast(D32(), v);
}
HWY_INLINE Wide MulUnsigned(V32 a, V32 b) {
  return {MulEvenUnsigned(a, b), MulEvenUnsigned(AsLanes(OddLanes(a)), AsLanes(OddLanes(b)))};
}
// b alike in all lanes.
HWY_INLINE Wide MulUnsignedSame(V32 a, V32 b) {
  return {MulEvenUnsigned(a, b), MulEvenUnsigned(AsLanes(OddLanes(a)), b)};
}
HWY_INLINE Wide MulSignedSame(V32 a, V32 b) {
  return {MulEvenSigned(a, b), MulEvenSigned(AsLanes(OddLanes(a)), b)};
}
// The 32 bits from bit kShift up of either half's 64-bit lanes, back in order.
template <int kShift>
HWY_INLINE V32 Narrow(const Wide& v) {
  const VU64 even = hn::ShiftRight<kShift>(v.even);
  const VU64 odd = hn::ShiftLeft<32 - kShift>(v.odd);
  return hn::OddEven(AsLanes(odd), AsLanes(even));
}
template <>
HWY_INLINE V32 Narrow<0>(const Wide& v) {
  return hn::OddEven(AsLanes(hn::ShiftLeft<32>(v.odd)), AsLanes(v.even));
}
template <>
HWY_INLINE V32 Narrow<32>(const Wide& v) {
  return hn::OddEven(AsLanes(v.odd), AsLanes(hn::ShiftRight<32>(v.even)));
}
HWY_INLINE Wide AddSame(const Wide& v, uint64_t term) {
  const VU64 t = hn::Set(DU64(), term);
  return {hn::Add(v.even, t), hn::Add(v.odd, t)};
}

// ---- transform

struct BandRows {
  int32_t* low;
  int32_t* h;
  int32_t* v;
  int32_t* d;
};

// a[2i] * b[2i] + a[2i+1] * b[2i+1]: pairs of 16-bit lanes to one 32-bit lane.
HWY_INLINE V32 MulAddPairs(V16 a, V16 b) {
#if HWY_ARCH_X86
  V32 unused = hn::Zero(D32());
  return hn::ReorderWidenMulAccumulate(D32(), a, b, hn::Zero(D32()), unused);
#else
  const V32 a32 = hn::BitCast(D32(), a);
  const V32 b32 = hn::BitCast(D32(), b);
  const auto even = [](V32 v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
  return hn::Add(hn::Mul(even(a32), even(b32)),
                 hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32)));
#endif
}
HWY_INLINE V16 PairOfTaps(int first, int second) {
  const auto bits = static_cast<uint32_t>(static_cast<uint16_t>(first)) |
                    static_cast<uint32_t>(static_cast<uint16_t>(second)) << 16;
  return hn::BitCast(D16(), hn::Set(DU32(), bits));
}

// Codes as 16-bit numbers; those of 16 bits come centred on zero, to fit.
HWY_INLINE V16 LoadCodes(const uint8_t* from, bool /*full_range*/) {
  return hn::PromoteTo(D16(), hn::LoadU(hn::Rebind<uint8_t, D16>(), from));
}
HWY_INLINE V16 LoadCodes(const uint16_t* from, bool full_range) {
  const hn::Rebind<uint16_t, D16> du16;
  const auto v = hn::LoadU(du16, from);
  const auto flip = hn::Set(du16, static_cast<uint16_t>(full_range ? 0x8000 : 0));
  return hn::BitCast(D16(), hn::Xor(v, flip));
}

// Vertical pass of scale 0.  Reads exactly `count` samples of each row.
template <class Sample>
HWY_INLINE void VerticalFine(const Sample* const (&rows)[4], int count, int bit_depth,
                             int16_t* HWY_RESTRICT low, int16_t* HWY_RESTRICT high) {
  const bool full_range = bit_depth == 16;
  const int32_t round = 1 << (bit_depth - 1);
  const int32_t centre = full_range ? 0 : kLowSum * round;
  const V32 low_term = Set32(round - centre);
  const V32 high_term = Set32(round);
  const V16 low01 = PairOfTaps(kLow[0], kLow[1]), low23 = PairOfTaps(kLow[2], kLow[3]);
  const V16 high01 = PairOfTaps(kHigh[0], kHigh[1]), high23 = PairOfTaps(kHigh[2], kHigh[3]);
  const auto filter = [&](V16 pair01, V16 pair23, V16 taps01, V16 taps23, V32 term) {
    const V32 sum = hn::Add(MulAddPairs(pair01, taps01), MulAddPairs(pair23, taps23));
    return hn::ShiftRightSame(hn::Add(sum, term), bit_depth);
  };
  const int lanes = static_cast<int>(hn::Lanes(D16()));
  for (int i = 0; i < count; i += lanes) {
    // The last vector overlaps the one before: rows are at least a vector long, and nothing outside
    // the picture may be read.
    const int x = std::min(i, count - lanes);
    const V16 r0 = LoadCodes(rows[0] + x, full_range);
    const V16 r1 = LoadCodes(rows[1] + x, full_range);
    const V16 r2 = LoadCodes(rows[2] + x, full_range);
    const V16 r3 = LoadCodes(rows[3] + x, full_range);
    // Interleaving and narrowing both work within blocks, so columns come back in order.
    const V16 a01 = hn::InterleaveLower(D16(), r0, r1), a23 = hn::InterleaveLower(D16(), r2, r3);
    const V16 b01 = hn::InterleaveUpper(D16(), r0, r1), b23 = hn::InterleaveUpper(D16(), r2, r3);
    hn::StoreU(hn::ReorderDemote2To(D16(), filter(a01, a23, low01, low23, low_term),
                                    filter(b01, b23, low01, low23, low_term)),
               D16(), low + x);
    hn::StoreU(hn::ReorderDemote2To(D16(), filter(a01, a23, high01, high23, high_term),
                                    filter(b01, b23, high01, high23, high_term)),
               D16(), high + x);
  }
}

// Horizontal pass of scale 0: `low` and `high` point to the first tap of the first output.
HWY_INLINE void HorizontalFine(const int16_t* low, const int16_t* high, int count,
                               const BandRows& out) {
  const V16 low01 = PairOfTaps(kLow[0], kLow[1]), low23 = PairOfTaps(kLow[2], kLow[3]);
  const V16 high01 = PairOfTaps(kHigh[0], kHigh[1]), high23 = PairOfTaps(kHigh[2], kHigh[3]);
  const V32 round = Set32(1 << 15);
  const auto filter = [&](V16 pair01, V16 pair23, V16 taps01, V16 taps23) {
    const V32 sum = hn::Add(MulAddPairs(pair01, taps01), MulAddPairs(pair23, taps23));
    return hn::ShiftRight<16>(hn::Add(sum, round));
  };
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int i = 0; i < count; i += lanes) {
    const V16 l01 = hn::LoadU(D16(), low + 2 * i), l23 = hn::LoadU(D16(), low + 2 * i + 2);
    const V16 h01 = hn::LoadU(D16(), high + 2 * i), h23 = hn::LoadU(D16(), high + 2 * i + 2);
    hn::StoreU(filter(l01, l23, low01, low23), D32(), out.low + i);
    hn::StoreU(filter(l01, l23, high01, high23), D32(), out.v + i);
    hn::StoreU(filter(h01, h23, low01, low23), D32(), out.h + i);
    hn::StoreU(filter(h01, h23, high01, high23), D32(), out.d + i);
  }
}

// Vertical pass of scale 1: the sums of 16-bit inputs fit 32 bits and are not shifted.
HWY_INLINE void VerticalExact(const int32_t* const (&rows)[4], int count, int32_t* HWY_RESTRICT low,
                              int32_t* HWY_RESTRICT high) {
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int i = 0; i < count; i += lanes) {
    const V32 r0 = hn::LoadU(D32(), rows[0] + i), r1 = hn::LoadU(D32(), rows[1] + i);
    const V32 r2 = hn::LoadU(D32(), rows[2] + i), r3 = hn::LoadU(D32(), rows[3] + i);
    const auto filter = [&](const int(&taps)[4]) {
      return hn::Add(hn::Add(hn::Mul(r0, Set32(taps[0])), hn::Mul(r1, Set32(taps[1]))),
                     hn::Add(hn::Mul(r2, Set32(taps[2])), hn::Mul(r3, Set32(taps[3]))));
    };
    hn::StoreU(filter(kLow), D32(), low + i);
    hn::StoreU(filter(kHigh), D32(), high + i);
  }
}

// Vertical pass of scales 2 and 3: 64-bit sums, shifted by 16.
HWY_INLINE void VerticalWide(const int32_t* const (&rows)[4], int count, int32_t* HWY_RESTRICT low,
                             int32_t* HWY_RESTRICT high) {
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int i = 0; i < count; i += lanes) {
    const V32 r0 = hn::LoadU(D32(), rows[0] + i), r1 = hn::LoadU(D32(), rows[1] + i);
    const V32 r2 = hn::LoadU(D32(), rows[2] + i), r3 = hn::LoadU(D32(), rows[3] + i);
    const auto filter = [&](const int(&taps)[4]) {
      const VU64 round = hn::Set(DU64(), uint64_t{1} << 15);
      const auto sum = [&](V32 a, V32 b, V32 c, V32 d) {
        return hn::Add(
            hn::Add(hn::Add(MulEvenSigned(a, Set32(taps[0])), MulEvenSigned(b, Set32(taps[1]))),
                    hn::Add(MulEvenSigned(c, Set32(taps[2])), MulEvenSigned(d, Set32(taps[3])))),
            round);
      };
      const auto odd = [](V32 v) { return AsLanes(OddLanes(v)); };
      return Narrow<16>(Wide{sum(r0, r1, r2, r3), sum(odd(r0), odd(r1), odd(r2), odd(r3))});
    };
    hn::StoreU(filter(kLow), D32(), low + i);
    hn::StoreU(filter(kHigh), D32(), high + i);
  }
}

// Horizontal pass of scales 1..3: `low` and `high` point to the first tap of the first output.
HWY_INLINE void HorizontalWide(const int32_t* low, const int32_t* high, int count, int shift,
                               const BandRows& out) {
  const VU64 round = hn::Set(DU64(), uint64_t{1} << (shift - 1));
  const int half = static_cast<int>(hn::Lanes(DU64()));
  // 64-bit lane j: output j of those that start at the given tap.
  const auto sums = [&](V32 pair01, V32 pair23, const int(&taps)[4]) {
    const V32 odd01 = AsLanes(OddLanes(pair01)), odd23 = AsLanes(OddLanes(pair23));
    const VU64 sum = hn::Add(
        hn::Add(MulEvenSigned(pair01, Set32(taps[0])), MulEvenSigned(odd01, Set32(taps[1]))),
        hn::Add(MulEvenSigned(pair23, Set32(taps[2])), MulEvenSigned(odd23, Set32(taps[3]))));
    return hn::ShiftRightSame(hn::Add(sum, round), shift);
  };
  const auto filter = [&](const int32_t* row, int i, int32_t* with_low, int32_t* with_high) {
    const V32 a01 = hn::LoadU(D32(), row + 2 * i), a23 = hn::LoadU(D32(), row + 2 * i + 2);
    const int32_t* next = row + 2 * (i + half);
    const V32 b01 = hn::LoadU(D32(), next), b23 = hn::LoadU(D32(), next + 2);
    hn::StoreU(hn::ConcatEven(D32(), AsLanes(sums(b01, b23, kLow)), AsLanes(sums(a01, a23, kLow))),
               D32(), with_low + i);
    hn::StoreU(
        hn::ConcatEven(D32(), AsLanes(sums(b01, b23, kHigh)), AsLanes(sums(a01, a23, kHigh))),
        D32(), with_high + i);
  };
  for (int i = 0; i < count; i += 2 * half) {
    filter(low, i, out.low, out.v);
    filter(high, i, out.h, out.d);
  }
}

// ---- decoupling

// floor(2^30 / m) for 1 <= m <= 32768.  The quotient of a single-precision reciprocal is off by
// less than 64 / m + 1; the remainder, exact in 32 bits, corrects it.
HWY_INLINE V32 ReciprocalQ30(V32 m) {
  const VF32 inverse = hn::Div(hn::Set(DF32(), 1.0f), hn::ConvertTo(DF32(), m));
  V32 r = hn::ConvertTo(D32(), hn::Mul(inverse, hn::Set(DF32(), 0x1p30f)));
  V32 rest = hn::Sub(Set32(1 << 30), hn::Mul(r, m));
  const V32 step = hn::ConvertTo(D32(), hn::Mul(hn::ConvertTo(DF32(), rest), inverse));
  r = hn::Add(r, step);
  rest = hn::Sub(rest, hn::Mul(step, m));
  r = hn::Add(r, hn::ShiftRight<31>(rest));                                    // rest < 0
  return hn::Sub(r, hn::ShiftRight<31>(hn::Sub(hn::Sub(m, Set32(1)), rest)));  // rest >= m
}

// Lanes whose (h, v) vectors differ by less than one degree.  Single precision decides all lanes
// but those within 2^-18 of equality, ten times its error; the law's own test decides these.
HWY_INLINE hn::Mask<D32> WithinOneDegree(V32 oh, V32 ov, V32 th, V32 tv) {
  const auto single = [](V32 v) { return hn::ConvertTo(DF32(), v); };
  const VF32 foh = single(oh), fov = single(ov), fth = single(th), ftv = single(tv);
  const VF32 dot = hn::Add(hn::Mul(foh, fth), hn::Mul(fov, ftv));
  const VF32 oo = hn::Add(hn::Mul(foh, foh), hn::Mul(fov, fov));
  const VF32 tt = hn::Add(hn::Mul(fth, fth), hn::Mul(ftv, ftv));
  const VF32 square = hn::Mul(dot, dot);
  const VF32 limit = hn::Mul(hn::Mul(hn::Set(DF32(), kCosSquared), oo), tt);
  const auto ahead = hn::Ge(dot, hn::Zero(DF32()));
  const auto surely =
      hn::And(ahead, hn::Ge(square, hn::Mul(limit, hn::Set(DF32(), 1.0f + 0x1p-18f))));
  const auto maybe =
      hn::And(ahead, hn::Ge(square, hn::Mul(limit, hn::Set(DF32(), 1.0f - 0x1p-18f))));
  const auto unsure = hn::AndNot(surely, maybe);
  if (HWY_LIKELY(hn::AllFalse(DF32(), unsure))) return hn::RebindMask(D32(), surely);

  constexpr std::size_t kMost = hn::MaxLanes(D32());
  HWY_ALIGN int32_t lanes[6][kMost];
  const V32 vectors[4] = {oh, ov, th, tv};
  for (int i = 0; i < 4; ++i) hn::Store(vectors[i], D32(), lanes[i]);
  hn::Store(hn::VecFromMask(D32(), hn::RebindMask(D32(), surely)), D32(), lanes[4]);
  hn::Store(hn::VecFromMask(D32(), hn::RebindMask(D32(), unsure)), D32(), lanes[5]);
  for (std::size_t i = 0; i < hn::Lanes(D32()); ++i)
    if (lanes[5][i] != 0)
      lanes[4][i] = within_one_degree(lanes[0][i], lanes[1][i], lanes[2][i], lanes[3][i]) ? -1 : 0;
  return hn::MaskFromVec(hn::Load(D32(), lanes[4]));
}

// One band of a vector of positions, folded so that the original is not negative.
struct Folded {
  V32 sign;       // -1 where the original is negative
  V32 magnitude;  // of the original
  V32 test;       // same sign as the original: positive; others: 0
};
HWY_INLINE V32 Flip(V32 v, V32 sign) {
  return hn::Sub(hn::Xor(v, sign), sign);
}
HWY_INLINE Folded Fold(V32 original, V32 test) {
  const V32 sign = hn::ShiftRight<31>(original);
  return {sign, Flip(original, sign), hn::Max(Flip(test, sign), hn::Zero(D32()))};
}

// Magnitude of the restored value before enhancement: round(k * o), with k = t / o in Q15.
// Scale 0: m <= 22932, and all products fit 32 bits once t is cut to m.
HWY_INLINE V32 RestoredFine(const Folded& f) {
  const V32 test = hn::Min(f.test, f.magnitude);
  const V32 k =
      hn::ShiftRight<15>(hn::Add(hn::Mul(ReciprocalQ30(f.magnitude), test), Set32(1 << 14)));
  // Rounding is upwards of the signed value: half a unit less for negative originals.
  const V32 r =
      hn::ShiftRight<15>(hn::Add(hn::Mul(k, f.magnitude), hn::Add(Set32(1 << 14), f.sign)));
  return hn::IfThenElse(hn::Gt(f.test, f.magnitude), f.magnitude, r);
}

// Scales 1..3: the reciprocal is of the leading 15 bits.
HWY_INLINE V32 RestoredCoarse(const Folded& f) {
  // Clearing the bit below the leading one keeps the conversion from rounding to the next power.
  const V32 leading = hn::AndNot(hn::ShiftRight<1>(f.magnitude), f.magnitude);
  const V32 exponent = hn::ShiftRight<23>(hn::BitCast(D32(), hn::ConvertTo(DF32(), leading)));
  const V32 excess = hn::Max(hn::Sub(exponent, Set32(127 + 14)), hn::Zero(D32()));
  const V32 half = hn::ShiftRight<1>(hn::Shl(Set32(1), excess));
  const V32 m = hn::Shr(hn::Add(f.magnitude, half), excess);
  // Beyond twice the original the ratio is 1 in any case; the product then keeps below 2^48.
  const DU32 du;
  const V32 test = hn::BitCast(
      D32(), hn::Min(hn::BitCast(du, f.test), hn::ShiftLeft<1>(hn::BitCast(du, f.magnitude))));
  const Wide product = MulUnsigned(ReciprocalQ30(m), test);
  const auto ratio = [](VU64 p, VU64 e) {
    const VU64 rounded = hn::Add(p, hn::Shl(hn::Set(DU64(), uint64_t{1} << 14), e));
    return hn::Shr(rounded, hn::Add(e, hn::Set(DU64(), 15)));
  };
  const V32 q =
      Narrow<0>(Wide{ratio(product.even, EvenLanes(excess)), ratio(product.odd, OddLanes(excess))});
  const V32 k = hn::Min(q, Set32(32768));
  const Wide r = MulUnsigned(k, f.magnitude);
  const V32 term = hn::Add(Set32(1 << 14), f.sign);
  return Narrow<15>(Wide{hn::Add(r.even, EvenLanes(term)), hn::Add(r.odd, OddLanes(term))});
}

enum class Gain { kNone, kInteger, kReal };

// min(trunc(r * gain), t)
HWY_INLINE V32 Enhance(V32 r, V32 test, Gain kind, double gain) {
  if (kind == Gain::kNone) return hn::Min(r, test);
  if (kind == Gain::kInteger) return hn::Min(hn::Mul(r, Set32(static_cast<int32_t>(gain))), test);
  const DF64 d;
  const hn::Half<D32> dh;
  const auto half = [&](hn::Vec<hn::Half<D32>> r_half, hn::Vec<hn::Half<D32>> t_half) {
    const auto boosted = hn::Mul(hn::PromoteTo(d, r_half), hn::Set(d, gain));
    return hn::DemoteTo(dh, hn::Min(boosted, hn::PromoteTo(d, t_half)));
  };
  return hn::Combine(D32(), half(hn::UpperHalf(dh, r), hn::UpperHalf(dh, test)),
                     half(hn::LowerHalf(dh, r), hn::LowerHalf(dh, test)));
}

// ---- weighting

struct Weighted {
  V32 magnitude;  // of the weighted value, for the energy
  V32 neighbour;  // share of the threshold around
  V32 centre;     // additional share of the threshold here
};
HWY_INLINE Weighted WeighFine(V32 x, V32 weight, bool diagonal) {
  const V32 p = hn::Mul(x, weight);
  const V32 c = hn::Abs(diagonal ? hn::ShiftRight<17>(hn::Add(p, Set32(65535)))
                                 : hn::ShiftRight<15>(hn::Add(p, Set32(16384))));
  const V32 y = hn::Mul(c, Set32(4369));
  const V32 neighbour = hn::ShiftRight<12>(hn::Add(y, Set32(2048)));
  const V32 wide = hn::ShiftRight<11>(hn::Add(y, Set32(1024)));  // of 2y: 8738 is twice 4369
  const V32 centre = hn::ShiftRight<16>(hn::ShiftLeft<16>(wide));
  return {hn::Abs(p), neighbour, hn::Sub(centre, neighbour)};
}
HWY_INLINE Weighted WeighCoarse(V32 x, V32 weight) {
  const V32 c = hn::Abs(Narrow<28>(AddSame(MulSignedSame(x, weight), uint64_t{1} << 27)));
  const uint64_t round = uint64_t{0} - (uint64_t{1} << 31);  // the law subtracts it
  const V32 neighbour = Narrow<32>(AddSame(MulUnsignedSame(c, Set32(143165577)), round));
  const V32 centre = Narrow<32>(AddSame(MulUnsignedSame(c, Set32(286331153)), round));
  return {c, neighbour, hn::Sub(centre, neighbour)};
}

struct DecoupleRows {
  const int32_t* original[kBands];
  const int32_t* test[kBands];
};
struct JobRows {
  // Weighted restored h, v, d; additive h, v, d; neighbour and centre terms of restored and of
  // additive maskers, summed over the bands.
  int32_t* row[10];
};

template <bool kFine>
HWY_INLINE void DecoupleRow(const DecoupleRows& in, int count, const Job& job, const JobRows& out) {
  const bool whole = job.gain_limit == static_cast<int>(job.gain_limit);
  const Gain gain = job.gain_limit == 1.0 ? Gain::kNone
                    : kFine && whole      ? Gain::kInteger
                                          : Gain::kReal;
  const V32 weight[kBands] = {Set32(static_cast<int32_t>(job.weights.hv)),
                              Set32(static_cast<int32_t>(job.weights.hv)),
                              Set32(static_cast<int32_t>(job.weights.d))};
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int i = 0; i < count; i += lanes) {
    const auto near =
        WithinOneDegree(hn::LoadU(D32(), in.original[0] + i), hn::LoadU(D32(), in.original[1] + i),
                        hn::LoadU(D32(), in.test[0] + i), hn::LoadU(D32(), in.test[1] + i));
    V32 neighbour[2] = {hn::Zero(D32()), hn::Zero(D32())};
    V32 centre[2] = {hn::Zero(D32()), hn::Zero(D32())};
    for (int b = 0; b < kBands; ++b) {
      const V32 test = hn::LoadU(D32(), in.test[b] + i);
      const Folded folded = Fold(hn::LoadU(D32(), in.original[b] + i), test);
      const V32 plain = kFine ? RestoredFine(folded) : RestoredCoarse(folded);
      const V32 enhanced = Enhance(plain, folded.test, gain, job.gain_limit);
      const V32 restored = Flip(hn::IfThenElse(near, enhanced, plain), folded.sign);
      const V32 part[2] = {restored, hn::Sub(test, restored)};
      for (int p = 0; p < 2; ++p) {
        const Weighted w =
            kFine ? WeighFine(part[p], weight[b], b == 2) : WeighCoarse(part[p], weight[b]);
        hn::StoreU(w.magnitude, D32(), out.row[3 * p + b] + i);
        neighbour[p] = hn::Add(neighbour[p], w.neighbour);
        centre[p] = hn::Add(centre[p], w.centre);
      }
    }
    for (int p = 0; p < 2; ++p) {
      hn::StoreU(neighbour[p], D32(), out.row[6 + 2 * p] + i);
      hn::StoreU(centre[p], D32(), out.row[7 + 2 * p] + i);
    }
  }
}

// ---- energies

struct EnergyRows {
  const int32_t* signal[kBands];
  const int32_t* masker[3];  // neighbour terms of the rows above, here and below
  const int32_t* centre;
  EnergyShifts shifts[kBands];
};

HWY_INLINE void EnergyRow(const EnergyRows& rows, int count, std::int64_t (&sums)[kBands]) {
  VU64 total[kBands] = {hn::Zero(DU64()), hn::Zero(DU64()), hn::Zero(DU64())};
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int i = 0; i < count; i += lanes) {
    V32 threshold = hn::LoadU(D32(), rows.centre + i);
    for (const int32_t* row : rows.masker)
      threshold = hn::Add(hn::Add(threshold, hn::LoadU(D32(), row + i)),
                          hn::Add(hn::LoadU(D32(), row + i - 1), hn::LoadU(D32(), row + i + 1)));
    const auto inside = hn::FirstN(D32(), static_cast<std::size_t>(count - i));
    for (int b = 0; b < kBands; ++b) {
      const EnergyShifts& shifts = rows.shifts[b];
      const V32 above = hn::Sub(hn::LoadU(D32(), rows.signal[b] + i),
                                hn::ShiftLeftSame(threshold, shifts.threshold));
      const V32 excess = hn::IfThenElseZero(inside, hn::Max(above, hn::Zero(D32())));
      const VU64 square_round = hn::Set(DU64(), static_cast<uint64_t>(half_of(shifts.square)));
      const VU64 cube_round = hn::Set(DU64(), static_cast<uint64_t>(half_of(shifts.cube)));
      const auto cube = [&](V32 e) {
        const VU64 square =
            hn::ShiftRightSame(hn::Add(MulEvenUnsigned(e, e), square_round), shifts.square);
        return hn::ShiftRightSame(hn::Add(MulEvenUnsigned(AsLanes(square), e), cube_round),
                                  shifts.cube);
      };
      total[b] = hn::Add(total[b], hn::Add(cube(excess), cube(AsLanes(OddLanes(excess)))));
    }
  }
  for (int b = 0; b < kBands; ++b)
    sums[b] = static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(DU64(), total[b])));
}

HWY_INLINE uint64_t ReferenceRow(const int32_t* row, int count, const ReferenceShifts& shifts) {
  const VU64 square_term = hn::Set(DU64(), reference_square_term(shifts));
  const VU64 cube_round = hn::Set(DU64(), static_cast<uint64_t>(half_of(shifts.cube)));
  VU64 total = hn::Zero(DU64());
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int i = 0; i < count; i += lanes) {
    const auto inside = hn::FirstN(D32(), static_cast<std::size_t>(count - i));
    const V32 m = hn::IfThenElseZero(inside, hn::Abs(hn::LoadU(D32(), row + i)));
    const auto cube = [&](V32 v) {
      const VU64 square =
          hn::ShiftRightSame(hn::Add(MulEvenUnsigned(v, v), square_term), shifts.square);
      return hn::ShiftRightSame(hn::Add(MulEvenUnsigned(AsLanes(square), v), cube_round),
                                shifts.cube);
    };
    total = hn::Add(total, hn::Add(cube(m), cube(AsLanes(OddLanes(m)))));
  }
  return hn::GetLane(hn::SumOfLanes(DU64(), total));
}

#endif  // HWY_TARGET != HWY_SCALAR
}  // namespace vqx::adm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // VQX_ADM_SIMD_INL
