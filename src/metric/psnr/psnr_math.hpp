// The arithmetic of one sample pair, and what a device needs to know.
#pragma once

#include <cstdint>

namespace vqx::psnr {

// One option set, for the device side.
struct DeviceOptions {
  std::int64_t planes = 1;  // 1, or all of the format
};

inline std::uint64_t squared_difference(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t d = a > b ? a - b : b - a;
  return std::uint64_t{d} * d;
}

// d^2 rounded to binary32.  At most 65535^2, which rounds to an integer below 2^32.
inline std::uint64_t single_precision_squared_difference(std::uint32_t a, std::uint32_t b) {
  const auto d = static_cast<float>(a > b ? a - b : b - a);
  return static_cast<std::uint64_t>(d * d);
}

}  // namespace vqx::psnr
