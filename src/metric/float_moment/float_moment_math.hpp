// The arithmetic of one sample.
#pragma once

#include <cstdint>

#include "kernel/scalar.hpp"

namespace vqx::float_moment {

// v^2 rounded to binary32: an integer of at most 2^32.
VQX_FN std::uint64_t single_precision_square(std::uint32_t v) {
  const auto x = static_cast<float>(v);
  return static_cast<std::uint64_t>(kernel::mul(x, x));
}

}  // namespace vqx::float_moment
