#include "input/sample_range.hpp"

#include <fmt/core.h>

namespace vqx::input {

std::uint16_t union_of_bits(const std::uint16_t* samples, std::size_t count) {
  // A plain "or" over the row: compilers vectorize it at every instruction set.
  std::uint16_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits = static_cast<std::uint16_t>(bits | samples[i]);
  return bits;
}

std::optional<SampleAboveDepth> find_sample_above_depth(const Picture& picture) {
  const int depth = picture.format().bit_depth;
  if (depth <= 8 || depth >= 16) return std::nullopt;
  for (int p = 0; p < picture.format().plane_count(); ++p) {
    const Plane& plane = picture.plane(p);
    for (int y = 0; y < plane.height; ++y) {
      const auto* row = plane.row<std::uint16_t>(y);
      if (union_of_bits(row, static_cast<std::size_t>(plane.width)) >> depth == 0) continue;
      for (int x = 0; x < plane.width; ++x)
        if (row[x] >> depth != 0) return SampleAboveDepth{p, x, y, row[x]};
    }
  }
  return std::nullopt;
}

std::string describe(const SampleAboveDepth& found, int bit_depth) {
  static constexpr const char* kPlanes[] = {"Y", "Cb", "Cr"};
  return fmt::format("sample {} at plane {}, column {}, row {} is above {}, the largest of {} bits",
                     found.value, kPlanes[found.plane], found.x, found.y, (1 << bit_depth) - 1,
                     bit_depth);
}

}  // namespace vqx::input
