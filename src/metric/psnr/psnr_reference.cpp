// Sums of squared differences, straight from the definition.
#include "metric/psnr/psnr.hpp"
#include "metric/psnr/psnr_math.hpp"

namespace vqx::psnr {
namespace {

template <class Sample>
std::uint64_t sum(const Plane& reference, const Plane& distorted, Term term, int first, int last) {
  std::uint64_t total = 0;
  for (int y = first; y < last; ++y) {
    const Sample* a = reference.row<Sample>(y);
    const Sample* b = distorted.row<Sample>(y);
    for (int x = 0; x < reference.width; ++x)
      total += term == Term::kExact ? squared_difference(a[x], b[x])
                                    : single_precision_squared_difference(a[x], b[x]);
  }
  return total;
}

}  // namespace

std::uint64_t sum_rows_reference(const Plane& reference, const Plane& distorted, int bit_depth,
                                 Term term, int first, int last) {
  return bit_depth == 8 ? sum<std::uint8_t>(reference, distorted, term, first, last)
                        : sum<std::uint16_t>(reference, distorted, term, first, last);
}

}  // namespace vqx::psnr
