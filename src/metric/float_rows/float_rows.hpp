// What the single-precision metrics share: samples as fp32, mirrored edges, and the running sums
// whose order is part of their law.
//
// These metrics add fp32 terms of a plane in one fixed order: every row from left to right starting
// at 0, then the row sums from top to bottom starting at 0.  Rows do not depend on each other, so
// they are summed at the same time; tiles of a row continue its running sum.  So neither tiles,
// bands, lanes nor threads show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernel/target.hpp"
#include "vqx/picture.hpp"
#include "vqx/status.hpp"

namespace vqx::float_rows {

// What lies beyond the last sample; before the first one it is always the mirror image that does
// not repeat the edge (-k -> k).
enum class Edge {
  kReflect,     // n - 1 + k -> n - 1 - k
  kRepeatLast,  // n - 1 + k -> n - k
};

// Index of a position outside an axis of n samples, folded once: -n < i, and i < 2n - 1.
VQX_FN int fold(int i, int n, Edge edge) {
  const int positive = i < 0 ? -i : i;
  return positive < n ? positive : 2 * n - (edge == Edge::kReflect ? 2 : 1) - positive;
}

// A plane to be read as fp32: integer samples v as v * scale + offset, which is exact, or fp32.
struct Samples {
  enum class Kind { kUint8, kUint16, kFloat };
  const std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;  // bytes
  int width = 0;
  int height = 0;
  Kind kind = Kind::kFloat;
  float scale = 1;
  float offset = 0;

  const std::byte* row(int y) const { return data + y * stride; }
  float at(int x, int y) const;
};

// Samples on the 8-bit scale, moved by `offset`.
Samples samples_of(const Plane& plane, int bit_depth, float offset);
Samples samples_of(const float* data, std::ptrdiff_t stride, int width, int height);

// A whole plane, for the plain references.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<float> samples;

  Image(int w, int h) : width(w), height(h), samples(static_cast<std::size_t>(w) * h) {}
  explicit Image(const Samples& in);
  float& at(int x, int y) { return samples[static_cast<std::size_t>(y) * width + x]; }
  float at(int x, int y) const { return samples[static_cast<std::size_t>(y) * width + x]; }
};

// Separable filter with an odd number of taps, edges reflected: columns, then rows, each a running
// sum in the order of the taps.
Image filter_reference(const Image& in, const std::vector<float>& taps);

// The running sum of `count` values, starting at 0.
float running_sum(const float* values, int count);
// The sum of a plane's terms in the order of the law.
float plane_sum_reference(const Image& terms);

// sums[r] = sums[r] + terms of row r from left to right.  Rows are `stride` values apart.
void add_to_row_sums(const float* terms, std::ptrdiff_t stride, int rows, int count, float* sums);

// Refuses depths other than 8, 10, 12 and 16 bits.
Status check_bit_depth(std::string_view metric, const VideoFormat& format);
// Refuses planes of 2^31 samples and more, and sides below `smallest`.
Status check_size(std::string_view metric, int width, int height, int smallest);

}  // namespace vqx::float_rows
