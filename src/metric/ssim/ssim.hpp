// Structural similarity of the luma planes: `float_ssim` and its multi-scale form `float_ms_ssim`.
//
// Both compare Gaussian-weighted local statistics (11 x 11 taps, valid positions only) of reference
// a and distorted b, samples on the 8-bit scale:
//
//   L = (2 mean_a mean_b + C1) / (mean_a^2 + mean_b^2 + C1)     luminance
//   C = (2 sd_a sd_b + C2) / (var_a + var_b + C2)               contrast
//   S = (cov + C3) / (sd_a sd_b + C3)                           structure
//
// `float_ssim` is the mean of L C S on a box-decimated picture (about 256 lines; Wang, Bovik,
// Sheikh, Simoncelli, "Image quality assessment: from error visibility to structural similarity",
// 2004).  `float_ms_ssim` is the product over five dyadic levels of the mean C and S, and at the
// last one L, raised to powers (Wang, Simoncelli, Bovik, "Multi-scale structural similarity",
// 2003).
//
// Types: fp32 planes; a window sum is the fp64 running sum, in tap order, of fp32 products, rounded
// once to fp32, rows before columns; L and C are fp64, S is fp32.  Frame sums count terms in units
// of 2^-52, rounded to nearest even, in integers: |term| < 8, so a term fits 56 bits and 2^32
// positions fit 88 bits.  Hence neither bands nor threads nor machines show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "exact/wide_sum.hpp"
#include "metric/metric.hpp"
#include "metric/ssim/ssim_math.hpp"

namespace vqx::ssim {

using exact::WideSum;

// How `float_ms_ssim` makes its levels.
enum class Variant {
  kTable,      // the 9 x 9 table of the reference: fp64 running sums of fp32 products
  kSeparable,  // 9 taps along rows, then columns: fp32 fused multiply-adds
};

// Sums over the window positions of a plane, in units of 2^-52.
struct TermSums {
  WideSum similarity;  // L C S
  WideSum luminance;
  WideSum contrast;
  WideSum structure;

  void add(const TermSums& other) {
    similarity += other.similarity;
    luminance += other.luminance;
    contrast += other.contrast;
    structure += other.structure;
  }
  friend bool operator==(const TermSums&, const TermSums&) = default;
};

// A plane to be read as fp32: integer samples, converted on the fly, or fp32 already.
struct Samples {
  enum class Kind { kUint8, kUint16, kFloat };
  const std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;  // bytes
  int width = 0;
  int height = 0;
  Kind kind = Kind::kFloat;
  float scale = 1;  // of integer samples

  const std::byte* row(int y) const { return data + y * stride; }
};
Samples samples_of(const Plane& plane, int bit_depth);
Samples samples_of(const float* data, int width, int height);  // rows without padding

int automatic_factor(Size plane);  // of float_ssim

// ---- measuring, on the active SIMD level -------------------------------------------------------

// Terms of two planes of one size.  All zero where no window fits.
TermSums sum_terms(const MeasureContext& context, const Samples& a, const Samples& b);

// Decimates by an integer factor >= 2 into decimated().area() values.
void decimate(const MeasureContext& context, const Samples& in, int factor, float* out);

// The next pyramid level of both pictures, each of next_level().area() values.
void pyramid_step(const MeasureContext& context, Variant variant, const Samples (&in)[2],
                  float* const (&out)[2]);

// ---- the same, straight from the spec ----------------------------------------------------------

TermSums sum_terms_reference(const Samples& a, const Samples& b);
void decimate_reference(const Samples& in, int factor, float* out);
void pyramid_step_reference(Variant variant, const Samples& in, float* out);

// ---- measured words and finishing --------------------------------------------------------------

// Appends an integer total as two words, low half first; reads number `index` back.
void append_total(const WideSum& total, Measured& measured);
WideSum read_total(const Measured& measured, std::size_t index);

// The mean of a term, an fp32 number: RN32(RN64(RN64(total 2^-52) / positions)).
double mean(const WideSum& total, Size positions);

// The decibel form of a score, and the value that caps it (+inf unless `clip`).
double decibel_cap(Size plane, int bit_depth, bool clip);
double to_decibel(double score, double cap);

// Refuses depths other than 8, 10, 12 and 16 bits.
Status check_bit_depth(std::string_view metric, const VideoFormat& format);

// Planes that a set scores: luma, and chroma where asked for and present.
inline int scored_planes(const Options& options, const VideoFormat& format) {
  return options.flag("enable_chroma") ? format.plane_count() : 1;
}
inline Size plane_size(const VideoFormat& format, int plane) {
  return {format.plane_width(plane), format.plane_height(plane)};
}
inline constexpr std::string_view kPlaneNames[] = {"luma", "Cb", "Cr"};
inline constexpr std::string_view kKeySuffixes[] = {"", "_cb", "_cr"};

}  // namespace vqx::ssim
