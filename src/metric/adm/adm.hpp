// `adm`: how much of the reference's detail survived (adm2), and how much was added (aim).
//
// Method.  Four levels of an integer Daubechies-2 wavelet split both pictures into a low band `a`,
// which feeds the next scale, and detail bands h, v, d.  At each position the distorted detail is
// decoupled into a *restored* part, the reference's detail scaled by k in [0, 1], and the
// *additive* rest.  Both are weighted by a contrast-sensitivity function (CSF); each serves as the
// signal of one score and as the masker of the other: what stays below the masking threshold, a
// weighted 3x3 sum of the masker over the three bands, is not seen.  The energy of a band is the
// cube root of the sum of cubes over the central 80 % of its rows and columns.
//
//   adm2 = restored energy / reference energy       (1: nothing lost)
//   aim  = additive energy / reference energy       (0: nothing added)
//   adm3 = max(adm2 * w + (1 - aim) * (1 - w), minimum)
//
// Ranges.  Scale-0 coefficients are 16-bit, those of scales 1..3 32-bit, products 64-bit.  Each row
// of a band's energies is summed whole before its rounding shift, so a row is never split.
//
// S. Li, F. Zhang, L. Ma, K. N. Ngan, "Image Quality Assessment by Separately Evaluating Detail
// Losses and Additive Impairments", IEEE Trans. Multimedia 13(5), 2011.
#pragma once

#include <cstdint>
#include <span>

#include "metric/adm/adm_csf.hpp"
#include "metric/metric.hpp"

namespace vqx::adm {

inline constexpr int kScales = 4;
inline constexpr int kBands = 3;     // h, v, d: the order of every sum over bands
inline constexpr int kMinSide = 33;  // below, the transform's mirrored borders overlap

// The measured struct: row-shifted sums of cubes per scale and band.
struct Sums {
  std::int64_t restored[kScales][kBands];
  std::int64_t additive[kScales][kBands];
  std::uint64_t reference[kScales][kBands];
};

// What of an option set shapes the sums.
struct Params {
  double gain_limit = 100;
  FixedWeights weights[kScales];
  bool skip_scale0 = false;
  bool skip_aim = false;
  friend bool operator==(const Params&, const Params&) = default;
};

// Plain loops straight from the spec.
Sums measure_reference(const Picture& reference, const Picture& distorted, const Params& params);

// Whether every width that the SIMD path relies on holds for any content.  Only mode 1 with large
// scale options exceeds them; such option sets run on the reference.
bool simd_widths_hold(const Params& params);

// The same sums by SIMD, for several option sets over one transform.
void measure_simd(const MeasureContext& context, std::span<const Params> sets,
                  std::span<Sums> sums);

}  // namespace vqx::adm

namespace vqx {
extern const MetricInfo kAdmInfo;
}  // namespace vqx
