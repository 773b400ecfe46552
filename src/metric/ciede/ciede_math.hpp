// The arithmetic of one pixel pair, straight from the law: what is `float` here is stored in
// binary32 there, everything else is binary64.
#pragma once

#include <cmath>
#include <cstdint>

#include "exact/functions.hpp"

namespace vqx::ciede {

inline constexpr double kPi = 3.14159265358979323846;

// Code values to signal values: (code - offset) * factor.
struct CodeScale {
  double luma_offset, luma_factor;
  double chroma_offset, chroma_factor;

  explicit CodeScale(int bit_depth) {
    const double step = 1 << (bit_depth - 8);
    luma_offset = 16 * step;
    luma_factor = 1 / (219 * step);
    chroma_offset = 128 * step;
    chroma_factor = 1 / (224 * step);
  }
};

struct Colour {
  float lightness, a, b;
};

inline constexpr double kLinearLimit = 10.0 / 255.0;   // of to_linear
inline constexpr double kCubeLimit = 216.0 / 24389.0;  // of lab_curve
inline constexpr double kCubeSlope = 24389.0 / 27.0;
inline constexpr double kWhiteX = 1.0 / 0.95047;
inline constexpr double kWhiteZ = 1.0 / 1.08883;
// Linear R, G, B to X, Y, Z.
inline constexpr double kXyz[3][3] = {
    {0.4124564390896921, 0.357576077643909, 0.18043748326639894},
    {0.21267285140562248, 0.715152155287818, 0.07217499330655958},
    {0.019333895582329317, 0.119192025881303, 0.9503040785363677}};
inline constexpr double kChroma25To7 = 6103515625.0;  // 25^7

inline double to_linear(double c) {
  return c > kLinearLimit ? exact::pow((c + 0.055) * (1.0 / 1.055), 2.4) : c * (1.0 / 12.92);
}

inline float lab_curve(double c) {
  return static_cast<float>(c > kCubeLimit ? exact::pow(c, 1.0 / 3.0)
                                           : (kCubeSlope * c + 16.0) * (1.0 / 116.0));
}

inline Colour to_colour(const CodeScale& scale, int luma, int cb, int cr) {
  const double y = (luma - scale.luma_offset) * scale.luma_factor;
  const double u = (cb - scale.chroma_offset) * scale.chroma_factor;
  const double v = (cr - scale.chroma_offset) * scale.chroma_factor;
  const double r = to_linear(y + 1.28033 * v);
  const double g = to_linear(y - 0.21482 * u - 0.38059 * v);
  const double b = to_linear(y + 2.12798 * u);
  const auto row = [&](const double* m) { return r * m[0] + g * m[1] + b * m[2]; };
  const double fx = lab_curve(row(kXyz[0]) * kWhiteX);
  const double fy = lab_curve(row(kXyz[1]));
  const double fz = lab_curve(row(kXyz[2]) * kWhiteZ);
  return {static_cast<float>(116.0 * fy - 16.0), static_cast<float>(500.0 * (fx - fy)),
          static_cast<float>(200.0 * (fy - fz))};
}

inline double squared(float x) {
  return static_cast<double>(x) * x;
}

// Hue angle in [0, 2 pi]; 0 for grey.
inline float hue_angle(float b, float a) {
  if (b == 0 && a == 0) return 0;
  const auto angle = static_cast<float>(exact::atan2(b, a));
  return angle < 0 ? static_cast<float>(angle + 2 * kPi) : angle;
}

inline float hue_step(float h1, float h2) {
  const float step = h2 - h1;
  if (std::fabs(h1 - h2) <= kPi) return step;
  return static_cast<float>(h2 <= h1 ? step + 2 * kPi : step - 2 * kPi);
}

inline float hue_mean(float h1, float h2) {
  const double both = h1 + h2;
  return static_cast<float>(std::fabs(h1 - h2) > kPi ? (both + 2 * kPi) / 2 : both / 2);
}

// Weight of hue by hue.
inline float hue_weight(double h) {
  return static_cast<float>(1.0 - 0.17 * exact::cos(h - kPi / 6) + 0.24 * exact::cos(2 * h) +
                            0.32 * exact::cos(3 * h + kPi / 30) -
                            0.20 * exact::cos(4 * h - 7 * kPi / 20));
}

// Interaction of chroma and hue differences, which matters for blue.
inline float rotation(float mean_hue, float mean_chroma) {
  const auto degrees = static_cast<float>(mean_hue * (180 / kPi));
  const auto from_blue = static_cast<float>((degrees - 275.0) * (1.0 / 25.0));
  const auto bell = static_cast<float>(60.0 * exact::exp(-(from_blue * from_blue)));
  const auto angle = static_cast<float>(bell * (kPi / 180));
  const float power = exact::powf(mean_chroma, 7);
  const float share = power / (power + static_cast<float>(kChroma25To7));
  return static_cast<float>(-2.0 * std::sqrt(static_cast<double>(share)) * exact::sin(angle));
}

inline float colour_difference(const Colour& x, const Colour& y) {
  const float lightness_step = y.lightness - x.lightness;
  const float lightness_mean = (x.lightness + y.lightness) / 2;
  const auto chroma1 = static_cast<float>(std::sqrt(squared(x.a) + squared(x.b)));
  const auto chroma2 = static_cast<float>(std::sqrt(squared(y.a) + squared(y.b)));
  const float chroma_mean = (chroma1 + chroma2) / 2;
  const double power = exact::pow(chroma_mean, 7);
  const double stretch = 1 - std::sqrt(power / (power + kChroma25To7));
  const auto a1 = static_cast<float>(x.a + x.a / 2 * stretch);
  const auto a2 = static_cast<float>(y.a + y.a / 2 * stretch);
  const auto new_chroma1 = static_cast<float>(std::sqrt(squared(a1) + squared(x.b)));
  const auto new_chroma2 = static_cast<float>(std::sqrt(squared(a2) + squared(y.b)));
  const float new_chroma_mean = (new_chroma1 + new_chroma2) / 2;
  const float chroma_step = new_chroma2 - new_chroma1;

  const double q = squared(lightness_mean - 50);
  const auto s_lightness = static_cast<float>(1.0 + (0.015 * q) / std::sqrt(20 + q));
  const auto s_chroma = static_cast<float>(1.0 + 0.045 * new_chroma_mean);

  const float h1 = hue_angle(x.b, a1);
  const float h2 = hue_angle(y.b, a2);
  const float step = chroma1 == 0 || chroma2 == 0 ? 0 : hue_step(h1, h2);
  const double scale = 2.0 * std::sqrt(static_cast<double>(new_chroma1 * new_chroma2));
  const auto hue_difference = static_cast<float>(scale * exact::sin(step / 2.0));
  const float mean = hue_mean(h1, h2);
  const float weight = hue_weight(mean);
  const auto s_hue = static_cast<float>(1.0 + 0.015 * new_chroma_mean * weight);
  const float turn = rotation(mean, new_chroma_mean);

  const float l = lightness_step / (0.65f * s_lightness);
  const float c = chroma_step / (1.0f * s_chroma);
  const float h = hue_difference / (4.0f * s_hue);
  const float mixed = turn * c * h;
  return static_cast<float>(std::sqrt(squared(l) + squared(c) + squared(h) + mixed));
}

// A difference in units of 2^-40, rounded to nearest even; below 2^51.
inline std::int64_t difference_units(float difference) {
  return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(difference) * 0x1p40));
}

}  // namespace vqx::ciede
