// float_motion's sums written straight from the law.
#include <cmath>

#include "metric/float_motion/float_motion.hpp"

namespace vqx::float_motion {
namespace {

using float_rows::Image;

Image blur(const float_rows::Samples& in, const Taps& taps) {
  return float_rows::filter_reference(Image(in), {taps.tap, taps.tap + taps.count});
}

Image halve(const Image& in) {
  Image out(halved(in.width), halved(in.height));
  for (int y = 0; y < out.height; ++y) {
    const HalvedPosition v = halved_position(y, in.height, out.height);
    for (int x = 0; x < out.width; ++x) {
      const HalvedPosition h = halved_position(x, in.width, out.width);
      float sum = (1 - v.weight) * (1 - h.weight) * in.at(h.before, v.before);
      sum += (1 - v.weight) * h.weight * in.at(h.after, v.before);
      sum += v.weight * (1 - h.weight) * in.at(h.before, v.after);
      sum += v.weight * h.weight * in.at(h.after, v.after);
      out.at(x, y) = sum;
    }
  }
  return out;
}

float difference(const Image& a, const Image& b) {
  Image terms(a.width, a.height);
  for (std::size_t i = 0; i < terms.samples.size(); ++i)
    terms.samples[i] = std::abs(a.samples[i] - b.samples[i]);
  return float_rows::plane_sum_reference(terms);
}

}  // namespace

PlaneSums plane_sums_reference(const float_rows::Samples& before, const float_rows::Samples& now,
                               const Taps& taps, bool half) {
  const Image a = blur(before, taps);
  const Image b = blur(now, taps);
  return {difference(a, b), half ? difference(halve(a), halve(b)) : 0};
}

}  // namespace vqx::float_motion
