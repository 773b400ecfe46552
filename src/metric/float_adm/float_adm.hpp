// float_adm: detail loss and additive impairment in single precision (S. Li, F. Zhang, L. Ma, K. N.
// Ngan, "Image quality assessment by separately evaluating detail losses and additive impairments",
// IEEE Trans. Multimedia 13(5), 2011), the original of `adm`.
//
// Four levels of a Daubechies-2 wavelet transform.  At each level the distorted bands are split
// into restored detail (a share 0..1 of the reference band) and additive impairment; what remains
// of each above a 3x3 masking threshold of the other is cubed and summed, each row from left to
// right, then the rows, in binary32: the order is part of the law.  The reciprocal in the split is
// the law's table estimate with one Newton step, not a division.
//
// Rows are independent up to the sum of the row sums, so they are what bands and SIMD share out.
#pragma once

#include <cstdint>
#include <span>

#include "metric/metric.hpp"
#include "vqx/picture.hpp"

namespace vqx::float_adm {

inline constexpr int kScales = 4;
inline constexpr int kBands = 3;     // h, v, d: the order of every sum over bands
inline constexpr int kMinSide = 17;  // every band is then at least 2x2

// What measuring needs of an option set.
struct Params {
  double gain_limit = 100;
  float weights[kScales][kBands] = {};
  float exponent = 3;  // of the energies
  bool bypass_masking = false;
  bool skip_scale0 = false;
};

// The measured struct: binary32 sums, widened.
struct Sums {
  double detail[kScales][kBands];      // restored detail above the masking by impairment
  double impairment[kScales][kBands];  // additive impairment above the masking by detail
  double reference[kScales][kBands];
  std::int64_t area[kScales];  // coefficients summed
};

// Daubechies-2, as singles.
inline constexpr float kLow[4] = {0.482962913144690f, 0.836516303737469f, 0.224143868041857f,
                                  -0.129409522550921f};
inline constexpr float kHigh[4] = {kLow[3], -kLow[2], kLow[1], -kLow[0]};

// What a coefficient adds to the masking thresholds of its neighbours and to its own.
inline constexpr double kNeighbourShare = 0.0333333351;
inline constexpr double kCentreShare = 0.0666666701;

// The law's estimate of 1/x for mantissas in [1, 2), by the top 11 bits of the fraction.
inline constexpr int kReciprocals = 2048;
const float* reciprocal_table();

float power(float x, float exponent);

// Scored range of an axis of n coefficients.
struct Range {
  int first;
  int last;
};
Range scored(int n);

// One result per option set.
void measure_reference(const Plane& reference, const Plane& distorted, int bit_depth,
                       std::span<const Params* const> sets, std::span<Sums> out);
void measure_simd(const Plane& reference, const Plane& distorted, int bit_depth,
                  std::span<const Params* const> sets, const MeasureContext& context,
                  std::span<Sums> out);

}  // namespace vqx::float_adm
