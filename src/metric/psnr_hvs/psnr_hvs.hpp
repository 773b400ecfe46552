// `psnr_hvs`: PSNR on 8x8 transform coefficients weighted by contrast sensitivity, with
// between-coefficient masking (Egiazarian et al., "New full-reference quality metrics based on
// HVS", 2006; Ponomarenko et al., "On between-coefficient contrast masking of DCT basis functions",
// VPQM 2007), in the form of the Daala project.
//
//   blocks      8x8 samples at every 7th column and row, raster order
//   X           integer transform of a block: exact, |X| <= 8 * peak + 36
//   ratio       summed variances of the block's quadrants over the block's variance
//   energy      sum of X^2 * mask over the 63 AC coefficients
//   T           larger of both pictures' sqrt(energy * ratio) / 32
//   term        ((|Xr - Xd| less T / mask, at least 0) * csf)^2; DC is not masked
//   E           sum of all terms / their number / peak^2
//   psnr_hvs_p  -10 log10(E_p);  psnr_hvs from 0.8 E_y + 0.1 (E_cb + E_cr)
//
// All binary32, in the order of the law.  Blocks are independent, but the sum over a plane is the
// *rounded running sum* of all terms in block order, millions of them.  It is reproduced in
// parallel: while the sum s stays in one binade, whose values are u apart,
//
//   RN32(s + t) = s + u * round(t / u)    unless t / u ends in exactly one half,
//
// so the terms of many blocks become integers round(t / u) that add in any order.  Where a tie
// occurs or s reaches the next power of two, the terms concerned are added one by one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "metric/metric.hpp"

namespace vqx::psnr_hvs {

inline constexpr int kPlanes = 3;
inline constexpr int kBlock = 8;
inline constexpr int kStep = 7;  // neighbouring blocks overlap by one row or column
inline constexpr int kCoefficients = kBlock * kBlock;

// One frame: each plane's running sum of terms, a binary32 value.
struct TermSums {
  double plane[kPlanes] = {};
};

// Block positions along a side of `length` samples.
constexpr int block_count(int length) {
  return length < kBlock ? 0 : (length - kBlock) / kStep + 1;
}

// Weights of one plane, by coefficient.
struct Weights {
  float csf[kCoefficients];   // contrast sensitivity
  float mask[kCoefficients];  // masking weight
};
const Weights& weights(int plane);

// Two planes of the same place, and what their blocks are weighted with.
struct PlanePair {
  const Plane& reference;
  const Plane& distorted;
  int bit_depth;
  const Weights& weights;
};

// The running sum of a plane's terms, straight from the law.
float sum_plane_reference(const PlanePair& planes);
// The same on the active SIMD level, in parallel.
float sum_plane(const MeasureContext& context, const PlanePair& planes);

// The running sum continued over `size` terms as SIMD stores them: blocks come in vectors of
// term_lanes(), and terms[(64 * vector + k) * lanes + lane] is term k of one of them.
float continue_sum(float sum, const float* terms, std::size_t size);
std::size_t term_lanes();

}  // namespace vqx::psnr_hvs
