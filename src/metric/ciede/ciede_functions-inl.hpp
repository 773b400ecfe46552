// Elementary functions in SIMD with bounded error, for ciede_cpu.cpp and the test that measures the
// bounds.  Included once per target.
//
// Coefficients: Chebyshev interpolation in extended precision.  u = 2^-53.  No multiply-add is
// used, so every target computes the same bits; what counts is only that the errors stay below
// kFunctionError, which is some 8 times what the proofs below leave.
#if defined(VQX_CIEDE_FUNCTIONS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef VQX_CIEDE_FUNCTIONS_INL_HPP
#undef VQX_CIEDE_FUNCTIONS_INL_HPP
#else
#define VQX_CIEDE_FUNCTIONS_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vqx::ciede::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::ScalableTag<double>;
using F32 = hn::Rebind<float, F64>;  // as many lanes as F64
using V64 = hn::Vec<F64>;
using V32 = hn::Vec<F32>;

// Relative error of every function here against the true value; of SinCos absolute.
constexpr double kFunctionError = 0x1p-47;

HWY_INLINE V64 Constant(double value) {
  return hn::Set(F64(), value);
}

template <std::size_t n>
HWY_INLINE V64 Polynomial(V64 x, const double (&coefficients)[n]) {
  V64 sum = Constant(coefficients[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) sum = hn::Add(hn::Mul(sum, x), Constant(coefficients[i]));
  return sum;
}

// First terms of (1 - h)^(-1/n) = 1 + c1 h + c2 h^2 + ...
template <int n>
constexpr double kRootSeries[3] = {1.0 / n, (1.0 + n) / (2.0 * n * n),
                                   (1.0 + n) * (1.0 + 2 * n) / (6.0 * n * n * n)};

// x^(-1/n), n = 3 or 5, for x in [2^-10, 2^10].
//
// Start: the bits of a binary32 number are nearly linear in its logarithm; h = 1 - x z^n is below
// 0.16.  One step of the series in binary32 leaves h below 2^-12, one in binary64 the first term
// left out: below 2^-52.  h itself carries n + 1 roundings near 1, divided by n, and the last two
// operations round: together below 2^-50.
template <int n>
HWY_INLINE V64 InverseRoot(V64 x) {
  static_assert(n == 3 || n == 5);
  const F32 d32;
  const hn::Rebind<std::int32_t, F64> di;
  const V32 x32 = hn::DemoteTo(d32, x);
  const V32 bits = hn::ConvertTo(d32, hn::BitCast(di, x32));
  const V32 start = hn::Add(hn::Mul(bits, hn::Set(d32, -1.0f / n)),
                            hn::Set(d32, n == 3 ? 1419900500.0f : 1277903700.0f));
  V32 z32 = hn::BitCast(d32, hn::ConvertTo(di, start));
  const V32 square32 = hn::Mul(z32, z32);
  V32 product32 = hn::Mul(hn::Mul(x32, z32), square32);
  if (n == 5) product32 = hn::Mul(product32, square32);
  const V32 h32 = hn::Sub(hn::Set(d32, 1), product32);
  const auto c32 = [&](int i) { return hn::Set(d32, static_cast<float>(kRootSeries<n>[i])); };
  const V32 inner32 = hn::Add(hn::Mul(hn::Add(hn::Mul(c32(2), h32), c32(1)), h32), c32(0));
  z32 = hn::Add(z32, hn::Mul(z32, hn::Mul(h32, inner32)));

  const V64 z = hn::PromoteTo(F64(), z32);
  const V64 square = hn::Mul(z, z);
  V64 product = hn::Mul(hn::Mul(x, z), square);
  if (n == 5) product = hn::Mul(product, square);
  const V64 h = hn::Sub(Constant(1), product);
  return hn::Add(z, hn::Mul(z, hn::Mul(h, Polynomial(h, kRootSeries<n>))));
}

// x^2.4 for x in [2^-5, 4]: (x x^(-1/5))^3 is x^(12/5).  The root's error counts three times, five
// products round; that the nearest binary64 to 2.4 is not 12/5 changes less than 2u: below 2^-48.
HWY_INLINE V64 Power24(V64 x) {
  const V64 root = hn::Mul(x, InverseRoot<5>(x));
  return hn::Mul(hn::Mul(root, root), root);
}

// x^(1/3) for x in [2^-8, 8].  Here the exponent's rounding changes less than u.
HWY_INLINE V64 CubeRoot(V64 x) {
  const V64 root = InverseRoot<3>(x);
  return hn::Mul(hn::Mul(root, root), x);
}

// sin x for |x| <= 1.5709, relative: x (1 + s P(s)), P to 2^-54, s = x^2; some 4 roundings count.
HWY_INLINE V64 Sin(V64 x) {
  constexpr double kTerms[] = {
      -0x1.5555555555555p-3,  0x1.1111111111107p-7,  -0x1.a01a01a018ab9p-13, 0x1.71de3a5456f74p-19,
      -0x1.ae6455a226e0bp-26, 0x1.6124017330d2bp-33, -0x1.ae513fbb28e1bp-41, 0x1.89a5530903e32p-49};
  const V64 s = hn::Mul(x, x);
  return hn::Add(x, hn::Mul(x, hn::Mul(s, Polynomial(s, kTerms))));
}

// Both for x in [0, 8], absolute error: x - k pi in [-1.5709, 1.5709] is off by less than 2^-51
// (k <= 3 times the error of the constant, and a rounding), polynomials as above.
struct SinCos {
  V64 sin, cos;
};
HWY_INLINE SinCos SinAndCos(V64 x) {
  constexpr double kTerms[] = {
      -0x1.0000000000000p-1,  0x1.5555555555526p-5,  -0x1.6c16c16c1394cp-10, 0x1.a01a019d86f0dp-16,
      -0x1.27e4fa70ff65fp-22, 0x1.1eed1d5aa9d0ep-29, -0x1.9360bb3d3ecf6p-37, 0x1.a0d2762f1b839p-45};
  constexpr double kRound = 0x1.8p52;  // adding it leaves an integer in the low bits
  const V64 shifted = hn::Add(hn::Mul(x, Constant(0x1.45f306dc9c883p-2)), Constant(kRound));
  const V64 k = hn::Sub(shifted, Constant(kRound));
  const V64 r = hn::Sub(x, hn::Mul(k, Constant(0x1.921fb54442d18p+1)));
  const hn::Rebind<std::uint64_t, F64> du;
  const V64 sign = hn::BitCast(F64(), hn::ShiftLeft<63>(hn::BitCast(du, shifted)));  // k odd
  const V64 s = hn::Mul(r, r);
  const V64 cos = hn::Add(Constant(1), hn::Mul(s, Polynomial(s, kTerms)));
  return {hn::Xor(Sin(r), sign), hn::Xor(cos, sign)};
}

// e^-x for x in [0, 300]: 2^-k e^r, |r| <= 0.3467.  k (9 bits) times the first part of ln 2 is
// exact, and so is the difference; r's error below 2^-54 and the polynomial's few roundings: below
// 2^-50.
HWY_INLINE V64 ExpOfMinus(V64 x) {
  constexpr double kTerms[] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d56p-5,
                               0x1.11111111109c3p-7,  0x1.6c16c17890d26p-10, 0x1.a01a01a7bf113p-13,
                               0x1.a019b8f9bfb76p-16, 0x1.71de0db61e75cp-19, 0x1.28919c891a23cp-22,
                               0x1.af38a57d7fa97p-26};
  constexpr double kRound = 0x1.8p52;
  const V64 shifted = hn::Add(hn::Mul(x, Constant(-0x1.71547652b82fep+0)), Constant(kRound));
  const V64 k = hn::Sub(shifted, Constant(kRound));  // at most 0
  const V64 reduced = hn::Sub(hn::Neg(x), hn::Mul(k, Constant(0x1.62e42fefap-1)));
  const V64 r = hn::Sub(reduced, hn::Mul(k, Constant(0x1.cf79abc9e3b3ap-40)));
  const V64 power = hn::Add(Constant(1), hn::Add(r, hn::Mul(hn::Mul(r, r), Polynomial(r, kTerms))));
  const hn::Rebind<std::uint64_t, F64> du;
  const auto exponent = hn::Add(hn::BitCast(du, shifted), hn::Set(du, 1023));
  return hn::Mul(power, hn::BitCast(F64(), hn::ShiftLeft<52>(exponent)));
}

// atan2(y, x) of binary32 values, not both 0, in (-pi, pi]; zeros count as +0.  Relative.
//
// t = smaller / larger of the magnitudes, turned by pi/4 where above tan(pi/8), so that
// |t| <= 0.41422; atan t = t (1 + s P(s)), P to 2^-52.  Then steps of pi/4, pi/2 and pi, whose
// results are never small against their terms: about 10 roundings, below 2^-49.
HWY_INLINE V64 Atan2(V64 y, V64 x) {
  constexpr double kTerms[] = {-0x1.5555555555546p-2, 0x1.9999999990a95p-3,  -0x1.2492491dd44b9p-3,
                               0x1.c71c6dd19647cp-4,  -0x1.745c7f7d9c94ap-4, 0x1.3b068e86e87d9p-4,
                               -0x1.105e3c030b66fp-4, 0x1.d5eb5fa640f0bp-5,  -0x1.6f4594cf80163p-5,
                               0x1.74bc8c26ea883p-6};
  constexpr double kQuarter = 0x1.921fb54442d18p-1;  // pi / 4
  const V64 zero = hn::Zero(F64());
  const V64 abs_x = hn::Abs(x), abs_y = hn::Abs(y);
  const V64 small = hn::Min(abs_x, abs_y), large = hn::Max(abs_x, abs_y);
  const auto turned = hn::Gt(small, hn::Mul(large, Constant(0x1.a827999fcef32p-2)));
  const V64 upper = hn::IfThenElse(turned, hn::Sub(small, large), small);
  const V64 lower = hn::IfThenElse(turned, hn::Add(small, large), large);
  const V64 t = hn::Div(upper, hn::IfThenElse(hn::Eq(lower, zero), Constant(1), lower));
  const V64 s = hn::Mul(t, t);
  V64 angle = hn::Add(t, hn::Mul(t, hn::Mul(s, Polynomial(s, kTerms))));
  angle = hn::Add(angle, hn::IfThenElseZero(turned, Constant(kQuarter)));
  angle = hn::IfThenElse(hn::Gt(abs_y, abs_x), hn::Sub(Constant(2 * kQuarter), angle), angle);
  angle = hn::IfThenElse(hn::Lt(x, zero), hn::Sub(Constant(4 * kQuarter), angle), angle);
  return hn::IfThenElse(hn::Lt(y, zero), hn::Neg(angle), angle);
}

#endif  // HWY_TARGET != HWY_SCALAR
}  // namespace vqx::ciede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
