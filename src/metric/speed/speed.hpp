// `speed_chroma` and `speed_temporal`: spatial and temporal entropic differencing (SpEED).
//
// Method.  A plane (chroma, or the difference of successive luma planes) is blurred, decimated by
// 16 and freed of its local mean.  Its 5x5 blocks are modelled as a Gaussian scale mixture: with K
// the covariance of the 25 block samples and y a block,
//
//   variance s = y' K^-1 y / 25,     entropy = sum over eigenvalues L of log2(L s + noise) + const
//
// and the score is the mean over blocks of |entropy weighted by log2(1 + s)|, reference against
// distorted.
//
// Exactness.  Single precision in a fixed order everywhere, with two exceptions: the covariance is
// an integer sum (of samples in units of 2^-46, in 128 bits) and so free of order; logarithms are
// binary64 and correctly rounded.  A covariance that is nearly singular makes the whole plane
// count as without information (variances 0).
//
// C. Bampis, P. Gupta, R. Soundararajan, A. Bovik, "SpEED-QA: Spatial Efficient Entropic
// Differencing for Image and Video Quality", IEEE Signal Processing Letters 24(9), 2017.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exact/wide_sum.hpp"
#include "metric/metric.hpp"

namespace vqx::speed {

inline constexpr int kSide = 5;              // of a block
inline constexpr int kSize = kSide * kSide;  // samples of a block
inline constexpr int kDecimation = 16;
inline constexpr int kMinSide = kSide * kDecimation;

enum class Resampling { kNone, kNearest, kBilinear, kBicubic, kLanczos4 };

// Where the output samples of a resampled axis come from: `taps` source indices and weights each,
// stored tap by tap.
struct ResampledAxis {
  int taps = 1;
  int size = 0;
  std::vector<std::int32_t> index;
  std::vector<float> weight;

  std::size_t at(int tap, int i) const { return static_cast<std::size_t>(tap) * size + i; }
};

// Everything that depends on the plane's size and the options, but on no sample.
struct Filters {
  Resampling resampling = Resampling::kNone;
  int width = 0;  // of the plane that is blurred
  int height = 0;
  ResampledAxis columns;
  ResampledAxis rows;
  std::vector<float> wide;    // taps before decimation
  std::vector<float> narrow;  // taps of the local mean

  int decimated_width() const { return width / kDecimation; }
  int decimated_height() const { return height / kDecimation; }
};

struct FilterOptions {
  double kernel_scale = 1;
  double prescale = 1;
  Resampling method = Resampling::kNearest;
  friend bool operator==(const FilterOptions&, const FilterOptions&) = default;
};

// `metric` is for messages.  kInvalidArgument for a kernel scale off the list, kUnsupportedSize
// when no block fits.
Result<Filters> make_filters(std::string_view metric, int width, int height,
                             const FilterOptions& options);

// The signal to analyse: codes of `plane` centred on zero, or `previous` minus `plane`.
struct Source {
  const Plane* plane = nullptr;
  const Plane* previous = nullptr;
  int bit_depth = 8;

  float scale() const { return 1.0f / static_cast<float>(1 << (bit_depth - 8)); }
};

// A plane's decimated samples without their local mean.
struct Decimated {
  int width = 0;
  int height = 0;
  std::vector<float> samples;

  int blocks_across() const { return width / kSide; }
  int blocks_down() const { return height / kSide; }
  int block_count() const { return blocks_across() * blocks_down(); }
  float at(int x, int y) const { return samples[static_cast<std::size_t>(y) * width + x]; }
};

using Matrix = std::array<std::array<float, kSize>, kSize>;

// What the blocks of a plane have in common, and how strongly each varies.
struct Mixture {
  bool regular = false;
  std::array<float, kSize> eigenvalues{};
  std::vector<float> variance;  // a block; all 0 when not regular
};

// Shared by all levels, because their order of operations leaves nothing to vectorise.
std::array<float, kSize> eigenvalues(const Matrix& covariance);
bool all_positive(const std::array<float, kSize>& eigenvalues);
float nearest_float(exact::Int128 numerator, std::uint64_t denominator, int denominator_bits);
std::vector<float> entropies(const Mixture& mixture, float sigma);

// Plain loops straight from the spec.
Decimated decimate_reference(const Source& source, const Filters& filters);
Mixture fit_reference(const Decimated& plane);

// The same by SIMD and by sharing products between the covariance's entries.
Decimated decimate_simd(const Source& source, const Filters& filters);
Mixture fit_simd(const Decimated& plane);
Matrix covariance(const Decimated& plane);

}  // namespace vqx::speed

namespace vqx {
extern const MetricInfo kSpeedChromaInfo;
extern const MetricInfo kSpeedTemporalInfo;
}  // namespace vqx
