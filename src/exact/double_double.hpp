// Double-double arithmetic: a value as the unevaluated sum hi + lo of two binary64 numbers.
//
// Only additions, subtractions and products rounded one by one are used, no fused multiply-add, so
// the same bits come out with and without FMA hardware.  (Dekker, "A floating-point technique for
// extending the available precision", 1971; Knuth, TAOCP 2, 4.2.2.)
#pragma once

#include <cfloat>

namespace vqx::exact {

static_assert(FLT_EVAL_METHOD == 0, "binary64 operations must round to binary64 at once");

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

// a + b exactly, where |a| >= |b| or a = 0.
constexpr DoubleDouble fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a + b exactly.
constexpr DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// a cut into two halves of at most 26 bits each; |a| < 2^996.
constexpr DoubleDouble split(double a) {
  const double scaled = 0x1.0000002p+27 * a;
  const double head = scaled - (scaled - a);
  return {head, a - head};
}

// a * b exactly, where no partial product over- or underflows.
constexpr DoubleDouble two_product(double a, double b) {
  const DoubleDouble x = split(a);
  const DoubleDouble y = split(b);
  const double product = a * b;
  return {product, ((x.hi * y.hi - product) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

// a * b with a relative error below 2^-101.
constexpr DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = two_product(a.hi, b.hi);
  return fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
constexpr DoubleDouble multiply(DoubleDouble a, double b) {
  const DoubleDouble p = two_product(a.hi, b);
  return fast_two_sum(p.hi, p.lo + a.lo * b);
}

}  // namespace vqx::exact
