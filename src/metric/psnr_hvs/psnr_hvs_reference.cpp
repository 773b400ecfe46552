// Terms and their running sum, block by block, straight from the law.
#include "metric/psnr_hvs/psnr_hvs.hpp"
#include "metric/psnr_hvs/psnr_hvs_math.hpp"

namespace vqx::psnr_hvs {
namespace {

// One side of a block pair.
struct Block {
  std::int32_t coefficients[kCoefficients];
  float threshold;
};

template <class Sample>
Block transform(const Plane& plane, int x, int y, const Weights& weights) {
  Block block;
  for (int row = 0; row < kBlock; ++row)
    for (int column = 0; column < kBlock; ++column)
      block.coefficients[row * kBlock + column] = plane.row<Sample>(y + row)[x + column];
  const float ratio = spread_ratio(block.coefficients);
  transform8x8(block.coefficients);
  block.threshold = masking_threshold(block.coefficients, ratio, weights.mask);
  return block;
}

template <class Sample>
float sum_terms(const PlanePair& planes) {
  const Weights& w = planes.weights;
  float sum = 0;
  for (int by = 0; by < block_count(planes.reference.height); ++by)
    for (int bx = 0; bx < block_count(planes.reference.width); ++bx) {
      const Block a = transform<Sample>(planes.reference, bx * kStep, by * kStep, w);
      const Block b = transform<Sample>(planes.distorted, bx * kStep, by * kStep, w);
      const float threshold = b.threshold > a.threshold ? b.threshold : a.threshold;
      for (int i = 0; i < kCoefficients; ++i)
        sum += term(a.coefficients[i], b.coefficients[i], threshold, w.csf[i], w.mask[i], i == 0);
    }
  return sum;
}

}  // namespace

float sum_plane_reference(const PlanePair& planes) {
  return planes.bit_depth == 8 ? sum_terms<std::uint8_t>(planes) : sum_terms<std::uint16_t>(planes);
}

}  // namespace vqx::psnr_hvs
