// The plain form: loops straight from the spec, one plane after the other.
#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "metric/cambi/cambi.hpp"
#include "metric/cambi/cambi_math.hpp"

namespace vqx::cambi {
namespace {

struct Image {
  Size size;
  std::vector<int> values;
  explicit Image(Size s) : size(s), values(static_cast<std::size_t>(s.pixels())) {}
  int& at(int x, int y) { return values[index(x, y)]; }
  int at(int x, int y) const { return values[index(x, y)]; }

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) +
           static_cast<std::size_t>(x);
  }
};

int input_sample(const Plane& luma, int bit_depth, int x, int y) {
  return bit_depth == 8 ? luma.row<std::uint8_t>(y)[x] : luma.row<std::uint16_t>(y)[x];
}

Image ten_bit_image(const Analysis& analysis, const Plane& luma) {
  const std::vector<int> columns = sample_positions(analysis.input.width, analysis.size.width);
  const std::vector<int> rows = sample_positions(analysis.input.height, analysis.size.height);
  const bool resample = analysis.size != analysis.input;
  Image out(analysis.size);
  for (int y = 0; y < out.size.height; ++y)
    for (int x = 0; x < out.size.width; ++x) {
      const int from_x = resample ? columns[static_cast<std::size_t>(x)] : x;
      const int from_y = resample ? rows[static_cast<std::size_t>(y)] : y;
      out.at(x, y) =
          ten_bit(input_sample(luma, analysis.bit_depth, from_x, from_y), analysis.bit_depth);
    }
  return out;
}

Image without_dither(const Image& in) {
  Image out(in.size);
  for (int y = 0; y < in.size.height; ++y)
    for (int x = 0; x < in.size.width; ++x) {
      const int right = std::min(x + 1, in.size.width - 1);
      const int below = std::min(y + 1, in.size.height - 1);
      out.at(x, y) =
          cambi::without_dither(in.at(x, y), in.at(right, y), in.at(x, below), in.at(right, below));
    }
  return out;
}

Image flatness_mask(const Image& in, int threshold) {
  const auto [w, h] = in.size;
  Image flat(in.size);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      flat.at(x, y) = (x + 1 == w || in.at(x, y) == in.at(x + 1, y)) &&
                              (y + 1 == h || in.at(x, y) == in.at(x, y + 1))
                          ? 1
                          : 0;
  Image mask(in.size);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int sum = 0;
      for (int j = std::max(y - kMaskRadius, 0); j <= std::min(y + kMaskRadius, h - 1); ++j)
        for (int i = std::max(x - kMaskRadius, 0); i <= std::min(x + kMaskRadius, w - 1); ++i)
          sum += flat.at(i, j);
      mask.at(x, y) = sum > threshold ? 1 : 0;
    }
  return mask;
}

Image halved(const Image& in) {
  Image out(in.size.halved());
  for (int y = 0; y < out.size.height; ++y)
    for (int x = 0; x < out.size.width; ++x) out.at(x, y) = in.at(2 * x, 2 * y);
  return out;
}

Image mode_filtered(const Image& in) {
  const auto [w, h] = in.size;
  Image rows = in;
  for (int y = 0; y < h; ++y)
    for (int x = 1; x + 1 < w; ++x)
      rows.at(x, y) = mode_of_three(in.at(x - 1, y), in.at(x, y), in.at(x + 1, y));
  Image out = in;
  for (int y = 1; y + 1 < h; ++y)
    for (int x = 0; x < w; ++x)
      out.at(x, y) = mode_of_three(rows.at(x, y - 1), rows.at(x, y), rows.at(x, y + 1));
  return out;
}

// Slides the window along each row, a column in and a column out.
std::vector<float> contrast_values(const Analysis& analysis, const Image& image,
                                   const Image& mask) {
  const int w = image.size.width;  // lambdas of clang 14 capture no structured binding
  const int h = image.size.height;
  const int radius = analysis.radius();
  std::vector<float> out(image.values.size(), 0.0f);
  std::vector<int> count(kMaxLevel + 1 + kMaxSteps);
  for (int y = 0; y < h; ++y) {
    const int top = std::max(y - radius, 0);
    const int bottom = std::min(y + radius, h - 1);
    const auto add_column = [&](int x, int amount) {
      if (x < 0 || x >= w) return;
      for (int j = top; j <= bottom; ++j)
        if (mask.at(x, j) != 0) count[static_cast<std::size_t>(image.at(x, j))] += amount;
    };
    std::fill(count.begin(), count.end(), 0);
    for (int x = 0; x < radius; ++x) add_column(x, 1);
    for (int x = 0; x < w; ++x) {
      add_column(x + radius, 1);
      add_column(x - radius - 1, -1);
      if (mask.at(x, y) == 0) continue;
      const int level = image.at(x, y);
      const int own = count[static_cast<std::size_t>(level)];
      float best = 0;
      for (int step = 1; step <= analysis.steps(); ++step) {
        if (!analysis.visible(level, step)) continue;
        const int above = count[static_cast<std::size_t>(level + step)];
        const int below = level < step ? 0 : count[static_cast<std::size_t>(level - step)];
        const int other = std::max(above, below);
        best = std::max(best, contrast(static_cast<float>(step_weight(step)), own, other,
                                       reciprocals()[static_cast<std::size_t>(own + other)]));
      }
      out[static_cast<std::size_t>(y) * static_cast<std::size_t>(w) + static_cast<std::size_t>(x)] =
          best;
    }
  }
  return out;
}

std::uint64_t exact_sum(std::vector<float> values, std::int64_t k) {
  const auto end = values.begin() + k;
  std::nth_element(values.begin(), end - 1, values.end(), std::greater<>());
  std::uint64_t sum = 0;
  for (auto it = values.begin(); it != end; ++it)
    sum += units_of_bits(std::bit_cast<std::uint32_t>(*it));
  return sum;
}

}  // namespace

Result<PooledSums> analyse_reference(const Analysis& analysis, const Plane& luma,
                                     const MapSink& sink) {
  Image image = ten_bit_image(analysis, luma);
  if (analysis.antidither) image = without_dither(image);
  Image mask = flatness_mask(image, analysis.mask_threshold());
  PooledSums sums{};
  for (int scale = 0; scale < kScales; ++scale) {
    if (scale > 0 || analysis.halve_first) {
      image = halved(image);
      mask = halved(mask);
    }
    image = mode_filtered(image);
    std::vector<float> values = contrast_values(analysis, image, mask);
    if (sink) VQX_RETURN_IF_ERROR(sink(scale, values.data(), image.size.width));
    const std::int64_t k = analysis.pool_count(scale);
    sums[static_cast<std::size_t>(scale)] =
        analysis.upstream_pooling ? std::bit_cast<std::uint64_t>(upstream_sum(std::move(values), k))
                                  : exact_sum(std::move(values), k);
  }
  return sums;
}

}  // namespace vqx::cambi
