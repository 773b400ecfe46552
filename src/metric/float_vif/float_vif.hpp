// `float_vif`: visual information fidelity of luma at four dyadic scales, in single precision
// (Sheikh and Bovik, "Image information and visual quality", IEEE Trans. Image Processing 15(2),
// 2006); the older form of `vif`.
//
//   s11, s22, s12   Gaussian-weighted variances and covariance of reference and distorted picture
//   g   = s12 / s11, at most vif_enhn_gain_limit      gain of the distortion channel
//   sv  = s22 - g s12                                 its noise
//   num = log2(1 + g^2 s11 / (sv + n)), den = log2(1 + s11 / n), n = vif_sigma_nsq
//   score of a scale = sum num / sum den
//
// Where s11 < n a sample counts 1 - s22 n^2 / 65025 and 1 instead.  The next scale is the picture
// filtered with that scale's own window, even rows and columns.
//
// Samples v / 2^(bits-8) - 128 and all that follows are fp32, sums in the order of float_rows.hpp;
// only the noise n and the quotients with it are fp64.
#pragma once

#include <array>
#include <vector>

#include "metric/float_rows/float_rows.hpp"
#include "metric/float_vif/float_vif_math.hpp"
#include "metric/metric.hpp"

namespace vqx::float_vif {

inline constexpr int kScales = 4;

// Both sums of each scale: fp32 values; 0 for a scale that is not asked for.
struct Words {
  double num[kScales] = {};
  double den[kScales] = {};
};

// ---- windows -----------------------------------------------------------------------------------

// The window of a scale; an odd number of taps whose fp32 sum is about 1.
std::vector<float> window(int scale, double kernel_scale);
bool is_supported_kernel_scale(double kernel_scale);

// ---- prescaling --------------------------------------------------------------------------------

enum class Resampling { kNearest, kBilinear, kBicubic, kLanczos4 };

// Reading positions along one axis: for every output position `taps` source indices and weights.
struct ResampledAxis {
  int taps = 1;
  std::vector<int> index;
  std::vector<float> weight;
  int size() const { return static_cast<int>(index.size()) / taps; }
};
ResampledAxis resampled_axis(Resampling method, int length, int new_length);
// The shortest axis whose reading positions all lie inside after one reflection.
int shortest_axis(Resampling method);

// One row of the resampled plane, as wide as `columns`.
void resample_row(const float_rows::Samples& in, Resampling method, const ResampledAxis& columns,
                  const ResampledAxis& rows, int y, float* out);

// ---- measuring ---------------------------------------------------------------------------------

// Everything that the pictures' moments depend on.
struct Geometry {
  bool resized = false;
  Resampling method = Resampling::kNearest;
  ResampledAxis columns;  // if resized
  ResampledAxis rows;
  int width = 0;  // of scale 0
  int height = 0;
  std::array<std::vector<float>, kScales> windows;  // by scale
  bool scale0 = true;                               // whether scale 0 is scored

  const std::vector<float>& window_of(int scale) const {
    return windows[static_cast<std::size_t>(scale)];
  }
  int width_of(int scale) const { return width >> scale; }
  int height_of(int scale) const { return height >> scale; }
};

// One row of num and one of den sums for each way to score a scale's moments.
struct RowSums {
  float* num;
  float* den;
};

// Scores rows [first, last) of a scale, adding the sums of row y up in sums[.].num[y] and den[y],
// which start at 0.
void score_rows(const float_rows::Samples& reference, const float_rows::Samples& distorted,
                const std::vector<float>& taps, const std::vector<Channel>& channels, int first,
                int last, ScratchPool& pool, const std::vector<RowSums>& sums);

// Filters, and keeps even rows and columns: rows [first, last) of the halved plane.
void halve_rows(const float_rows::Samples& in, const std::vector<float>& taps, int width, int first,
                int last, ScratchPool& pool, float* out, std::ptrdiff_t stride);

// One frame straight from the law.
Words measure_reference(const float_rows::Samples& reference, const float_rows::Samples& distorted,
                        const Geometry& geometry, const Channel& channel);

}  // namespace vqx::float_vif
