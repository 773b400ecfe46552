// Sums of samples and of their squares, straight from the definition.
#include "metric/float_moment/float_moment.hpp"
#include "metric/float_moment/float_moment_math.hpp"

namespace vqx::float_moment {
namespace {

template <class Sample>
Sums sum(const Plane& plane, int first, int last) {
  Sums sums;
  for (int y = first; y < last; ++y) {
    const Sample* row = plane.row<Sample>(y);
    for (int x = 0; x < plane.width; ++x) {
      sums.first += row[x];
      sums.second += single_precision_square(row[x]);
    }
  }
  return sums;
}

}  // namespace

Sums sum_rows_reference(const Plane& plane, int bit_depth, int first, int last) {
  return bit_depth == 8 ? sum<std::uint8_t>(plane, first, last)
                        : sum<std::uint16_t>(plane, first, last);
}

}  // namespace vqx::float_moment
