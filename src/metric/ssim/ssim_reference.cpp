// SSIM written straight from the spec: the oracle of the tests and the scalar level.
#include <vector>

#include "kernel/real64.hpp"
#include "metric/ssim/ssim.hpp"

namespace vqx::ssim {
namespace {

using kernel::HardwareReal64;

struct Image {
  int width = 0;
  int height = 0;
  std::vector<float> samples;

  Image(int w, int h) : width(w), height(h), samples(static_cast<std::size_t>(w) * h) {}
  float& at(int x, int y) { return samples[static_cast<std::size_t>(y) * width + x]; }
  float at(int x, int y) const { return samples[static_cast<std::size_t>(y) * width + x]; }
};

float sample(const Samples& in, int x, int y) {
  switch (in.kind) {
    case Samples::Kind::kUint8:
      return static_cast<float>(reinterpret_cast<const std::uint8_t*>(in.row(y))[x]) * in.scale;
    case Samples::Kind::kUint16:
      return static_cast<float>(reinterpret_cast<const std::uint16_t*>(in.row(y))[x]) * in.scale;
    case Samples::Kind::kFloat:
      return reinterpret_cast<const float*>(in.row(y))[x];
  }
  return 0;
}

Image to_image(const Samples& in) {
  Image image(in.width, in.height);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) image.at(x, y) = sample(in, x, y);
  return image;
}

Image multiply(const Image& a, const Image& b) {
  Image product(a.width, a.height);
  for (std::size_t i = 0; i < a.samples.size(); ++i)
    product.samples[i] = a.samples[i] * b.samples[i];
  return product;
}

// The window over rows, then over columns, where it fits.
Image gaussian(const Image& in) {
  Image rows(in.width - kReach, in.height);
  for (int y = 0; y < rows.height; ++y)
    for (int x = 0; x < rows.width; ++x) {
      double sum = 0;
      for (int k = 0; k < kTaps; ++k) {
        const float product = in.at(x + k, y) * gaussian_tap(k);
        sum += product;
      }
      rows.at(x, y) = static_cast<float>(sum);
    }
  Image out(rows.width, in.height - kReach);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      double sum = 0;
      for (int k = 0; k < kTaps; ++k) {
        const float product = rows.at(x, y + k) * gaussian_tap(k);
        sum += product;
      }
      out.at(x, y) = static_cast<float>(sum);
    }
  return out;
}

void table_step(const Image& in, float* out) {
  const Size size = next_level({in.width, in.height});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      double sum = 0;
      for (int j = 0; j < kPyramidTaps; ++j)
        for (int i = 0; i < kPyramidTaps; ++i) {
          const float value =
              in.at(mirror(2 * x - 4 + i, in.width), mirror(2 * y - 4 + j, in.height));
          const float product = value * pyramid_tap(i, j);
          sum += product;
        }
      *out++ = static_cast<float>(sum);
    }
}

void separable_step(const Image& in, float* out) {
  const Size size = next_level({in.width, in.height});
  Image rows(size.width, in.height);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      float sum = 0;
      for (int i = 0; i < kPyramidTaps; ++i)
        sum = kernel::fma(in.at(mirror(2 * x - 4 + i, in.width), y), separable_tap(i), sum);
      rows.at(x, y) = sum;
    }
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      float sum = 0;
      for (int j = 0; j < kPyramidTaps; ++j)
        sum = kernel::fma(rows.at(x, mirror(2 * y - 4 + j, in.height)), separable_tap(j), sum);
      *out++ = sum;
    }
}

}  // namespace

TermSums sum_terms_reference(const Samples& a, const Samples& b) {
  const Size size = positions({a.width, a.height});
  if (size.width <= 0 || size.height <= 0) return {};
  const Image image_a = to_image(a);
  const Image image_b = to_image(b);
  const Image mean_a = gaussian(image_a);
  const Image mean_b = gaussian(image_b);
  const Image square_a = gaussian(multiply(image_a, image_a));
  const Image square_b = gaussian(multiply(image_b, image_b));
  const Image product = gaussian(multiply(image_a, image_b));
  TermSums sums;
  for (std::size_t i = 0; i < mean_a.samples.size(); ++i) {
    const Terms terms =
        local_terms<HardwareReal64>({mean_a.samples[i], mean_b.samples[i], square_a.samples[i],
                                     square_b.samples[i], product.samples[i]});
    sums.similarity.add(similarity(terms).to_fixed(kTermUnit));
    sums.luminance.add(terms.luminance.to_fixed(kTermUnit));
    sums.contrast.add(terms.contrast.to_fixed(kTermUnit));
    sums.structure.add(HardwareReal64::from(terms.structure).to_fixed(kTermUnit));
  }
  return sums;
}

void decimate_reference(const Samples& samples, int factor, float* out) {
  const Image in = to_image(samples);
  const Size size = decimated({in.width, in.height}, factor);
  const float tap = 1.0f / static_cast<float>(factor * factor);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      double sum = 0;
      for (int j = 0; j < factor; ++j)
        for (int i = 0; i < factor; ++i) {
          const float value = in.at(mirror(x * factor - factor / 2 + i, in.width),
                                    mirror(y * factor - factor / 2 + j, in.height));
          const float product = value * tap;
          sum += product;
        }
      *out++ = static_cast<float>(sum);
    }
}

void pyramid_step_reference(Variant variant, const Samples& in, float* out) {
  if (variant == Variant::kTable)
    table_step(to_image(in), out);
  else
    separable_step(to_image(in), out);
}

}  // namespace vqx::ssim
