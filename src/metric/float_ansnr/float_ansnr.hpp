// `float_ansnr`: anti-noise signal-to-noise ratio of luma (the noise estimate of the first VMAF
// fusion; Li, Aaron, Katsavounidis, Moorthy, Manohara, "Toward a practical perceptual video quality
// metric", 2016).
//
//   a = reference, lightly smoothed (3x3);  b = distorted, denoised (5x5)
//   ANSNR  = 10 log10(sum a^2 / sum (a - b)^2)
//   ANPSNR = 10 log10(peak^2 w h / sum (a - b)^2), limited from above
//
// Samples v / 2^(bits-8) - 128, both windows and both sums are fp32; a window adds its rows'
// running sums, a plane is summed in the order of float_rows.hpp.  `a` is exact.  Unlike elsewhere
// the right and bottom edges repeat the last sample when mirrored.
#pragma once

#include "metric/float_rows/float_rows.hpp"
#include "metric/metric.hpp"

namespace vqx::float_ansnr {

inline constexpr int kSoftTaps = 3;   // of the reference's window, both ways
inline constexpr int kNoiseTaps = 5;  // of the distorted picture's
inline constexpr int kRadius = kNoiseTaps / 2;
inline constexpr int kSmallestSide = kRadius + 1;

// One frame: fp32 values.
struct Words {
  double signal = 0;
  double noise = 0;
};

// Row-major windows.
const float* soft_window();
const float* noise_window();

// Sums of rows [first, last), one number a row.
void sum_rows(const float_rows::Samples& reference, const float_rows::Samples& distorted, int first,
              int last, ScratchPool& pool, float* signal, float* noise);

// One frame straight from the law.
Words measure_reference(const float_rows::Samples& reference, const float_rows::Samples& distorted);

}  // namespace vqx::float_ansnr
