// SpEED with SIMD.  Only the rows that survive the decimation are formed; lanes run over columns
// and blocks, never over a summation index.  The covariance's 325 entries need only 41 distinct
// correlations of the plane with its shifted self, which differ by the windows' edges.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "metric/speed/speed.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/speed/speed_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vqx::speed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows have room for whole vectors.
using D = hn::ScalableTag<float>;
using DI = hn::ScalableTag<int32_t>;
using V = hn::Vec<D>;

template <class Sample>
HWY_INLINE V LoadCodes(const Sample* from) {
  return hn::ConvertTo(D(), hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<Sample, D>(), from)));
}

// out[x] = row[x] * scale + offset, or (previous[x] - row[x]) * scale; every step is exact.
template <class Sample>
HWY_INLINE void SignalRowOf(const Sample* previous, const Sample* row, int count, float scale,
                            float offset, float* HWY_RESTRICT out) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  int x = 0;
  for (; x + lanes <= count; x += lanes) {
    const V now = LoadCodes(row + x);
    const V value = previous != nullptr
                        ? hn::Mul(hn::Sub(LoadCodes(previous + x), now), hn::Set(D(), scale))
                        : hn::Add(hn::Mul(now, hn::Set(D(), scale)), hn::Set(D(), offset));
    hn::StoreU(value, D(), out + x);
  }
  for (; x < count; ++x)
    out[x] = previous != nullptr
                 ? (static_cast<float>(previous[x]) - static_cast<float>(row[x])) * scale
                 : static_cast<float>(row[x]) * scale + offset;
}

void SignalRow(const Source& source, int y, float* out) {
  const Plane& plane = *source.plane;
  if (source.bit_depth == 8)
    SignalRowOf(source.previous != nullptr ? source.previous->row<uint8_t>(y) : nullptr,
                plane.row<uint8_t>(y), plane.width, source.scale(), -128.0f, out);
  else
    SignalRowOf(source.previous != nullptr ? source.previous->row<uint16_t>(y) : nullptr,
                plane.row<uint16_t>(y), plane.width, source.scale(), -128.0f, out);
}

// One row of the resampled plane from the `filters.rows.taps` source rows that it needs.
void ResampleRow(const float* const* rows, const Filters& filters, int y, float* HWY_RESTRICT out) {
  const ResampledAxis& columns = filters.columns;
  const int lanes = static_cast<int>(hn::Lanes(D()));
  for (int i = 0; i < columns.size; i += lanes) {
    // The last vector overlaps the one before; a row holds at least kMinSide samples.
    const int x = std::min(i, columns.size - lanes);
    V sum = hn::Zero(D());
    V weights = hn::Zero(D());
    for (int r = 0; r < filters.rows.taps; ++r)
      for (int c = 0; c < columns.taps; ++c) {
        const std::size_t at = columns.at(c, x);
        const V weight = hn::Mul(hn::LoadU(D(), columns.weight.data() + at),
                                 hn::Set(D(), filters.rows.weight[filters.rows.at(r, y)]));
        const V value = hn::GatherIndex(D(), rows[r], hn::LoadU(DI(), columns.index.data() + at));
        sum = hn::Add(sum, hn::Mul(value, weight));
        weights = hn::Add(weights, weight);
      }
    if (filters.resampling == Resampling::kLanczos4) sum = hn::Div(sum, weights);
    hn::StoreU(sum, D(), out + x);
  }
}

// sum[x] += tap * row[x]
void AccumulateRow(const float* HWY_RESTRICT row, float tap, int count, float* HWY_RESTRICT sum) {
  for (int x = 0; x < count; x += static_cast<int>(hn::Lanes(D())))
    hn::StoreU(
        hn::Add(hn::LoadU(D(), sum + x), hn::Mul(hn::Set(D(), tap), hn::LoadU(D(), row + x))), D(),
        sum + x);
}

// out = x * y, with x 25x25 and y 25 rows of `stride`, a multiple of 32.
void Product(const Matrix& x, const float* y, std::size_t stride, float* HWY_RESTRICT out) {
  const std::size_t lanes = hn::Lanes(D());
  for (std::size_t i = 0; i < kSize; ++i)
    for (std::size_t j = 0; j < stride; j += 2 * lanes) {
      V sum0 = hn::Zero(D());
      V sum1 = hn::Zero(D());
      for (std::size_t k = 0; k < kSize; ++k) {
        const V factor = hn::Set(D(), x[i][k]);
        sum0 = hn::Add(sum0, hn::Mul(factor, hn::LoadU(D(), y + k * stride + j)));
        sum1 = hn::Add(sum1, hn::Mul(factor, hn::LoadU(D(), y + k * stride + j + lanes)));
      }
      hn::StoreU(sum0, D(), out + i * stride + j);
      hn::StoreU(sum1, D(), out + i * stride + j + lanes);
    }
}

// Solves R x = c for each column of c, in place, and sums x * y / 25 down each column.
void Solve(const Matrix& r, float* c, const float* y, std::size_t stride, float* variance) {
  for (std::size_t j = 0; j < stride; j += hn::Lanes(D())) {
    for (std::size_t i = kSize; i-- > 0;) {
      V t = hn::LoadU(D(), c + i * stride + j);
      for (std::size_t k = i + 1; k < kSize; ++k)
        t = hn::Sub(t, hn::Mul(hn::LoadU(D(), c + k * stride + j), hn::Set(D(), r[i][k])));
      hn::StoreU(hn::Div(t, hn::Set(D(), r[i][i])), D(), c + i * stride + j);
    }
    V sum = hn::Zero(D());
    for (std::size_t k = 0; k < kSize; ++k)
      sum = hn::Add(sum, hn::Div(hn::Mul(hn::LoadU(D(), c + k * stride + j),
                                         hn::LoadU(D(), y + k * stride + j)),
                                 hn::Set(D(), 25.0f)));
    hn::StoreU(sum, D(), variance + j);
  }
}

}  // namespace vqx::speed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::speed {
HWY_EXPORT(SignalRow);
HWY_EXPORT(ResampleRow);
HWY_EXPORT(AccumulateRow);
HWY_EXPORT(Product);
HWY_EXPORT(Solve);

namespace {

constexpr std::size_t kVectorRoom = 64;  // samples past a row's end that vectors may touch
constexpr std::size_t kStride = 32;      // of a 25x25 matrix as an operand

int reflect(int i, int n) {
  i = std::abs(i);
  return i >= n ? 2 * n - 2 - i : i;
}

// Rows of the plane to blur, formed on demand.  Neighbouring resampled rows share source rows.
class RowSource {
 public:
  RowSource(const Source& source, const Filters& filters) : source_(source), filters_(filters) {
    for (Slot& slot : slots_)
      slot.row.resize(static_cast<std::size_t>(source.plane->width) + kVectorRoom);
    resampled_.resize(static_cast<std::size_t>(filters.width) + kVectorRoom);
  }

  // Valid until the next call.
  const float* row(int y) {
    if (filters_.resampling == Resampling::kNone) return signal(y);
    const ResampledAxis& rows = filters_.rows;
    const float* inputs[kSlots];
    for (int t = 0; t < rows.taps; ++t) inputs[t] = signal(rows.index[rows.at(t, y)]);
    HWY_DYNAMIC_DISPATCH(ResampleRow)(inputs, filters_, y, resampled_.data());
    return resampled_.data();
  }

 private:
  // At least the nine successive rows of the widest kernel.
  static constexpr int kSlots = 16;
  struct Slot {
    int y = -1;
    std::vector<float> row;
  };

  const float* signal(int y) {
    Slot& slot = slots_[y % kSlots];
    if (slot.y != y) {
      HWY_DYNAMIC_DISPATCH(SignalRow)(source_, y, slot.row.data());
      slot.y = y;
    }
    return slot.row.data();
  }

  const Source& source_;
  const Filters& filters_;
  std::array<Slot, kSlots> slots_;
  std::vector<float> resampled_;
};

// Every 16th sample of a row, filtered.
void decimate_row(const float* row, int width, const std::vector<float>& taps, int count,
                  float* out) {
  const int radius = static_cast<int>(taps.size()) / 2;
  for (int x = 0; x < count; ++x) {
    const int centre = x * kDecimation;
    float sum = 0;
    if (centre >= radius && centre + radius < width)
      for (std::size_t t = 0; t < taps.size(); ++t)
        sum += taps[t] * row[centre - radius + static_cast<int>(t)];
    else
      for (std::size_t t = 0; t < taps.size(); ++t)
        sum += taps[t] * row[reflect(centre - radius + static_cast<int>(t), width)];
    out[x] = sum;
  }
}

void subtract_local_mean(Decimated& plane, const std::vector<float>& taps) {
  const int radius = static_cast<int>(taps.size()) / 2;
  const auto width = static_cast<std::size_t>(plane.width);
  std::vector<float> mean(plane.samples.size());
  std::vector<float> column(width);
  for (int y = 0; y < plane.height; ++y) {
    std::fill(column.begin(), column.end(), 0.0f);
    for (int t = -radius; t <= radius; ++t) {
      const float* row = plane.samples.data() + reflect(y + t, plane.height) * plane.width;
      const float tap = taps[static_cast<std::size_t>(t + radius)];
      for (std::size_t x = 0; x < width; ++x) column[x] += tap * row[x];
    }
    float* out = mean.data() + y * plane.width;
    for (int x = 0; x < plane.width; ++x) {
      float sum = 0;
      for (int t = -radius; t <= radius; ++t)
        sum += taps[static_cast<std::size_t>(t + radius)] *
               column[static_cast<std::size_t>(reflect(x + t, plane.width))];
      out[x] = sum;
    }
  }
  for (std::size_t i = 0; i < mean.size(); ++i) plane.samples[i] -= mean[i];
}

// Sums over the 25 windows, modulo 2^128.
class WindowSums {
 public:
  explicit WindowSums(const Decimated& plane)
      : height_(plane.blocks_down() * kSide),
        width_(plane.blocks_across() * kSide),
        samples_(static_cast<std::size_t>(height_) * width_) {
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x)
        samples_[static_cast<std::size_t>(y) * width_ + x] =
            std::llrint(static_cast<double>(plane.at(x, y)) * 0x1p46);
  }

  int count() const { return rows() * columns(); }

  // sums[r][c]: over window (r, c), the sum of samples times the samples dy rows below and dx to
  // the right, for 0 <= r, r + dy <= 4 and 0 <= c, c + dx <= 4.
  using Sums = std::array<std::array<exact::Uint128, kSide>, kSide>;
  Sums correlate(int dy, int dx) const {
    Sums sums{};
    for (int y = 0; y + dy < height_; ++y)
      add_row(y, dx, kSide - dy, sums, [&](int from, int to) {
        const std::int64_t* a = row(y);
        const std::int64_t* b = row(y + dy) + dx;
        exact::Int128 sum = 0;
        for (int x = from; x < to; ++x) sum += static_cast<exact::Int128>(a[x]) * b[x];
        return static_cast<exact::Uint128>(sum);
      });
    return sums;
  }
  Sums plain() const {
    Sums sums{};
    for (int y = 0; y < height_; ++y)
      add_row(y, 0, kSide, sums, [&](int from, int to) {
        exact::Int128 sum = 0;
        for (int x = from; x < to; ++x) sum += row(y)[x];
        return static_cast<exact::Uint128>(sum);
      });
    return sums;
  }

 private:
  int rows() const { return height_ - kSide + 1; }
  int columns() const { return width_ - kSide + 1; }
  const std::int64_t* row(int y) const {
    return samples_.data() + static_cast<std::size_t>(y) * width_;
  }

  // Adds row y to the windows that hold it; `sum(from, to)` sums a part of the row.  The part that
  // all windows share is summed once.
  template <class Sum>
  void add_row(int y, int dx, int window_rows, Sums& sums, const Sum& sum) const {
    const int first = std::max(0, -dx);
    const int last = std::min(kSide - 1, kSide - 1 - dx);
    const int begin = last;
    const int end = std::max(first + columns(), begin);
    const exact::Uint128 shared = sum(begin, end);
    for (int c = first; c <= last; ++c) {
      const int stop = c + columns();
      // Narrow planes: windows that do not reach the shared part, which is empty then.
      const exact::Uint128 total =
          stop < begin ? sum(c, stop) : shared + sum(c, begin) + sum(end, stop);
      for (int r = std::max(0, y - rows() + 1); r <= std::min(y, window_rows - 1); ++r)
        sums[r][c] += total;
    }
  }

  int height_;
  int width_;
  std::vector<std::int64_t> samples_;
};

struct Operand {  // a 25x25 matrix as the right operand of a product
  alignas(64) float rows[kSize][kStride] = {};
};
Operand operand(const Matrix& m) {
  Operand out;
  for (int i = 0; i < kSize; ++i) std::copy(m[i].begin(), m[i].end(), out.rows[i]);
  return out;
}
Matrix matrix(const Operand& o) {
  Matrix m;
  for (int i = 0; i < kSize; ++i) std::copy_n(o.rows[i], kSize, m[i].begin());
  return m;
}
Operand product(const Matrix& x, const Operand& y) {
  Operand out;
  HWY_DYNAMIC_DISPATCH(Product)(x, &y.rows[0][0], kStride, &out.rows[0][0]);
  return out;
}

float norm(const float (&v)[kSize]) {
  float sum = 0;
  for (const float value : v) sum += value * value;
  return std::sqrt(sum);
}

// Q of the Householder decomposition.  Signs come from the original matrix: the law's.
Matrix orthogonal_factor(const Matrix& a) {
  Operand z = operand(a);
  Matrix identity{};
  for (int i = 0; i < kSize; ++i) identity[i][i] = 1;
  Operand q = operand(identity);
  for (int k = 0; k + 1 < kSize; ++k) {
    for (int i = 0; i < k; ++i) {
      std::fill_n(z.rows[i], kSize, 0.0f);
      for (int j = 0; j < kSize; ++j) z.rows[j][i] = 0;
      z.rows[i][i] = 1;
    }
    float v[kSize];
    for (int i = 0; i < kSize; ++i) v[i] = z.rows[i][k];
    const float length = norm(v);
    v[k] += a[k][k] >= 0 ? length : -length;
    const float scale = norm(v);
    for (float& value : v) value /= scale;
    Matrix h;
    for (int i = 0; i < kSize; ++i) {
      const float factor = -2.0f * v[i];
      for (int j = 0; j < kSize; ++j) h[i][j] = factor * v[j];
      for (int j = 0; j < kSize; ++j) h[i][j] += i == j ? 1.0f : 0.0f;
    }
    z = product(h, z);
    q = product(h, q);
  }
  return matrix(q);
}

}  // namespace

Decimated decimate_simd(const Source& source, const Filters& filters) {
  Decimated out{filters.decimated_width(), filters.decimated_height(), {}};
  out.samples.resize(static_cast<std::size_t>(out.width) * out.height);
  RowSource rows(source, filters);
  std::vector<float> sum(static_cast<std::size_t>(filters.width) + kVectorRoom);
  const int radius = static_cast<int>(filters.wide.size()) / 2;
  for (int y = 0; y < out.height; ++y) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (int t = -radius; t <= radius; ++t) HWY_DYNAMIC_DISPATCH(AccumulateRow)
    (rows.row(reflect(y * kDecimation + t, filters.height)),
     filters.wide[static_cast<std::size_t>(t + radius)], filters.width, sum.data());
    decimate_row(sum.data(), filters.width, filters.wide, out.width,
                 out.samples.data() + y * out.width);
  }
  subtract_local_mean(out, filters.narrow);
  return out;
}

Matrix covariance(const Decimated& plane) {
  const WindowSums windows(plane);
  const exact::Int128 count = windows.count();
  const WindowSums::Sums sums = windows.plain();
  std::array<exact::Int128, kSize> total;
  std::array<exact::Int128, kSize> mean;
  for (int k = 0; k < kSize; ++k) {
    total[k] = static_cast<exact::Int128>(sums[k / kSide][k % kSide]);
    mean[k] = total[k] / count - (total[k] % count < 0 ? 1 : 0);  // floor
  }
  Matrix out;
  for (int dy = 0; dy < kSide; ++dy)
    for (int dx = dy == 0 ? 0 : 1 - kSide; dx < kSide; ++dx) {
      const WindowSums::Sums products = windows.correlate(dy, dx);
      for (int r = 0; r + dy < kSide; ++r)
        for (int c = std::max(0, -dx); c < std::min(kSide, kSide - dx); ++c) {
          const int k = r * kSide + c;
          const int l = k + dy * kSide + dx;
          const auto wrap = [](exact::Int128 v) { return static_cast<exact::Uint128>(v); };
          // Sum of (a - mean a)(b - mean b).  Terms may wrap; the result fits 128 bits.
          const exact::Uint128 sum = products[r][c] - wrap(mean[k]) * wrap(total[l]) -
                                     wrap(mean[l]) * wrap(total[k]) +
                                     wrap(count) * wrap(mean[k]) * wrap(mean[l]);
          out[k][l] = out[l][k] =
              nearest_float(static_cast<exact::Int128>(sum), static_cast<std::uint64_t>(count), 92);
        }
    }
  return out;
}

Mixture fit_simd(const Decimated& plane) {
  Mixture mixture;
  const auto blocks = static_cast<std::size_t>(plane.block_count());
  mixture.variance.assign(blocks, 0.0f);
  const Matrix k = covariance(plane);
  mixture.eigenvalues = eigenvalues(k);
  if (!all_positive(mixture.eigenvalues)) return mixture;
  const Matrix q = orthogonal_factor(k);
  const Matrix r = matrix(product(q, operand(k)));
  for (int i = 0; i < kSize; ++i)
    if (static_cast<double>(std::abs(r[i][i])) < 1e-6) return mixture;
  mixture.regular = true;

  const std::size_t stride = (blocks + 63) / 64 * 64;
  std::vector<float> y(kSize * stride);
  for (std::size_t block = 0; block < blocks; ++block) {
    const int left = static_cast<int>(block) % plane.blocks_across() * kSide;
    const int top = static_cast<int>(block) / plane.blocks_across() * kSide;
    for (int i = 0; i < kSize; ++i)
      y[static_cast<std::size_t>(i) * stride + block] = plane.at(left + i % kSide, top + i / kSide);
  }
  std::vector<float> x(y.size());
  std::vector<float> variance(stride);
  HWY_DYNAMIC_DISPATCH(Product)(q, y.data(), stride, x.data());
  HWY_DYNAMIC_DISPATCH(Solve)(r, x.data(), y.data(), stride, variance.data());
  std::copy_n(variance.begin(), blocks, mixture.variance.begin());
  return mixture;
}

}  // namespace vqx::speed
#endif  // HWY_ONCE
