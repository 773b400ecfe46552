// Which SIMD instructions the metrics run on.  Every level gives the same bits; forcing one serves
// tests and comparisons.  Highway keeps its choice of target per process, so this does too.
#pragma once

#include <string_view>
#include <vector>

#include "vqx/status.hpp"

namespace vqx {

enum class SimdLevel {
  kScalar,  // the plain reference code of each metric
  kSse4,
  kAvx2,
  kAvx512,
  kAvx512Vnni,  // as AVX-512, with 16-bit dot products where a metric has a use for them
  kNeon,
};

std::string_view simd_level_name(SimdLevel level);

// The levels this machine can run, slowest first; kScalar is always among them.
std::vector<SimdLevel> supported_simd_levels();

// Makes metrics use `level`.  kInvalidArgument when this machine cannot run it.
Status select_simd_level(SimdLevel level);

// Follows the environment variable VQX_SIMD (scalar, sse4, avx2, avx512, avx512_vnni, neon);
// without it, the best level of the machine.
Status select_simd_level_from_environment();

// The level in use: what dispatched code really runs, asked from Highway.
SimdLevel active_simd_level();

inline bool simd_is_scalar() {
  return active_simd_level() == SimdLevel::kScalar;
}

}  // namespace vqx
