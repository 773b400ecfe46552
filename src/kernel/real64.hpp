// Binary64 inside kernels: hardware where a device has it at useful speed, else software on
// integers.
//
// A kernel that needs binary64 is a template over `Real`, one of the two classes below, which give
// the same bits for every operation.  Only these operations exist: + - * /, each rounded once to
// nearest even and never contracted, comparison, and the conversions to and from binary32, integers
// and fixed point.
//
//   template <class Real> struct Terms { ... Real sum = Real::from(0.0f); sum = sum +
//   Real::from(x); }; dispatch_real64(executor, [&](auto real) { return
//   executor.launch(Terms<decltype(real)>{...}, grid); });
#pragma once

#include <cstdint>

#include "kernel/scalar.hpp"

#define VQX_EXACT_FN VQX_FN
#include "exact/soft_double.hpp"

namespace vqx::kernel {

VQX_FN uint64_t double_bits(double value) {
#if defined(VQX_NVIDIA_DEVICE)
  return static_cast<uint64_t>(__double_as_longlong(value));
#else
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
#endif
}

VQX_FN double double_from_bits(uint64_t bits) {
#if defined(VQX_NVIDIA_DEVICE)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  double value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
#endif
}

namespace detail {

// The binary64 number with these bits times 2^shift as an integer, rounded to nearest even; the
// result must stay below 2^63.
VQX_FN int64_t double_bits_to_fixed(uint64_t bits, int shift) {
  const int biased = static_cast<int>((bits >> 52) & 2047);
  const uint64_t mantissa = (bits & 0xfffffffffffffull) | (biased ? uint64_t{1} << 52 : 0);
  const int left = (biased ? biased : 1) - 1075 + shift;
  uint64_t magnitude = 0;
  if (left >= 0) {
    magnitude = mantissa << left;
  } else if (left >= -54) {
    magnitude = shift_right_round(mantissa, -left);
  }
  return (bits >> 63) ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

}  // namespace detail

class HardwareReal64 {
 public:
  HardwareReal64() = default;

  VQX_FN static HardwareReal64 from(float value) {
    return HardwareReal64(static_cast<double>(value));
  }
  VQX_FN static HardwareReal64 from_integer(int64_t value) {
    return HardwareReal64(static_cast<double>(value));
  }
  VQX_FN static HardwareReal64 from_bits(uint64_t bits) {
    return HardwareReal64(double_from_bits(bits));
  }

  VQX_FN uint64_t bits() const { return double_bits(value_); }
  VQX_FN float to_float() const { return static_cast<float>(value_); }
  // The value times 2^shift as an integer, rounded to nearest even; below 2^63 in magnitude.
  VQX_FN int64_t to_fixed(int shift) const {
    return detail::double_bits_to_fixed(double_bits(value_), shift);
  }

#if defined(VQX_NVIDIA_DEVICE)
  friend VQX_FN HardwareReal64 operator+(HardwareReal64 a, HardwareReal64 b) {
    return HardwareReal64(__dadd_rn(a.value_, b.value_));
  }
  friend VQX_FN HardwareReal64 operator-(HardwareReal64 a, HardwareReal64 b) {
    return HardwareReal64(__dadd_rn(a.value_, -b.value_));
  }
  friend VQX_FN HardwareReal64 operator*(HardwareReal64 a, HardwareReal64 b) {
    return HardwareReal64(__dmul_rn(a.value_, b.value_));
  }
  friend VQX_FN HardwareReal64 operator/(HardwareReal64 a, HardwareReal64 b) {
    return HardwareReal64(__ddiv_rn(a.value_, b.value_));
  }
#else
  friend VQX_FN HardwareReal64 operator+(HardwareReal64 a, HardwareReal64 b) {
    return HardwareReal64(a.value_ + b.value_);
  }
  friend VQX_FN HardwareReal64 operator-(HardwareReal64 a, HardwareReal64 b) {
    return HardwareReal64(a.value_ - b.value_);
  }
  friend VQX_FN HardwareReal64 operator*(HardwareReal64 a, HardwareReal64 b) {
    return HardwareReal64(a.value_ * b.value_);
  }
  friend VQX_FN HardwareReal64 operator/(HardwareReal64 a, HardwareReal64 b) {
    return HardwareReal64(a.value_ / b.value_);
  }
#endif
  friend VQX_FN bool operator<(HardwareReal64 a, HardwareReal64 b) {
    return a.value_ < b.value_;
  }

 private:
  VQX_FN explicit HardwareReal64(double value) : value_(value) {}
  double value_;
};

class SoftwareReal64 {
 public:
  SoftwareReal64() = default;

  VQX_FN static SoftwareReal64 from(float value) {
    return SoftwareReal64(exact::soft::from_float_bits(float_bits(value)));
  }
  VQX_FN static SoftwareReal64 from_integer(int64_t value) {
    return SoftwareReal64(exact::soft::from_int64(value));
  }
  VQX_FN static SoftwareReal64 from_bits(uint64_t bits) { return SoftwareReal64(bits); }

  VQX_FN uint64_t bits() const { return bits_; }
  VQX_FN float to_float() const { return float_from_bits(exact::soft::to_float_bits(bits_)); }
  VQX_FN int64_t to_fixed(int shift) const { return detail::double_bits_to_fixed(bits_, shift); }

  friend VQX_FN SoftwareReal64 operator+(SoftwareReal64 a, SoftwareReal64 b) {
    return SoftwareReal64(exact::soft::add(a.bits_, b.bits_));
  }
  friend VQX_FN SoftwareReal64 operator-(SoftwareReal64 a, SoftwareReal64 b) {
    return SoftwareReal64(exact::soft::subtract(a.bits_, b.bits_));
  }
  friend VQX_FN SoftwareReal64 operator*(SoftwareReal64 a, SoftwareReal64 b) {
    return SoftwareReal64(exact::soft::multiply(a.bits_, b.bits_));
  }
  friend VQX_FN SoftwareReal64 operator/(SoftwareReal64 a, SoftwareReal64 b) {
    return SoftwareReal64(exact::soft::divide(a.bits_, b.bits_));
  }
  friend VQX_FN bool operator<(SoftwareReal64 a, SoftwareReal64 b) {
    return exact::soft::less(a.bits_, b.bits_);
  }

 private:
  VQX_FN explicit SoftwareReal64(uint64_t bits) : bits_(bits) {}
  uint64_t bits_;
};

// Calls f with a value of the class that the executor's device needs.
template <class Executor, class F>
auto dispatch_real64(const Executor& executor, F&& f) {
  return executor.hardware_fp64() ? f(HardwareReal64{}) : f(SoftwareReal64{});
}

}  // namespace vqx::kernel
