// Filter taps and resampling tables of SpEED.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "exact/functions.hpp"
#include "metric/speed/speed.hpp"

namespace vqx::speed {
namespace {

constexpr double kKernelScales[] = {
    1.0,     0.5, 1.5,      2.0,    2.0 / 3, 2.4, 360.0 / 97, 4.0 / 3,  3.5 / 3,  1.25,    4.25 / 3,
    5.0 / 3, 3.0, 1 / 2.25, 1.4746, 1.54,    1.6, 1.06667,    0.711111, 0.740740, 1.111111};

bool is_kernel_scale(float scale) {
  return std::any_of(std::begin(kKernelScales), std::end(kKernelScales), [&](double listed) {
    const float difference = std::abs(scale - static_cast<float>(listed));
    return static_cast<double>(difference) < 1e-3;
  });
}

int tap_count(float octave_taps, float kernel_scale) {
  const int taps = static_cast<int>(std::ceil(octave_taps * kernel_scale));
  return std::max(taps + 1 - taps % 2, 3);
}

std::vector<float> gaussian(int taps, float deviation) {
  const double sd = deviation;
  const float height = static_cast<float>(1.0 / (sd * std::sqrt(2 * std::numbers::pi)));
  std::vector<float> g(static_cast<std::size_t>(taps));
  float sum = 0;
  for (int i = 0; i < taps; ++i) {
    const int from_centre = i - taps / 2;
    const double x = from_centre;
    const float value = static_cast<float>(exact::exp(-0.5 * x / sd * x / sd)) / height;
    g[static_cast<std::size_t>(i)] = value;
    sum += value;
  }
  for (float& value : g) value /= sum;
  return g;
}

// Mirrored without repeating the edge.
int mirror(int i, int n) {
  return i < 0 ? -i : i > n - 1 ? 2 * (n - 1) - i : i;
}

float cubic_weight(float offset) {
  constexpr float kA = -0.75f;
  const float u = std::abs(offset);
  if (u < 1) return ((kA + 2.0f) * u - (kA + 3.0f)) * u * u + 1.0f;
  if (u < 2) return (((u - 5.0f) * u + 8.0f) * u - 4.0f) * kA;
  return 0;
}

float lanczos_weight(float offset) {
  constexpr double kPi = std::numbers::pi;
  const double u = offset;
  if (u == 0) return 1;
  if (!(u > -4 && u < 4)) return 0;
  return static_cast<float>(4.0 * exact::sin(kPi * u) * exact::sin(kPi * u / 4.0) /
                            (kPi * kPi * u * u));
}

ResampledAxis resample_axis(int from, int to, Resampling method) {
  ResampledAxis axis;
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  if (method == Resampling::kBilinear) axis.taps = 2;
  if (method == Resampling::kBicubic) axis.taps = 4;
  if (method == Resampling::kLanczos4) axis.taps = 9;
  axis.size = to;
  axis.index.resize(axis.at(axis.taps, 0));
  axis.weight.resize(axis.index.size());
  for (int i = 0; i < to; ++i) {
    const auto set = [&](int tap, int index, float weight) {
      axis.index[axis.at(tap, i)] = index;
      axis.weight[axis.at(tap, i)] = weight;
    };
    if (method == Resampling::kNearest) {
      set(0, static_cast<int>(static_cast<float>(i) * ratio), 1.0f);
      continue;
    }
    const float position = static_cast<float>((i + 0.5) * static_cast<double>(ratio) - 0.5);
    const int floor = static_cast<int>(std::floor(position));
    if (method == Resampling::kBilinear) {
      const int a = mirror(floor, from);
      const int b = mirror(static_cast<int>(std::ceil(position)), from);
      // Against the mirrored index: the law extrapolates before the first sample.
      const float t = position - static_cast<float>(a);
      set(0, a, 1.0f - t);
      set(1, b, t);
      continue;
    }
    const float t = position - static_cast<float>(floor);
    const bool cubic = method == Resampling::kBicubic;
    const int first = cubic ? -1 : -4;
    for (int k = 0; k < axis.taps; ++k) {
      const float offset = static_cast<float>(first + k) - t;
      set(k, mirror(floor + first + k, from),
          cubic ? cubic_weight(offset) : lanczos_weight(offset));
    }
  }
  return axis;
}

}  // namespace

Result<Filters> make_filters(std::string_view metric, int width, int height,
                             const FilterOptions& options) {
  const float scale = static_cast<float>(options.kernel_scale);
  if (!is_kernel_scale(scale))
    return Status(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: speed_kernelscale {:g} is not accepted; it takes 1, 1/2, 3/2, 2, "
                    "2/3, 2.4, 360/97, 4/3, 3.5/3, 1.25, 4.25/3, 5/3, 3, 1/2.25, 1.4746, "
                    "1.54, 1.6, 1.06667, 0.711111, 0.740740 or 1.111111",
                    metric, options.kernel_scale));
  const int scaled_width = static_cast<int>(width * options.prescale + 0.5);
  const int scaled_height = static_cast<int>(height * options.prescale + 0.5);
  // A plane that is not resampled keeps its size, whatever a scale next to 1 makes of it.
  const bool resample = !(std::abs(options.prescale - 1.0) < 1e-3);
  if (std::min({scaled_width, scaled_height, resample ? kMinSide : width,
                resample ? kMinSide : height}) < kMinSide)
    return Status(
        ErrorCode::kUnsupportedSize,
        fmt::format("{}: planes of {}x{} are too small at speed_prescale {:g}; it takes {}x{} and "
                    "larger after prescaling",
                    metric, width, height, options.prescale, kMinSide, kMinSide));
  Filters filters;
  filters.width = resample ? scaled_width : width;
  filters.height = resample ? scaled_height : height;
  if (filters.width != width || filters.height != height) {
    filters.resampling = options.method;
    filters.columns = resample_axis(width, scaled_width, options.method);
    filters.rows = resample_axis(height, scaled_height, options.method);
  }
  const int wide = tap_count(9, scale);
  const int narrow = tap_count(2, scale);
  filters.wide = gaussian(wide, static_cast<float>(2.0 * wide / 5.0));
  filters.narrow = gaussian(narrow, static_cast<float>(narrow) / 5.0f);
  return filters;
}

}  // namespace vqx::speed
