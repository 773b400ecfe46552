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
// One plain implementation, written as row loops that compilers vectorise, serves all SIMD levels.
#pragma once

#include <cstdint>

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

void measure(const Plane& reference, const Plane& distorted, int bit_depth,
             const Params* const* sets, std::size_t count, Sums* out);

}  // namespace vqx::float_adm
