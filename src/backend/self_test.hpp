// The self-test of a device: short kernels whose results are known.  Compilers and drivers fuse,
// approximate, flush subnormals or plainly miscompile; a device that does is refused.
#pragma once

#include <string>

#include "backend/platform.hpp"
#include "kernel/probes.hpp"

namespace vqx::backend {

// Runs every probe on a queue of its own.  kBackend: names the probes that failed.
inline Status run_self_test(Platform::Executor& executor) {
  using kernel::Buffer;
  VQX_RETURN_IF_ERROR(executor.activate());
  using Words = Buffer<int64_t, Platform::Executor>;
  constexpr size_t kWords = kernel::kProbeCount;
  VQX_ASSIGN_OR_RETURN(const Words words, Words::allocate(executor, kWords));
  VQX_RETURN_IF_ERROR(kernel::launch_probes(executor, words.data()));
  VQX_ASSIGN_OR_RETURN(void* memory, executor.allocate_pinned(words.bytes()));
  auto* results = static_cast<int64_t*>(memory);
  Status status = executor.download(results, words.data(), words.bytes());
  if (status.ok()) status = executor.finish();
  std::string failed;
  for (int i = 0; i < kernel::kProbeCount && status.ok(); ++i) {
    if (kernel::needs_fp64(i) && !executor.hardware_fp64()) continue;
    if (results[i] == kernel::kProbes[i].expected) continue;
    failed += failed.empty() ? "" : ", ";
    failed += kernel::kProbes[i].name;
  }
  executor.release_pinned(memory);
  VQX_RETURN_IF_ERROR(status);
  if (failed.empty()) return {};
  return {ErrorCode::kBackend,
          std::string(Platform::Executor::kName) +
              ": the device failed the self-test and cannot be used; wrong results: " + failed};
}

}  // namespace vqx::backend
