// Windows and prescaling of float_vif: what depends on the options and the picture size only, and
// the resampling, which few runs ask for, in plain loops.
#include <algorithm>
#include <cmath>

#include "exact/functions.hpp"
#include "metric/float_vif/float_vif.hpp"

namespace vqx::float_vif {
namespace {

constexpr double kPi = 3.14159265358979323846;

float cubic_weight(float distance) {
  const float t = std::abs(distance), a = -0.75f;
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

float lanczos_weight(float distance) {
  const double t = distance;
  if (t == 0) return 1;
  if (!(t > -4 && t < 4)) return 0;
  return static_cast<float>(4.0 * exact::sin(kPi * t) * exact::sin(kPi * t / 4.0) /
                            (kPi * kPi * t * t));
}

int fold(int i, int n) {
  return float_rows::fold(i, n, float_rows::Edge::kReflect);
}

void bilinear_row(const float* upper, const float* lower, float weight,
                  const ResampledAxis& columns, float* out) {
  for (int x = 0; x < columns.size(); ++x) {
    const int* i = columns.index.data() + 2 * x;
    const float dx = columns.weight.data()[2 * x + 1];
    float sum = (1 - weight) * (1 - dx) * upper[i[0]];
    sum += (1 - weight) * dx * upper[i[1]];
    sum += weight * (1 - dx) * lower[i[0]];
    sum += weight * dx * lower[i[1]];
    out[x] = sum;
  }
}

}  // namespace

bool is_supported_kernel_scale(double kernel_scale) {
  constexpr double kSupported[] = {1,          1 / 2.0,  3 / 2.0,   2,          2 / 3.0,    2.4,
                                   360 / 97.0, 4 / 3.0,  3.5 / 3.0, 3.75 / 3.0, 4.25 / 3.0, 5 / 3.0,
                                   3,          1 / 2.25, 1.4746,    1.54,       1.6,        1.06667,
                                   0.711111,   0.740740, 1.111111};
  return std::any_of(std::begin(kSupported), std::end(kSupported), [&](double supported) {
    return std::abs(static_cast<float>(kernel_scale) - static_cast<float>(supported)) < 1e-3;
  });
}

std::vector<float> window(int scale, double kernel_scale) {
  const float length =
      static_cast<float>((1 << (4 - scale)) + 1) * static_cast<float>(kernel_scale);
  const int rounded = static_cast<int>(std::ceil(length));
  const int count = std::max(rounded + (rounded % 2 == 0 ? 1 : 0), 3);
  const double sigma = static_cast<float>(count) / 5.0f;
  const auto height = static_cast<float>(1.0 / (sigma * std::sqrt(2.0 * kPi)));
  std::vector<float> taps;
  float total = 0;
  const int centre = count / 2;
  for (int i = 0; i < count; ++i) {
    const double distance = i - centre;
    const auto bell = static_cast<float>(exact::exp(-0.5 * distance / sigma * distance / sigma));
    taps.push_back(bell / height);
    total += taps.back();
  }
  for (float& tap : taps) tap /= total;
  return taps;
}

int shortest_axis(Resampling method) {
  switch (method) {
    case Resampling::kNearest:
      return 1;
    case Resampling::kBilinear:
      return 2;
    case Resampling::kBicubic:
      return 3;
    case Resampling::kLanczos4:
      return 6;
  }
  return 1;
}

ResampledAxis resampled_axis(Resampling method, int length, int new_length) {
  ResampledAxis axis;
  const float ratio = static_cast<float>(length) / static_cast<float>(new_length);
  const bool cubic = method == Resampling::kBicubic;
  if (method == Resampling::kBilinear) axis.taps = 2;
  if (cubic) axis.taps = 4;
  if (method == Resampling::kLanczos4) axis.taps = 9;
  for (int x = 0; x < new_length; ++x) {
    if (method == Resampling::kNearest) {
      axis.index.push_back(static_cast<int>(static_cast<float>(x) * ratio));
      axis.weight.push_back(1);
      continue;
    }
    const auto position = static_cast<float>((x + 0.5) * static_cast<double>(ratio) - 0.5);
    const float before = std::floor(position);
    if (method == Resampling::kBilinear) {
      // The weight counts from the folded neighbour: a quirk of the law, which extrapolates the
      // first row and column.
      const int first = fold(static_cast<int>(before), length);
      const float weight = position - static_cast<float>(first);
      axis.index.push_back(first);
      axis.index.push_back(fold(static_cast<int>(std::ceil(position)), length));
      axis.weight.push_back(1 - weight);
      axis.weight.push_back(weight);
      continue;
    }
    const float fraction = position - before;
    const int first = cubic ? -1 : -4;
    for (int tap = first; tap < first + axis.taps; ++tap) {
      const float distance = static_cast<float>(tap) - fraction;
      axis.index.push_back(fold(static_cast<int>(before) + tap, length));
      axis.weight.push_back(cubic ? cubic_weight(distance) : lanczos_weight(distance));
    }
  }
  return axis;
}

void resample_row(const float_rows::Samples& in, Resampling method, const ResampledAxis& columns,
                  const ResampledAxis& rows, int y, float* out) {
  // The source rows as fp32, one for each vertical tap.
  std::vector<std::vector<float>> source(static_cast<std::size_t>(rows.taps));
  const auto first = static_cast<std::size_t>(y) * source.size();
  for (std::size_t j = 0; j < source.size(); ++j) {
    source[j].resize(static_cast<std::size_t>(in.width));
    for (int x = 0; x < in.width; ++x)
      source[j][static_cast<std::size_t>(x)] = in.at(x, rows.index[first + j]);
  }
  if (method == Resampling::kBilinear) {
    bilinear_row(source[0].data(), source[1].data(), rows.weight[first + 1], columns, out);
    return;
  }
  if (method == Resampling::kNearest) {
    for (int x = 0; x < columns.size(); ++x)
      out[x] = source[0][static_cast<std::size_t>(columns.index[static_cast<std::size_t>(x)])];
    return;
  }
  for (int x = 0; x < columns.size(); ++x) {
    const int* index = columns.index.data() + x * columns.taps;
    const float* weight = columns.weight.data() + x * columns.taps;
    float sum = 0, total = 0;
    for (std::size_t j = 0; j < source.size(); ++j)
      for (int i = 0; i < columns.taps; ++i) {
        const float both = weight[i] * rows.weight[first + j];
        total += both;
        sum += source[j][static_cast<std::size_t>(index[i])] * both;
      }
    out[x] = method == Resampling::kLanczos4 ? sum / total : sum;
  }
}

}  // namespace vqx::float_vif
