// The arithmetic of one block: integer transform, contrast statistics, masked differences.
#pragma once

#include <cmath>
#include <cstdint>

namespace vqx::psnr_hvs {

constexpr std::int32_t half_toward_zero(std::int32_t v) {
  return v / 2;
}

// v * factor / 2^shift, rounded to nearest.  Arithmetic shift.
template <int factor, int shift>
constexpr std::int32_t lift(std::int32_t v) {
  return (v * factor + (1 << (shift - 1))) >> shift;
}

// 8-point transform by lifting: samples x[0], x[stride], ... in, frequencies in the same places
// out.
inline void transform8(std::int32_t* x, int stride) {
  std::int32_t t0 = x[0], t1 = x[7 * stride], t2 = x[2 * stride], t3 = x[5 * stride];
  std::int32_t t4 = x[stride], t5 = x[6 * stride], t6 = x[3 * stride], t7 = x[4 * stride];
  // Butterflies.
  t1 = t0 - t1;
  const std::int32_t p = half_toward_zero(t1);
  t0 -= p;
  t4 += t5;
  const std::int32_t q = half_toward_zero(t4);
  t5 -= q;
  t3 = t2 - t3;
  t2 -= half_toward_zero(t3);
  t6 += t7;
  const std::int32_t r = half_toward_zero(t6);
  t7 = r - t7;
  t0 += r;
  t6 = t0 - t6;
  t2 = q - t2;
  t4 = t2 - t4;
  // Rotations of the even half, and of the inner odd pair.
  t0 -= lift<13573, 15>(t4);
  t4 += lift<11585, 14>(t0);
  t0 -= lift<13573, 15>(t4);
  t6 -= lift<21895, 15>(t2);
  t2 += lift<15137, 14>(t6);
  t6 -= lift<21895, 15>(t2);
  t3 += lift<19195, 15>(t5);
  t5 += lift<11585, 14>(t3);
  t3 -= lift<7489, 13>(t5);
  t7 = half_toward_zero(t5) - t7;
  t5 -= t7;
  t3 = p - t3;
  t1 -= t3;
  // Rotations of the odd half.
  t7 += lift<3227, 15>(t1);
  t1 -= lift<6393, 15>(t7);
  t7 += lift<3227, 15>(t1);
  t5 += lift<2485, 13>(t3);
  t3 -= lift<18205, 15>(t5);
  t5 += lift<2485, 13>(t3);
  x[0] = t0;
  x[stride] = t1;
  x[2 * stride] = t2;
  x[3 * stride] = t3;
  x[4 * stride] = t4;
  x[5 * stride] = t5;
  x[6 * stride] = t6;
  x[7 * stride] = t7;
}

// All columns first: the roundings make the order matter.
inline void transform8x8(std::int32_t* block) {
  for (int column = 0; column < 8; ++column) transform8(block + column, 8);
  for (int row = 0; row < 8; ++row) transform8(block + 8 * row, 1);
}

// Unbiased variance times the number of samples, from the sum of squared deviations.
inline constexpr float kBlockVariance = (1.0f / 63.0f) * 64.0f;
inline constexpr float kQuadrantVariance = (1.0f / 15.0f) * 16.0f;

// Summed variances of the quadrants over the variance of the block; 0 for a flat block.
inline float spread_ratio(const std::int32_t* block) {
  float sum[4] = {};  // integers, exact in any order
  for (int i = 0; i < 64; ++i) sum[i / 32 + (i % 8) / 4 * 2] += static_cast<float>(block[i]);
  const float mean = (((sum[0] + sum[1]) + sum[2]) + sum[3]) / 64;
  float variance = 0;
  float part[4] = {};
  for (int i = 0; i < 64; ++i) {
    const int quadrant = i / 32 + (i % 8) / 4 * 2;
    const float sample = static_cast<float>(block[i]);
    const float deviation = sample - mean;
    variance += deviation * deviation;
    const float part_deviation = sample - sum[quadrant] / 16;
    part[quadrant] += part_deviation * part_deviation;
  }
  variance *= kBlockVariance;
  for (float& v : part) v *= kQuadrantVariance;
  return variance > 0 ? (((part[0] + part[1]) + part[2]) + part[3]) / variance : variance;
}

// Below this weighted size a difference hides in the block's own texture.
inline float masking_threshold(const std::int32_t* coefficients, float ratio, const float* mask) {
  float energy = 0;
  for (int i = 1; i < 64; ++i)
    energy += static_cast<float>(coefficients[i] * coefficients[i]) * mask[i];
  return std::sqrt(energy * ratio) / 32;
}

// The weighted squared difference of coefficient `i` after masking.
inline float term(std::int32_t reference, std::int32_t distorted, float threshold, float csf,
                  float mask, bool is_dc) {
  const std::int32_t difference = reference - distorted;
  float error = static_cast<float>(difference < 0 ? -difference : difference);
  if (!is_dc) {
    const float hidden = threshold / mask;
    error = error < hidden ? 0 : error - hidden;
  }
  error *= csf;
  return error * error;
}

}  // namespace vqx::psnr_hvs
