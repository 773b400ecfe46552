// Backends by name: the host backend is built in, the others are modules (libvqx_cuda.so, ...) that
// are looked for when they are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/abi.hpp"
#include "vqx/status.hpp"

namespace vqx::backend {

// The built-in backend: portable kernels on the CPU.
const abi::Backend* host_backend();

// "host", "cuda", "hip" or "sycl".  Modules are searched in the directories of the environment
// variable VQX_BACKEND_PATH if it is set (separated by colons), else beside the program and in
// ../lib/vqx from there.  kUnknownName: no such backend; kBackend: not found, not loadable, or
// built from other sources than the program, with the places that were searched.
Result<const abi::Backend*> load_backend(std::string_view name);

// The names above.
std::vector<std::string> backend_names();

struct Device {
  int index = 0;
  std::string name;
  std::string architecture;
  std::uint64_t memory = 0;       // bytes
  std::uint64_t memory_free = 0;  // bytes
  int compute_units = 0;
  bool has_fp64 = false;
  Status self_test;
  double self_test_seconds = 0;  // with the creation of the device's context
};

struct BackendDevices {
  std::string backend;
  Status state;  // why there are none
  std::vector<Device> devices;
};

// All backends with their devices, every device tested.
std::vector<BackendDevices> list_devices();

// The first of cuda, hip and sycl that is there with a device that passes the self-test; empty:
// none.
std::string best_backend();

// The error that a backend function reported.
Status to_status(const abi::Error& error);

}  // namespace vqx::backend
