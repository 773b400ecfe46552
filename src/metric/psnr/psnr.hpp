// Peak signal-to-noise ratio: `psnr` (three planes, integer samples) and `float_psnr` (luma, the
// same on the 8-bit scale).
//
//   SSE  = sum (ref - dis)^2        over the plane's n samples, exact in unsigned 64 bits:
//                                   a term is below 2^32, so a plane of 2^32 samples still fits
//   MSE  = SSE / n
//   PSNR = 10 log10(peak^2 / MSE), limited from above
//
// Measuring is integer summation, so the order of samples, bands and machines never shows.  All
// binary64 steps run once per frame on the host.  `float_psnr` rounds the square of a difference to
// binary32, which changes it at 16 bits only, to another integer.
#pragma once

#include <cstdint>

#include "metric/metric.hpp"

namespace vqx::psnr {

inline constexpr int kPlanes = 3;

// `psnr` of one frame; planes that are not asked for stay 0.
struct SquaredErrors {
  std::uint64_t plane[kPlanes] = {};
};

// `psnr` of a sequence.
struct SequenceErrors {
  std::uint64_t squared[kPlanes] = {};
  std::uint64_t samples[kPlanes] = {};
};

// `float_psnr` of one frame: the sum in units of the squared code value step.
struct LumaError {
  std::uint64_t squared = 0;
};

// How a term of the sum is formed from the difference d of two code values.
enum class Term {
  kExact,            // d^2
  kSinglePrecision,  // RN32(d^2)
};

// Sums the terms of rows [first, last) on the active SIMD level, and straight from the definition.
std::uint64_t sum_rows(const Plane& reference, const Plane& distorted, int bit_depth, Term term,
                       int first, int last);
std::uint64_t sum_rows_reference(const Plane& reference, const Plane& distorted, int bit_depth,
                                 Term term, int first, int last);

// Sums the terms of a whole plane, in bands.
std::uint64_t sum_plane(const MeasureContext& context, int plane, Term term);

// Refuses depths other than 8, 10, 12 and 16 bits.
Status check_bit_depth(std::string_view metric, const VideoFormat& format);

}  // namespace vqx::psnr
