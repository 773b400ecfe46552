// Correctly rounded elementary functions: the binary64 (powf: binary32) nearest to the true value,
// ties to even, so that no C library and no processor shows in a score.
//
// Each function first settles special and exact cases, then evaluates in double-double arithmetic
// with a proved error bound (fast_functions.hpp).  If every real number within the bound rounds to
// the same result, that is it (Ziv, "Fast evaluation of elementary mathematical functions with
// correctly rounded last bit", 1991); otherwise - about once in 10^4 to 10^6 calls, for subnormal
// results and for sin and cos beyond 64 - GNU MPFR decides.
//
// Infinities, NaN, zeros and signs follow IEEE 754 and C (annex F); subnormals are kept.  Requires
// the default floating-point environment (round to nearest, no flush to zero); the floating-point
// exception flags and errno are not part of the result.  Thread-safe.
#pragma once

namespace vqx::exact {

double exp(double x);
double log(double x);
double log2(double x);
double log10(double x);
double pow(double x, double y);
double sin(double x);
double cos(double x);
double atan2(double y, double x);
float powf(float x, float y);

}  // namespace vqx::exact
