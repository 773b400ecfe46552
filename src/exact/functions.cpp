#include "exact/functions.hpp"

#include <mpfr.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>

#include "exact/fast_functions.hpp"

namespace vqx::exact {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double magnitude(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~(std::uint64_t{1} << 63));
}
bool sign_bit(double x) {
  return std::bit_cast<std::int64_t>(x) < 0;
}
bool is_nan(double x) {
  return x != x;
}
bool is_infinite(double x) {
  return magnitude(x) == kInfinity;
}
double with_sign(double x, bool negative) {
  return negative ? -x : x;
}

// 2^exponent for a normal result.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// ---------------------------------------------------------------------------------- GNU MPFR

struct Format {
  mpfr_prec_t precision;
  mpfr_exp_t exponent_min;  // of the smallest subnormal, as MPFR counts exponents
  mpfr_exp_t exponent_max;
};
constexpr Format kBinary64{53, -1073, 1024};
constexpr Format kBinary32{24, -148, 128};

// The caller's MPFR settings, put back on leaving.  They belong to the thread where MPFR was built
// thread-safe (as it usually is), else to the process, and then one call runs at a time.
class MpfrScope {
 public:
  MpfrScope() {
    static std::mutex mutex;
    if (!mpfr_buildopt_tls_p()) lock_ = std::unique_lock(mutex);
    exponent_min_ = mpfr_get_emin();
    exponent_max_ = mpfr_get_emax();
    flags_ = mpfr_flags_save();
    set_exponents(mpfr_get_emin_min(), mpfr_get_emax_max());
  }
  ~MpfrScope() {
    set_exponents(exponent_min_, exponent_max_);
    mpfr_flags_restore(flags_, MPFR_FLAGS_ALL);
  }
  MpfrScope(const MpfrScope&) = delete;
  MpfrScope& operator=(const MpfrScope&) = delete;

  static void set_exponents(mpfr_exp_t low, mpfr_exp_t high) {
    mpfr_set_emin(low);
    mpfr_set_emax(high);
  }

 private:
  std::unique_lock<std::mutex> lock_;
  mpfr_exp_t exponent_min_ = 0;
  mpfr_exp_t exponent_max_ = 0;
  mpfr_flags_t flags_ = 0;
};

class MpfrNumber {
 public:
  explicit MpfrNumber(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  explicit MpfrNumber(double x) : MpfrNumber(mpfr_prec_t{53}) { mpfr_set_d(value_, x, MPFR_RNDN); }
  ~MpfrNumber() { mpfr_clear(value_); }
  MpfrNumber(const MpfrNumber&) = delete;
  MpfrNumber& operator=(const MpfrNumber&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// MPFR caches constants such as pi for each thread; nobody else would free them.
struct MpfrCacheGuard {
  ~MpfrCacheGuard() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

using MpfrFunction = int (*)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y);

double by_mpfr(const Format& format, MpfrFunction function, double x, double y = 0) {
  thread_local const MpfrCacheGuard guard;
  const MpfrScope scope;
  MpfrNumber a(x);
  MpfrNumber b(y);
  MpfrNumber result(format.precision);
  MpfrScope::set_exponents(format.exponent_min, format.exponent_max);
  const int direction = function(result.get(), a.get(), b.get());
  mpfr_subnormalize(result.get(), direction, MPFR_RNDN);
  return mpfr_get_d(result.get(), MPFR_RNDN);
}

template <int (*kFunction)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
int unary(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  return kFunction(result, x, MPFR_RNDN);
}

template <int (*kFunction)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)>
int binary(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  return kFunction(result, x, y, MPFR_RNDN);
}

// ------------------------------------------------------------------------------ rounding test

// The binary64 nearest to every number that differs from v by at most error * |v|, if they agree.
std::optional<double> round(DoubleDouble v, double error) {
  const double slack = magnitude(v.hi) * error;
  const double low = v.hi + (v.lo - slack);
  const double high = v.hi + (v.lo + slack);
  if (low != high) return std::nullopt;
  return low;
}

std::optional<double> round(const fast::Scaled& v, double error) {
  if (v.exponent < -1021 || v.exponent > 1022) return std::nullopt;  // may be subnormal or infinite
  const std::optional<double> rounded = round(v.mantissa, error);
  if (!rounded) return std::nullopt;
  return *rounded * power_of_two(v.exponent);
}

// ------------------------------------------------------------------------------------ helpers

bool is_integer(double y) {
  return magnitude(y) >= 0x1p53 || static_cast<double>(static_cast<std::int64_t>(y)) == y;
}
bool is_odd_integer(double y) {
  return magnitude(y) < 0x1p53 && is_integer(y) && (static_cast<std::int64_t>(y) & 1) != 0;
}

// What all logarithms share: the value where x is zero, negative, infinite or NaN.
std::optional<double> special_log(double x) {
  if (x == 0) return -kInfinity;
  if (is_nan(x) || x < 0) return kNan;
  if (x == kInfinity) return x;
  return std::nullopt;
}

// pow(x, y) where x or y is special, by C annex F.
std::optional<double> special_pow(double x, double y) {
  if (y == 0 || x == 1) return 1.0;
  if (is_nan(x) || is_nan(y)) return kNan;
  const double size = magnitude(x);
  if (is_infinite(y)) {
    if (size == 1) return 1.0;
    return (size > 1) == (y > 0) ? kInfinity : 0.0;
  }
  if (x == 0 || is_infinite(x)) {
    const double result = (x == 0) == (y > 0) ? 0.0 : kInfinity;
    return with_sign(result, sign_bit(x) && is_odd_integer(y));
  }
  if (x < 0 && !is_integer(y)) return kNan;
  return std::nullopt;
}

// x^y exactly in 64 bits, for a finite x > 0 and a whole y.  Covers all results that are exact or
// half-way between two neighbours when y is whole, which no rounding test can decide.
std::optional<double> whole_power(double x, double y) {
  if (magnitude(y) > 1023 || !is_integer(y) || x < 0x1p-1022) return std::nullopt;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  std::uint64_t odd = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
  const int zeros = std::countr_zero(odd);
  odd >>= zeros;
  const int n = static_cast<int>(y);
  const int exponent = (static_cast<int>(bits >> 52) - 1075 + zeros) * n;
  if (exponent < -1022 || exponent > 1023 - 64) return std::nullopt;
  std::uint64_t product = 1;
  if (odd != 1) {
    if (n < 0) return std::nullopt;
    for (int i = 0; i < n; ++i)
      if (__builtin_mul_overflow(product, odd, &product)) return std::nullopt;
  }
  return static_cast<double>(product) * power_of_two(exponent);
}

// The error, relative to e^value, of an exp whose argument is y times a logarithm.
double power_error(DoubleDouble value) {
  return fast::kExpError + magnitude(value.hi) * (2 * fast::kLogError);
}

}  // namespace

double exp(double x) {
  if (is_nan(x)) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  if (magnitude(x) < 0x1p-54) return 1;
  if (const auto result = round(fast::exp(x, 0), fast::kExpError)) return *result;
  return by_mpfr(kBinary64, unary<mpfr_exp>, x);
}

double log(double x) {
  if (const auto special = special_log(x)) return *special;
  if (const auto result = round(fast::log(x), fast::kLogError)) return *result;
  return by_mpfr(kBinary64, unary<mpfr_log>, x);
}

double log2(double x) {
  if (const auto special = special_log(x)) return *special;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  if (bits << 12 == 0 && x >= 0x1p-1022) return static_cast<int>(bits >> 52) - 1023;
  const DoubleDouble value = multiply(fast::log(x), fast::kInvLn2);
  if (const auto result = round(value, 2 * fast::kLogError)) return *result;
  return by_mpfr(kBinary64, unary<mpfr_log2>, x);
}

double log10(double x) {
  if (const auto special = special_log(x)) return *special;
  const DoubleDouble value = multiply(fast::log(x), fast::kInvLn10);
  if (const auto result = round(value, 2 * fast::kLogError)) return *result;
  return by_mpfr(kBinary64, unary<mpfr_log10>, x);
}

double pow(double x, double y) {
  if (const auto special = special_pow(x, y)) return *special;
  if (y == 1) return x;
  const bool negative = x < 0 && is_odd_integer(y);
  const double base = magnitude(x);
  if (const auto exact = whole_power(base, y)) return with_sign(*exact, negative);
  const DoubleDouble logarithm = fast::log(base);
  const double estimate = y * logarithm.hi;
  if (estimate > 720) return with_sign(kInfinity, negative);
  if (estimate < -760) return with_sign(0, negative);
  if (magnitude(estimate) < 0x1p-60) return with_sign(1, negative);
  const DoubleDouble exponent = multiply(logarithm, y);
  const fast::Scaled power = fast::exp(exponent.hi, exponent.lo);
  if (const auto result = round(power, power_error(exponent))) return with_sign(*result, negative);
  return with_sign(by_mpfr(kBinary64, binary<mpfr_pow>, base, y), negative);
}

float powf(float x, float y) {
  if (const auto special = special_pow(x, y)) return static_cast<float>(*special);
  if (y == 1) return x;
  const bool negative = x < 0 && is_odd_integer(y);
  const double base = magnitude(x);
  const auto finish = [&](double result) {
    return static_cast<float>(with_sign(result, negative));
  };
  const DoubleDouble logarithm = fast::log(base);
  const double estimate = y * logarithm.hi;
  if (estimate > 100) return finish(kInfinity);
  if (estimate < -110) return finish(0);
  if (magnitude(estimate) < 0x1p-30) return finish(1);
  const DoubleDouble exponent = multiply(logarithm, y);
  const fast::Scaled power = fast::exp(exponent.hi, exponent.lo);
  const double scale = power_of_two(power.exponent);
  // Far wider than the error, and still decisive for all but one call in 2^25.
  const double low = power.mantissa.hi * (1 - 0x1p-50) * scale;
  const double high = power.mantissa.hi * (1 + 0x1p-50) * scale;
  if (static_cast<float>(low) == static_cast<float>(high)) return finish(low);
  return finish(by_mpfr(kBinary32, binary<mpfr_pow>, base, y));
}

double sin(double x) {
  const double size = magnitude(x);
  if (!(size < kInfinity)) return kNan;
  if (size < 0x1p-28) return x;  // x - x^3/6 is nearer to x than a quarter of its last place
  if (size <= fast::kSinLimit)
    if (const auto result = round(fast::sin(x, 0), fast::kSinError)) return *result;
  return by_mpfr(kBinary64, unary<mpfr_sin>, x);
}

double cos(double x) {
  const double size = magnitude(x);
  if (!(size < kInfinity)) return kNan;
  if (size < 0x1p-28) return 1;
  if (size <= fast::kSinLimit)
    if (const auto result = round(fast::sin(x, 1), fast::kSinError)) return *result;
  return by_mpfr(kBinary64, unary<mpfr_cos>, x);
}

double atan2(double y, double x) {
  if (is_nan(x) || is_nan(y)) return kNan;
  const double height = magnitude(y);
  const double width = magnitude(x);
  const bool below = sign_bit(y);
  const bool left = sign_bit(x);
  if (height == 0) return with_sign(left ? fast::kPi.hi : 0, below);
  if (width == 0) return with_sign(fast::kHalfPi.hi, below);
  if (is_infinite(x)) {
    if (is_infinite(y)) return with_sign(left ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1, below);
    return with_sign(left ? fast::kPi.hi : 0, below);
  }
  if (is_infinite(y)) return with_sign(fast::kHalfPi.hi, below);

  const auto exponent_of = [](double v) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52);
  };
  const bool steep = height > width;
  const double larger = steep ? height : width;
  const double smaller = steep ? width : height;
  const int exponent = exponent_of(larger);
  if (exponent_of(smaller) > 0 && exponent - exponent_of(smaller) < 100 && exponent < 2046) {
    const double scale = power_of_two(1023 - exponent);
    DoubleDouble angle = fast::atan(smaller * scale, larger * scale);
    if (steep != left) angle = {-angle.hi, -angle.lo};
    if (steep || left) {  // pi/2 or pi, plus or minus the angle
      const DoubleDouble& base = steep ? fast::kHalfPi : fast::kPi;
      const DoubleDouble sum = fast_two_sum(base.hi, angle.hi);
      angle = fast_two_sum(sum.hi, sum.lo + (base.lo + angle.lo));
    }
    if (const auto result = round(angle, fast::kAtanError)) return with_sign(*result, below);
  }
  return by_mpfr(kBinary64, binary<mpfr_atan2>, y, x);
}

}  // namespace vqx::exact
