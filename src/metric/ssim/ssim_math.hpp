// The arithmetic of one sample, one filter tap and one window position (spec: ssim.md), for host
// code and kernels alike.  Every operation is rounded once, to nearest even.
#pragma once

#include <cstdint>

#include "kernel/scalar.hpp"

namespace vqx::ssim {

inline constexpr int kTaps = 11;          // of the Gaussian window, both ways
inline constexpr int kReach = kTaps - 1;  // samples that the valid positions lose
inline constexpr int kPyramidTaps = 9;    // of the low-pass between levels, both ways
inline constexpr int kLevels = 5;
inline constexpr int kTermUnit = 52;  // frame sums count terms in units of 2^-52

// Tap k of the window; symmetric, and the sum is 1.000002 (nothing compensates).
VQX_FN constexpr float gaussian_tap(int k) {
  const int distance = k < 5 ? 5 - k : k - 5;
  return distance == 0   ? 0.266012f
         : distance == 1 ? 0.213006f
         : distance == 2 ? 0.109361f
         : distance == 3 ? 0.036001f
         : distance == 4 ? 0.007599f
                         : 0.001028f;
}

VQX_FN constexpr int fold_pyramid_tap(int i) {
  return i < 5 ? i : 8 - i;
}

// Tap (i, j) of the 9 x 9 low-pass of the pyramid: the law's rounded table, not a product of 1-D
// taps.  Symmetric under both mirrorings and transposition.
VQX_FN constexpr float pyramid_tap(int i, int j) {
  const int a =
      fold_pyramid_tap(i) < fold_pyramid_tap(j) ? fold_pyramid_tap(i) : fold_pyramid_tap(j);
  const int b =
      fold_pyramid_tap(i) < fold_pyramid_tap(j) ? fold_pyramid_tap(j) : fold_pyramid_tap(i);
  switch (a * 5 + b) {
    case 0:
      return 0.000714f;
    case 1:
      return -0.000450f;
    case 2:
      return -0.002090f;
    case 3:
      return 0.007132f;
    case 4:
      return 0.016114f;
    case 6:
      return 0.000283f;
    case 7:
      return 0.001316f;
    case 8:
      return -0.004490f;
    case 9:
      return -0.010146f;
    case 12:
      return 0.006115f;
    case 13:
      return -0.020867f;
    case 14:
      return -0.047149f;
    case 18:
      return 0.071207f;
    case 19:
      return 0.160885f;
    default:
      return 0.363505f;
  }
}

// Tap i of the 1-D low-pass of the separable variant.
VQX_FN constexpr float separable_tap(int i) {
  const int k = fold_pyramid_tap(i);
  return k == 0   ? 0.026727f
         : k == 1 ? -0.016828f
         : k == 2 ? -0.078201f
         : k == 3 ? 0.266846f
                  : 0.602914f;
}

// Stabilising constants on the 8-bit scale, whatever the depth.
inline constexpr float kK1 = 0.01f * 255.0f;
inline constexpr float kK2 = 0.03f * 255.0f;
inline constexpr float kC1 = kK1 * kK1;
inline constexpr float kC2 = kK2 * kK2;
inline constexpr float kC3 = kC2 / 2.0f;

// Samples go to the 8-bit scale; a power of two, hence exact.
constexpr float sample_scale(int bit_depth) {
  return 1.0f / static_cast<float>(1 << (bit_depth - 8));
}

// A size in samples; may be degenerate (0 or less).
struct Size {
  int width = 0;
  int height = 0;
  std::int64_t area() const { return std::int64_t{width} * height; }
  friend bool operator==(const Size&, const Size&) = default;
};
inline Size decimated(Size plane, int factor) {
  if (factor == 1) return plane;
  return {plane.width / factor + plane.width % 2, plane.height / factor + plane.height % 2};
}
inline Size next_level(Size level) {
  return {(level.width + 1) / 2, (level.height + 1) / 2};
}
// Window positions; zero or negative sides where no window fits.
inline Size positions(Size plane) {
  return {plane.width - kReach, plane.height - kReach};
}

// What one option set asks of a device.
struct DeviceOptions {
  std::int64_t planes = 1;
  std::int64_t factor[3] = {};  // float_ssim: decimation of each plane
  std::int64_t separable = 0;   // float_ms_ssim: 1 for the separable variant
};
// Up to here sums of a cell are exact whatever their order (products are multiples of 2^-45, totals
// below 2^8); greater factors are left to the plain code, in the law's order.
inline constexpr int kMaxExactFactor = 128;

// Reflection about the half-sample border (-1 -> 0, n -> n - 1), repeated where needed.
VQX_FN int mirror(int index, int n) {
  while (index < 0 || index >= n) index = index < 0 ? -1 - index : 2 * n - 1 - index;
  return index;
}

// Window-weighted local statistics of one position.
struct Moments {
  float mean_a, mean_b;
  float square_a, square_b, product;
};

// Luminance, contrast and structure of one position.
template <class Real>
struct Terms {
  Real luminance;
  Real contrast;
  float structure;
};

template <class Real>
VQX_FN Terms<Real> local_terms(const Moments& m) {
  using kernel::add;
  using kernel::mul;
  using kernel::sub;
  const float aa = mul(m.mean_a, m.mean_a);
  const float bb = mul(m.mean_b, m.mean_b);
  const float raw_a = sub(m.square_a, aa);
  const float raw_b = sub(m.square_b, bb);
  const float variance_a = raw_a > 0 ? raw_a : 0;
  const float variance_b = raw_b > 0 ? raw_b : 0;
  const float covariance = sub(m.product, mul(m.mean_a, m.mean_b));
  const float deviation = kernel::sqrt(mul(variance_a, variance_b));

  // Both products are exact in binary64, so each numerator is rounded once.
  const Real luminance_top = Real::from(mul(2, m.mean_a)) * Real::from(m.mean_b) + Real::from(kC1);
  const Real contrast_top = Real::from(mul(2, deviation)) + Real::from(kC2);
  const float kept = covariance < 0 && deviation <= 0 ? 0 : covariance;
  return {luminance_top / Real::from(add(add(aa, bb), kC1)),
          contrast_top / Real::from(add(add(variance_a, variance_b), kC2)),
          kernel::div(add(kept, kC3), add(deviation, kC3))};
}

template <class Real>
VQX_FN Real similarity(const Terms<Real>& t) {
  return (t.luminance * t.contrast) * Real::from(t.structure);
}

}  // namespace vqx::ssim
