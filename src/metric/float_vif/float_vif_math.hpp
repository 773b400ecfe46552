// The arithmetic of one sample (spec: vif.md, section 8), for host code and kernels alike.  Every
// operation is rounded once, to nearest even.
#pragma once

#include <cstdint>

#include "kernel/real64.hpp"
#include "kernel/scalar.hpp"

namespace vqx::float_vif {

inline constexpr float kTiny = 1e-10f;

// Filtered samples and products of one position.
struct Moments {
  float mean_a, mean_b;
  float square_a, square_b, product;
};

// How moments are scored.
struct Channel {
  float gain_limit;
  double noise;      // variance of the neural noise
  float flat_below;  // the least fp32 number that is not below `noise`
  float flat_slope;  // noise^2 / 65025
};

struct Terms {
  float num;
  float den;
};

// Polynomial of log2(1 + t), highest power first; the last coefficient, 0, follows.
inline constexpr int kLogDegree = 8;
VQX_FN constexpr float log_coefficient(int i) {
  constexpr float kCoefficients[kLogDegree] = {
      -0.012671635276421f, 0.064841182402670f, -0.157048836463065f, 0.257167726303123f,
      -0.353800560300520f, 0.480131410397451f, -0.721314327952201f, 1.442694803896991f};
  return kCoefficients[i];
}

// The law's logarithm to base 2: exponent plus polynomial, whatever number the bits are taken for.
VQX_FN float log2_of(float v) {
  const std::uint32_t bits = kernel::float_bits(v);
  const float t = kernel::sub(kernel::float_from_bits((bits & 0x7FFFFF) | 0x3F800000), 1);
  float sum = log_coefficient(0);
  for (int i = 1; i < kLogDegree; ++i) sum = kernel::add(kernel::mul(sum, t), log_coefficient(i));
  sum = kernel::mul(sum, t);
  return kernel::add(static_cast<float>(static_cast<int>((bits >> 23) & 255) - 127), sum);
}

// 1 + a / b, the quotient and the sum in binary64, then rounded to binary32.
template <class Real>
VQX_FN float one_plus_ratio(float a, Real b) {
  return (Real::from(1) + Real::from(a) / b).to_float();
}

template <class Real>
VQX_FN Terms score(const Moments& m, const Channel& channel, Real noise) {
  using kernel::add;
  using kernel::mul;
  using kernel::sub;
  float s11 = sub(m.square_a, mul(m.mean_a, m.mean_a));
  float s22 = sub(m.square_b, mul(m.mean_b, m.mean_b));
  const float s12 = sub(m.product, mul(m.mean_a, m.mean_b));
  s11 = s11 > 0 ? s11 : 0;
  s22 = s22 > 0 ? s22 : 0;
  float gain = kernel::div(s12, add(s11, kTiny));
  float rest = sub(s22, mul(gain, s12));
  if (s11 < kTiny) {
    gain = 0;
    rest = s22;
    s11 = 0;
  }
  if (s22 < kTiny) {
    gain = 0;
    rest = 0;
  }
  if (gain < 0) {
    rest = s22;
    gain = 0;
  }
  if (s11 < channel.flat_below) return {sub(1, mul(s22, channel.flat_slope)), 1};
  rest = rest > kTiny ? rest : kTiny;
  gain = gain < channel.gain_limit ? gain : channel.gain_limit;
  const float passed = mul(mul(gain, gain), s11);
  return {s12 < 0 ? 0 : log2_of(one_plus_ratio(passed, Real::from(rest) + noise)),
          log2_of(one_plus_ratio(s11, noise))};
}

}  // namespace vqx::float_vif
