// `ciede`: mean CIEDE2000 colour difference (Sharma, Wu, Dalal, "The CIEDE2000 color-difference
// formula", 2005) with k_L = 0.65, k_C = 1, k_H = 4, as a decibel-like score.
//
//   Y'CbCr -> R'G'B' (BT.709 limited range, whatever the stream says) -> linear -> XYZ -> L*a*b*
//   dE    colour difference of a pixel pair, binary32, below 2^11
//   score 45 - 20 log10(sum of dE / pixels)
//
// The sum is of integers of 2^-40 (51 bits a pixel, 128 in total), so order never shows.
//
// Steps run in binary64 or binary32 as the law says; elementary functions are correctly rounded.
// Most results are stored as binary32, and that makes the SIMD code both fast and exact: it
// evaluates the functions with short polynomials whose error is bounded, and checks at each store
// that every number within the bound rounds to the same binary32 (Ziv's rounding test).  The few
// pixels that fail it are computed by the plain code, with the exact functions.
//
// Chroma is brought to luma size as libvmaf does it, its oddities included, because they are part
// of the score that it prints:
//   4:2:0  sample (y/2, x/2).  With an odd width the last column takes what is stored after the
//          chroma row: the zero padding up to a multiple of 32 samples or, without any, the next
//          row's first sample.
//   4:2:2  the two directions swapped: sample (y/2, x), which runs on behind the end of the half
//          as wide row: through the zero padding into the next row.
// Where libvmaf leaves its picture (last row of an odd height, or behind the last row), its result
// is undefined; vqx takes the plane's nearest row, and behind its end the last sample.
#pragma once

#include <cstdint>

#include "exact/wide_sum.hpp"
#include "metric/metric.hpp"

namespace vqx::ciede {

inline constexpr int kPlanes = 3;
inline constexpr int kFractionBits = 40;  // of the sum

// One frame: the sum of all colour differences, a 128-bit integer in units of 2^-40.
struct DifferenceSum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// One row of code values at luma size, both sides: [side][plane].
struct RowPair {
  const std::uint16_t* side[2][kPlanes];
};

// Fills `out` with the picture's row `y` of a plane at luma size.
void luma_size_row(const Picture& picture, int plane, int y, std::uint16_t* out);

// Colour differences of a row, plain.
void row_differences_reference(const RowPair& rows, int bit_depth, std::size_t width,
                               float* differences);
// The same with SIMD.  All buffers hold at least kRowPadding more elements than `width`, whose
// values do not matter.
inline constexpr std::size_t kRowPadding = 64;
void row_differences(const RowPair& rows, int bit_depth, std::size_t width, float* differences);

// A frame's sum, in bands of rows.
exact::WideSum sum_differences(const MeasureContext& context);

}  // namespace vqx::ciede
