// float_vif's sums written straight from the law.
#include "metric/float_vif/float_vif.hpp"

namespace vqx::float_vif {
namespace {

using float_rows::Image;
using kernel::HardwareReal64;

Image multiply(const Image& a, const Image& b) {
  Image product(a.width, a.height);
  for (std::size_t i = 0; i < a.samples.size(); ++i)
    product.samples[i] = a.samples[i] * b.samples[i];
  return product;
}

Image halve(const Image& in, const std::vector<float>& taps) {
  const Image filtered = float_rows::filter_reference(in, taps);
  Image out(in.width / 2, in.height / 2);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) out.at(x, y) = filtered.at(2 * x, 2 * y);
  return out;
}

Image resize(const float_rows::Samples& in, const Geometry& geometry) {
  if (!geometry.resized) return Image(in);
  Image out(geometry.width, geometry.height);
  for (int y = 0; y < out.height; ++y)
    resample_row(in, geometry.method, geometry.columns, geometry.rows, y, &out.at(0, y));
  return out;
}

}  // namespace

Words measure_reference(const float_rows::Samples& reference, const float_rows::Samples& distorted,
                        const Geometry& geometry, const Channel& channel) {
  using float_rows::filter_reference;
  Words words;
  Image a = resize(reference, geometry);
  Image b = resize(distorted, geometry);
  for (int s = 0; s < kScales; ++s) {
    const std::vector<float>& taps = geometry.window_of(s);
    if (s > 0) {
      a = halve(a, taps);
      b = halve(b, taps);
    }
    if (s == 0 && !geometry.scale0) continue;
    const Image mean_a = filter_reference(a, taps);
    const Image mean_b = filter_reference(b, taps);
    const Image square_a = filter_reference(multiply(a, a), taps);
    const Image square_b = filter_reference(multiply(b, b), taps);
    const Image product = filter_reference(multiply(a, b), taps);
    Image num(a.width, a.height), den(a.width, a.height);
    for (std::size_t i = 0; i < num.samples.size(); ++i) {
      const Terms terms =
          score({mean_a.samples[i], mean_b.samples[i], square_a.samples[i], square_b.samples[i],
                 product.samples[i]},
                channel, HardwareReal64::from_bits(kernel::double_bits(channel.noise)));
      num.samples[i] = terms.num;
      den.samples[i] = terms.den;
    }
    words.num[s] = float_rows::plane_sum_reference(num);
    words.den[s] = float_rows::plane_sum_reference(den);
  }
  return words;
}

}  // namespace vqx::float_vif
