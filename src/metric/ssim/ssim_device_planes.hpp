// The planes of a picture pair as SSIM's kernels read them: integers as they were uploaded, or
// fp32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernel/device_metric.hpp"
#include "kernel/kernel.hpp"
#include "metric/ssim/ssim_math.hpp"

namespace vqx::ssim {

// A plane of one picture as kernels read it: integers, or fp32 with scale 1.
template <class Sample>
struct Source {
  const std::byte* data;
  int64_t pitch;  // bytes
  float scale;

  VQX_FN float at(int x, int y) const {
    const auto* row = reinterpret_cast<const Sample*>(data + y * pitch);
    if constexpr (std::is_same_v<Sample, float>) {
      return row[x];
    } else {
      return kernel::mul(static_cast<float>(row[x]), scale);
    }
  }
};

// Both pictures' planes, of one size.
template <class Sample>
struct SourcePair {
  Source<Sample> side[2];
  int width;
  int height;

  // Chosen by value: parameters indexed by a variable would move to slow memory.
  VQX_KERNEL_FN Source<Sample> chosen(int index) const { return index == 0 ? side[0] : side[1]; }
};

template <class Sample>
SourcePair<Sample> source_pair(const kernel::DeviceFrame& frame, int plane, int bit_depth) {
  const kernel::DevicePlane& a = frame.reference[plane];
  const kernel::DevicePlane& b = frame.distorted[plane];
  const float scale = sample_scale(bit_depth);
  return {{{static_cast<const std::byte*>(a.data), a.pitch, scale},
           {static_cast<const std::byte*>(b.data), b.pitch, scale}},
          a.width,
          a.height};
}

inline SourcePair<float> source_pair(const float* a, const float* b, Size size) {
  const int64_t pitch = size.width * int64_t{sizeof(float)};
  return {{{reinterpret_cast<const std::byte*>(a), pitch, 1},
           {reinterpret_cast<const std::byte*>(b), pitch, 1}},
          size.width,
          size.height};
}

// mirror() without repetition: enough for windows that are narrower than the picture.
VQX_KERNEL_FN int reflect(int index, int n) {
  const int above = index < 0 ? -1 - index : index;
  return above < n ? above : 2 * n - 1 - above;
}

}  // namespace vqx::ssim
