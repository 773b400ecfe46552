// SYCL devices.
#pragma once

#include <cstdio>
#include <string>

#include "backend/abi.hpp"
#include "kernel/sycl_executor.hpp"

namespace vqx::backend {

struct Platform {
  using Executor = kernel::SyclExecutor;

  static Result<int> device_count() {
    int count = 0;
    VQX_RETURN_IF_ERROR(Executor::guard(
        "looking for devices", [&] { count = static_cast<int>(Executor::devices().size()); }));
    return count;
  }

  static Status describe(int device, abi::DeviceInfo& info) {
    return Executor::guard("query of the device", [&] {
      const sycl::device chosen = at(device).device;
      const auto name = chosen.get_info<sycl::info::device::name>();
      const auto version = chosen.get_info<sycl::info::device::driver_version>();
      std::snprintf(info.name, sizeof(info.name), "%s", name.c_str());
      std::snprintf(info.architecture, sizeof(info.architecture), "driver %s", version.c_str());
      info.memory = chosen.get_info<sycl::info::device::global_mem_size>();
      info.memory_free = info.memory;  // SYCL does not tell what is in use
      info.compute_units =
          static_cast<int32_t>(chosen.get_info<sycl::info::device::max_compute_units>());
      info.has_fp64 = chosen.has(sycl::aspect::fp64) ? 1 : 0;
    });
  }

  static Result<void*> allocate_pinned(int device, uint64_t bytes) {
    return Executor::make_pinned(at(device).context, bytes);
  }
  static void release_pinned(int device, void* memory) {
    Executor::free_pinned(at(device).context, memory);
  }

  static Result<bool> hardware_fp64(int device, int32_t wanted) {
    bool has = false;
    VQX_RETURN_IF_ERROR(Executor::guard("query of the device",
                                        [&] { has = at(device).device.has(sycl::aspect::fp64); }));
    if (wanted == abi::kFp64Hardware && !has) {
      return {ErrorCode::kBackend, "sycl: the device has no fp64 hardware"};
    }
    return has && wanted != abi::kFp64Software;
  }

 private:
  static const Executor::Device& at(int device) {
    return Executor::devices().at(static_cast<size_t>(device));
  }
};

}  // namespace vqx::backend
