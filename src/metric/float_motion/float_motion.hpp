// `float_motion`: mean absolute difference of blurred consecutive reference pictures, the original
// of `motion` (Li, Aaron, Katsavounidis, Moorthy, Manohara, "Toward a practical perceptual video
// quality metric", 2016).
//
//   B  = picture on the 8-bit scale - 128, blurred by 5 (or 3, or 1) Gaussian taps each way
//   s  = sum |B' - B| / (w h), B' of the picture before; 0 for the first one
//   s += the same of both B halved in size                 with motion_add_scale1
//   s += the scores of Cb and Cr                           with motion_add_uv
//   motion = s, motion2 = the smaller of s and the next picture's s, motion3 = motion2 with another
//   slope above a knee; all weighted and capped
//
// Everything up to the division is fp32 in the order of float_rows.hpp, later steps are fp64.
// Blurred planes are made once and kept with the frame, so that the next one finds them.
#pragma once

#include <cstddef>
#include <memory>

#include "metric/float_rows/float_rows.hpp"
#include "metric/metric.hpp"

namespace vqx::float_motion {

inline constexpr int kPlanes = 3;
inline constexpr int kWidestHalf = 7680;  // of luma, with motion_add_scale1: a limit of the law

// Sums of one plane's absolute differences: fp32 values.
struct PlaneSums {
  double full = 0;
  double half = 0;  // of the halved planes; 0 where they are not asked for
};

// One frame; planes that are not asked for, and the first frame, stay 0.
struct Words {
  PlaneSums plane[kPlanes];
};

struct Taps {
  int count = 1;
  float tap[5] = {1};
};
// The taps that a value of motion_filter_size selects.
Taps taps_of(int filter_size);

// A plane on its own: blurred, or blurred and halved.
struct FloatImage {
  FloatImage(ScratchPool& pool, int w, int h)
      : width(w),
        height(h),
        stride((w + 32 + 15) / 16 * 16),  // room for vectors that overrun a row
        samples(pool, static_cast<std::size_t>(stride) * static_cast<std::size_t>(h)) {}
  float* row(int y) { return samples.data() + y * stride; }
  const float* row(int y) const { return samples.data() + y * stride; }

  int width;
  int height;
  std::ptrdiff_t stride;
  ScratchArray<float> samples;
};

// Where a halved axis reads: both neighbours and the weight of the second.
struct HalvedPosition {
  int before;
  int after;
  float weight;
};
HalvedPosition halved_position(int index, int length, int halved_length);
constexpr int halved(int length) {
  return (length + 1) / 2;
}

// Blurs rows [first, last), and adds |a - b| of rows [first, last) up, one sum a row.
void blur_rows(const float_rows::Samples& in, const Taps& taps, int first, int last,
               ScratchPool& pool, FloatImage& out);
void difference_rows(const FloatImage& a, const FloatImage& b, int first, int last, float* sums);

// The sums of two planes straight from the law; `half` only if asked for.
PlaneSums plane_sums_reference(const float_rows::Samples& before, const float_rows::Samples& now,
                               const Taps& taps, bool half);

}  // namespace vqx::float_motion
