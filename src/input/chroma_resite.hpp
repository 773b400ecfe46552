// The chroma conversions of YUV4MPEG2 input that older libvmaf readers do: 8-bit chroma whose
// samples sit elsewhere than 4:2:0 or 4:2:2 of MPEG-2 expects is filtered to the usual siting.
// 6-tap (4:1:1: 4-tap) integer filters, sums rounded as (sum + 64) >> 7 and clamped to 0..255,
// coordinates clamped to the plane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vqx::input {

enum class Resite {
  kNone,
  k422,       // 4:2:2 with JPEG siting: rows filtered
  k411,       // 4:1:1 to 4:2:2: rows doubled
  k420Paldv,  // 4:2:0 of PAL DV: rows filtered, then columns, other taps for Cb than for Cr
};

struct ResitePlane {
  const std::uint8_t* source = nullptr;  // width x height samples without padding
  std::size_t width = 0;
  std::size_t height = 0;
  std::uint8_t* target = nullptr;
  std::size_t target_width = 0;   // at most width (4:1:1: 2 * width)
  std::size_t target_height = 0;  // at most height
  std::size_t target_stride = 0;
  bool second_chroma = false;  // Cr
};

// `scratch` is memory for reuse between calls.
void resite_plane(Resite kind, const ResitePlane& plane, std::vector<std::uint8_t>& scratch);

}  // namespace vqx::input
