// First and second moments of each picture's luma: `float_moment`.
//
//   1st = sum(x) / n        x = v / 2^(bits-8), n samples
//   2nd = sum(RN32(x^2)) / n
//
// The terms are integers in units of 2^(8-bits) and 4^(8-bits): v, and v^2 rounded to binary32,
// which changes it at 16 bits only, to another integer of at most 2^32.  Both totals fit unsigned
// 64 bits up to 2^31 samples, so the order of samples, bands and machines never shows.
#pragma once

#include <cstdint>

#include "metric/metric.hpp"

namespace vqx::float_moment {

struct Sums {
  std::uint64_t first = 0;   // of v
  std::uint64_t second = 0;  // of RN32(v^2)
};

// One frame.
struct Moments {
  Sums reference;
  Sums distorted;
};

// Sums over rows [first, last) on the active SIMD level, and straight from the definition.
Sums sum_rows(const Plane& plane, int bit_depth, int first, int last);
Sums sum_rows_reference(const Plane& plane, int bit_depth, int first, int last);

}  // namespace vqx::float_moment
