// vif: visual information fidelity in the pixel domain, at four dyadic scales (Sheikh and Bovik,
// Image information and visual quality, IEEE Trans. Image Processing 15(2), 2006).
//
// At each scale a Gaussian window gives the local variances s11 of the reference and s22 of the
// distorted luma, and their covariance s12, in 16.16 fixed point.  With gain g = s12/s11, residual
// variance r = s22 - g*s12 and noise N, a sample adds
//   log2(1 + g^2*s11/(r+N)) to the numerator and log2(1 + s11/N) to the denominator;
// where s11 < N the reference is flat and the sample counts 1 - c*s22 and 1.  A scale's score is
// the ratio of the sums.  The next scale's planes are filtered with its own kernel and halved.
//
// Ranges: means 16.16 in uint32; second moments below 2^32 after each rounding shift (48-bit sums
// before); s11, s22, s12 in int32, slightly negative variances included (rounded means); g^2*s11
// below 1.1e11; logarithms of a sample below 2^16, hence int64 sums.
#pragma once

#include <cstdint>
#include <span>

#include "metric/metric.hpp"
#include "metric/vif/vif_math.hpp"
#include "vqx/picture.hpp"

namespace vqx::vif {

inline constexpr int kSmallestSide = 8;  // below, scale 3 would have no samples
inline constexpr int kSmallestStrict =
    16;  // below, scale 3 is one row or column: nothing to mirror

// What is measured of a frame with one option set.
struct ScaleWords {
  std::int64_t num_log = 0;  // sums of logarithms with 11 fraction bits
  std::int64_t den_log = 0;
  std::int64_t flat_energy = 0;  // sum of s22 where the reference is flat
  std::int64_t flat_count = 0;
};
struct Words {
  ScaleWords scale[kScales];
};

// Excess of 2048*log2(1+m) over 2048*m, by the 15 bits of m; kLogTableSize entries.
const std::uint8_t* log_table();

// All that the sums of one frame depend on.
struct Request {
  Plane reference;
  Plane distorted;
  int bits = 8;
  std::span<const double> limits;  // gain limits, one result each
  bool score_scale0 = true;        // false: scale 0 only feeds scale 1, and its words stay 0
};

// Straight from the definition, any size from 8x8.
void measure_reference(const Request& request, std::span<Words> out);
// Vectorised, from 16x16.
void measure_simd(const Request& request, const MeasureContext& context, std::span<Words> out);

}  // namespace vqx::vif
