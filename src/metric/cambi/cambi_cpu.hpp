// What the SIMD code of CAMBI and its driver share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/scratch.hpp"
#include "metric/cambi/cambi.hpp"

namespace vqx::cambi {

inline constexpr int kPad = 64;       // samples after each row, and before the first
inline constexpr int kFineBits = 15;  // a c-value's key: 12 coarse bits, 15 fine
inline constexpr int kCoarseBins = 1 << 12;
inline constexpr int kFineBins = 1 << kFineBits;

inline std::ptrdiff_t padded_stride(int width) {
  return (width + kPad - 1) / kPad * kPad + kPad;
}

// Rows of levels, each with kKept or not.
struct Rows {
  std::uint16_t* origin = nullptr;
  std::ptrdiff_t stride = 0;
  std::uint16_t* row(std::ptrdiff_t y) const { return origin + y * stride; }
};

// From the input to the filtered plane of scale 0.
struct Preparation {
  const Analysis* analysis;
  const Plane* luma;
  int unit;                         // see Levels
  const std::vector<int>* columns;  // of the input, for a resampled picture; else null
  const std::vector<int>* rows;
  Rows target;
};

// A plane halved (step 2) or not (step 1), then mode-filtered.
struct Filtering {
  Rows source;
  int step;
  Rows target;
  Size size;  // of the target
};

// c-values of the columns first .. end - 1 of a plane.
struct Strip {
  Rows plane;
  int height;
  int width;  // of the whole plane
  int radius;
  const Levels* levels;
  int first;
  int end;
  float* values;  // of the whole plane
  std::ptrdiff_t value_stride;
};

struct TopSum {
  std::uint64_t units = 0;   // sum of c * 2^24
  std::int64_t nonzero = 0;  // number of c-values above 0
};

}  // namespace vqx::cambi
