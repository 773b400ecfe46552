// CUDA and HIP devices.
#pragma once

#include <algorithm>
#include <cstdio>

#include "backend/abi.hpp"
#include "kernel/gpu_executor.hpp"

namespace vqx::backend {

struct Platform {
  using Executor = kernel::GpuExecutor;

  static Result<int> device_count() {
    int count = 0;
    VQX_RETURN_IF_ERROR(Executor::check(VQX_GPU(GetDeviceCount)(&count), "looking for devices"));
    return count;
  }

  static Status describe(int device, abi::DeviceInfo& info) {
#if defined(VQX_TARGET_HIP)
    hipDeviceProp_t properties{};
    VQX_RETURN_IF_ERROR(
        Executor::check(hipGetDeviceProperties(&properties, device), "query of the device"));
    std::snprintf(info.architecture, sizeof(info.architecture), "%s", properties.gcnArchName);
#else
    cudaDeviceProp properties{};
    VQX_RETURN_IF_ERROR(
        Executor::check(cudaGetDeviceProperties(&properties, device), "query of the device"));
#endif
    if (info.architecture[0] == '\0') {
      std::snprintf(info.architecture, sizeof(info.architecture), "sm_%d%d", properties.major,
                    properties.minor);
    }
    std::snprintf(info.name, sizeof(info.name), "%s", properties.name);
    info.compute_units = properties.multiProcessorCount;
    info.has_fp64 = 1;  // every device of both kinds computes binary64
    VQX_RETURN_IF_ERROR(Executor::check(VQX_GPU(SetDevice)(device), "selecting the device"));
    size_t available = 0;
    size_t total = 0;
    VQX_RETURN_IF_ERROR(
        Executor::check(VQX_GPU(MemGetInfo)(&available, &total), "query of the memory"));
    info.memory = total;
    info.memory_free = available;
    return {};
  }

  static Result<void*> allocate_pinned(int device, uint64_t bytes) {
    VQX_RETURN_IF_ERROR(Executor::check(VQX_GPU(SetDevice)(device), "selecting the device"));
    return Executor::make_pinned(bytes);
  }
  static void release_pinned(int /*device*/, void* memory) {
    Executor::free_pinned(memory);
  }

  static Result<bool> hardware_fp64(int, int32_t wanted) {
    return wanted != abi::kFp64Software;
  }
};

}  // namespace vqx::backend
