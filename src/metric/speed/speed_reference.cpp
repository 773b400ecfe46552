// Plain loops straight from the law, on whole planes: the oracle of the tests.
#include <cmath>

#include "metric/speed/speed.hpp"

namespace vqx::speed {
namespace {

struct Image {
  int width;
  int height;
  std::vector<float> samples;
  Image(int w, int h) : width(w), height(h), samples(static_cast<std::size_t>(w) * h) {}
  float& at(int x, int y) { return samples[static_cast<std::size_t>(y) * width + x]; }
  float at(int x, int y) const { return samples[static_cast<std::size_t>(y) * width + x]; }
};

float code(const Plane& plane, int x, int y, int bit_depth) {
  return bit_depth == 8 ? plane.row<std::uint8_t>(y)[x] : plane.row<std::uint16_t>(y)[x];
}

Image signal(const Source& source) {
  Image out(source.plane->width, source.plane->height);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const auto centred = [&](const Plane& plane) {
        return code(plane, x, y, source.bit_depth) * source.scale() - 128.0f;
      };
      out.at(x, y) = source.previous != nullptr ? centred(*source.previous) - centred(*source.plane)
                                                : centred(*source.plane);
    }
  return out;
}

Image resample(const Image& in, const Filters& filters) {
  Image out(filters.width, filters.height);
  const ResampledAxis& columns = filters.columns;
  const ResampledAxis& rows = filters.rows;
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      float sum = 0;
      float weights = 0;
      for (int i = 0; i < rows.taps; ++i)
        for (int j = 0; j < columns.taps; ++j) {
          const std::size_t row = rows.at(i, y);
          const std::size_t column = columns.at(j, x);
          const float weight = columns.weight[column] * rows.weight[row];
          sum += in.at(columns.index[column], rows.index[row]) * weight;
          weights += weight;
        }
      out.at(x, y) = filters.resampling == Resampling::kLanczos4 ? sum / weights : sum;
    }
  return out;
}

int reflect(int i, int n) {
  i = std::abs(i);
  return i >= n ? 2 * n - 2 - i : i;
}

// Separable filter, columns first; only every step-th output of either axis.
Image blur(const Image& in, const std::vector<float>& taps, int step) {
  const int radius = static_cast<int>(taps.size()) / 2;
  Image vertical(in.width, in.height / step);
  for (int y = 0; y < vertical.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      float sum = 0;
      for (int t = -radius; t <= radius; ++t)
        sum +=
            taps[static_cast<std::size_t>(t + radius)] * in.at(x, reflect(y * step + t, in.height));
      vertical.at(x, y) = sum;
    }
  Image out(in.width / step, vertical.height);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      float sum = 0;
      for (int t = -radius; t <= radius; ++t)
        sum += taps[static_cast<std::size_t>(t + radius)] *
               vertical.at(reflect(x * step + t, in.width), y);
      out.at(x, y) = sum;
    }
  return out;
}

Matrix covariance_by_windows(const Decimated& plane) {
  const int rows = plane.blocks_down() * kSide - kSide + 1;
  const int columns = plane.blocks_across() * kSide - kSide + 1;
  const int count = rows * columns;
  std::vector<std::vector<std::int64_t>> window(kSize);
  for (int k = 0; k < kSize; ++k) {
    exact::Int128 sum = 0;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        const double sample = plane.at(x + k % kSide, y + k / kSide);
        window[k].push_back(std::llrint(std::ldexp(sample, 46)));
        sum += window[k].back();
      }
    exact::Int128 mean = sum / count;
    if (sum % count < 0) --mean;  // floor
    for (std::int64_t& value : window[k]) value -= static_cast<std::int64_t>(mean);
  }
  Matrix out;
  for (int k = 0; k < kSize; ++k)
    for (int l = 0; l < kSize; ++l) {
      exact::Int128 sum = 0;
      for (int i = 0; i < count; ++i)
        sum += static_cast<exact::Int128>(window[k][static_cast<std::size_t>(i)]) *
               window[l][static_cast<std::size_t>(i)];
      out[k][l] = nearest_float(sum, static_cast<std::uint64_t>(count), 92);
    }
  return out;
}

Matrix identity() {
  Matrix m{};
  for (int i = 0; i < kSize; ++i) m[i][i] = 1;
  return m;
}

Matrix product(const Matrix& x, const Matrix& y) {
  Matrix out{};
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j)
      for (int k = 0; k < kSize; ++k) out[i][j] += x[i][k] * y[k][j];
  return out;
}

float norm(const std::array<float, kSize>& v) {
  float sum = 0;
  for (const float value : v) sum += value * value;
  return std::sqrt(sum);
}

Matrix orthogonal_factor(const Matrix& a) {
  Matrix z = a;
  Matrix q = identity();
  for (int k = 0; k + 1 < kSize; ++k) {
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j)
        if (i < k || j < k) z[i][j] = i == j ? 1.0f : 0.0f;
    std::array<float, kSize> v;
    for (int i = 0; i < kSize; ++i) v[i] = z[i][k];
    const float length = norm(v);
    v[k] += a[k][k] >= 0 ? length : -length;
    const float scale = norm(v);
    for (float& value : v) value /= scale;
    Matrix h;
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j) h[i][j] = (-2.0f * v[i]) * v[j] + (i == j ? 1.0f : 0.0f);
    z = product(h, z);
    q = product(h, q);
  }
  return q;
}

}  // namespace

Decimated decimate_reference(const Source& source, const Filters& filters) {
  Image image = signal(source);
  if (filters.resampling != Resampling::kNone) image = resample(image, filters);
  const Image small = blur(image, filters.wide, kDecimation);
  const Image mean = blur(small, filters.narrow, 1);
  Decimated out{small.width, small.height, small.samples};
  for (std::size_t i = 0; i < out.samples.size(); ++i) out.samples[i] -= mean.samples[i];
  return out;
}

Mixture fit_reference(const Decimated& plane) {
  Mixture mixture;
  const auto blocks = static_cast<std::size_t>(plane.block_count());
  mixture.variance.assign(blocks, 0.0f);
  const Matrix k = covariance_by_windows(plane);
  mixture.eigenvalues = eigenvalues(k);
  if (!all_positive(mixture.eigenvalues)) return mixture;
  const Matrix q = orthogonal_factor(k);
  const Matrix r = product(q, k);
  for (int i = 0; i < kSize; ++i)
    if (static_cast<double>(std::abs(r[i][i])) < 1e-6) return mixture;
  mixture.regular = true;
  for (std::size_t block = 0; block < blocks; ++block) {
    const int left = static_cast<int>(block) % plane.blocks_across() * kSide;
    const int top = static_cast<int>(block) / plane.blocks_across() * kSide;
    float y[kSize];
    float x[kSize];
    for (int i = 0; i < kSize; ++i) y[i] = plane.at(left + i % kSide, top + i / kSide);
    for (int i = kSize - 1; i >= 0; --i) {
      float t = 0;
      for (int j = 0; j < kSize; ++j) t += q[i][j] * y[j];
      for (int j = i + 1; j < kSize; ++j) t -= x[j] * r[i][j];
      x[i] = t / r[i][i];
    }
    float sum = x[0] * y[0] / 25.0f;
    for (int i = 1; i < kSize; ++i) sum += x[i] * y[i] / 25.0f;
    mixture.variance[block] = sum;
  }
  return mixture;
}

}  // namespace vqx::speed
