// The host as a device: the portable kernels on the CPU, for tests and machines without a GPU.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "backend/abi.hpp"
#include "kernel/host_executor.hpp"

namespace vqx::backend {

struct Platform {
  using Executor = kernel::HostExecutor;

  static Result<int> device_count() { return 1; }

  static Status describe(int, abi::DeviceInfo& info) {
    std::snprintf(info.name, sizeof(info.name), "portable kernels on the CPU");
    std::snprintf(info.architecture, sizeof(info.architecture), "host");
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    info.memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
    info.memory_free = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page;
    info.compute_units = static_cast<int32_t>(std::thread::hardware_concurrency());
    info.has_fp64 = 1;
    return {};
  }

  // All memory is the "device's".
  static Result<void*> allocate_pinned(int /*device*/, uint64_t bytes) {
    constexpr uint64_t kAlignment = 64;
    void* const memory =
        std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (memory == nullptr) return Status(ErrorCode::kOutOfMemory, "host: out of memory");
    return memory;
  }
  static void release_pinned(int /*device*/, void* memory) { std::free(memory); }

  static Result<bool> hardware_fp64(int, int32_t wanted) { return wanted != abi::kFp64Software; }
};

}  // namespace vqx::backend
