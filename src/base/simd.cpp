#include "base/simd.hpp"

#include <atomic>
#include <cstdlib>
#include <string>

// Sources without this have no code of their own for that target; AVX3 serves them.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vqx::HWY_NAMESPACE {
// Compiled once per target: tells which copy dynamic dispatch picks.
std::int64_t DispatchedTarget() {
  return static_cast<std::int64_t>(HWY_TARGET);
}
}  // namespace vqx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx {
HWY_EXPORT(DispatchedTarget);

namespace {

std::atomic<bool> scalar_forced{false};

constexpr SimdLevel kLevels[] = {SimdLevel::kScalar, SimdLevel::kSse4,       SimdLevel::kAvx2,
                                 SimdLevel::kAvx512, SimdLevel::kAvx512Vnni, SimdLevel::kNeon};

// The Highway target that makes a level.
std::int64_t target_of(SimdLevel level) {
  switch (level) {
    case SimdLevel::kScalar:
      return 0;
    case SimdLevel::kSse4:
      return HWY_SSE4;
    case SimdLevel::kAvx2:
      return HWY_AVX2;
    case SimdLevel::kAvx512:
      return HWY_AVX3;
    case SimdLevel::kAvx512Vnni:
      return HWY_AVX3_DL;
    case SimdLevel::kNeon:
      return HWY_NEON;
  }
  return 0;
}

// Its targets, of which dispatch takes the best that a source was compiled for.
std::int64_t targets_of(SimdLevel level) {
  return target_of(level) | (level == SimdLevel::kAvx512Vnni ? HWY_AVX3 : 0);
}

// What the machine supports, whatever was forced before.
std::int64_t machine_targets() {
  static const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return targets;
}

}  // namespace

std::string_view simd_level_name(SimdLevel level) {
  switch (level) {
    case SimdLevel::kScalar:
      return "scalar";
    case SimdLevel::kSse4:
      return "sse4";
    case SimdLevel::kAvx2:
      return "avx2";
    case SimdLevel::kAvx512:
      return "avx512";
    case SimdLevel::kAvx512Vnni:
      return "avx512_vnni";
    case SimdLevel::kNeon:
      return "neon";
  }
  return "unknown";
}

std::vector<SimdLevel> supported_simd_levels() {
  std::vector<SimdLevel> levels;
  for (const SimdLevel level : kLevels)
    if (level == SimdLevel::kScalar || (target_of(level) & machine_targets()) != 0)
      levels.push_back(level);
  return levels;
}

Status select_simd_level(SimdLevel level) {
  const std::int64_t targets = targets_of(level) & machine_targets();
  if (level != SimdLevel::kScalar && (targets & target_of(level)) == 0)
    return Status(ErrorCode::kInvalidArgument,
                  "this machine cannot run SIMD level " + std::string(simd_level_name(level)));
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  scalar_forced = level == SimdLevel::kScalar;
  return {};
}

Status select_simd_level_from_environment() {
  const char* wanted = std::getenv("VQX_SIMD");
  if (wanted == nullptr || *wanted == '\0')
    return select_simd_level(supported_simd_levels().back());
  for (const SimdLevel level : kLevels)
    if (simd_level_name(level) == wanted) return select_simd_level(level);
  std::string accepted;
  for (const SimdLevel level : supported_simd_levels())
    accepted += (accepted.empty() ? "" : ", ") + std::string(simd_level_name(level));
  return Status(ErrorCode::kInvalidArgument,
                "VQX_SIMD=" + std::string(wanted) + " is not a SIMD level; accepted: " + accepted);
}

SimdLevel active_simd_level() {
  if (scalar_forced) return SimdLevel::kScalar;
  const std::int64_t target = HWY_DYNAMIC_DISPATCH(DispatchedTarget)();
  for (const SimdLevel level : kLevels)
    if (target_of(level) == target) return level;
  return SimdLevel::kScalar;
}

}  // namespace vqx
#endif  // HWY_ONCE
