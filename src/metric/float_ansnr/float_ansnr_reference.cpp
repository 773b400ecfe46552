// float_ansnr's sums written straight from the law.
#include "metric/float_ansnr/float_ansnr.hpp"

namespace vqx::float_ansnr {
namespace {

using float_rows::Edge;
using float_rows::fold;
using float_rows::Image;

Image filter(const Image& in, const float* window, int taps) {
  Image out(in.width, in.height);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      float sum = 0;
      for (int j = 0; j < taps; ++j) {
        const int row = fold(y + j - taps / 2, in.height, Edge::kRepeatLast);
        float row_sum = 0;
        for (int i = 0; i < taps; ++i)
          row_sum += window[j * taps + i] *
                     in.at(fold(x + i - taps / 2, in.width, Edge::kRepeatLast), row);
        sum += row_sum;
      }
      out.at(x, y) = sum;
    }
  return out;
}

}  // namespace

Words measure_reference(const float_rows::Samples& reference,
                        const float_rows::Samples& distorted) {
  Image a = filter(Image(reference), soft_window(), kSoftTaps);
  Image b = filter(Image(distorted), noise_window(), kNoiseTaps);
  for (std::size_t i = 0; i < a.samples.size(); ++i) {
    const float difference = a.samples[i] - b.samples[i];
    a.samples[i] *= a.samples[i];
    b.samples[i] = difference * difference;
  }
  return {float_rows::plane_sum_reference(a), float_rows::plane_sum_reference(b)};
}

}  // namespace vqx::float_ansnr
