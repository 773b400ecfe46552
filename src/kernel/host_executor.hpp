// Runs kernels on the host: groups are spread over threads, and inside a group each() is a plain
// loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/parallel.hpp"
#include "kernel/queue.hpp"

namespace vqx::kernel {

template <int Items>
class HostGroup {
 public:
  static constexpr bool kOnDevice = false;
  static constexpr int kItems = Items;

  HostGroup(Grid grid, int64_t index)
      : grid_(grid),
        x_(static_cast<int>(index % grid.x)),
        y_(static_cast<int>(index / grid.x % grid.y)),
        z_(static_cast<int>(index / grid.x / grid.y)) {}

  int x() const { return x_; }
  int y() const { return y_; }
  int z() const { return z_; }
  Grid grid() const { return grid_; }
  static constexpr int item() { return 0; }
  void sync() const {}

 private:
  Grid grid_;
  int x_;
  int y_;
  int z_;
};

class HostExecutor {
 public:
  static constexpr const char* kName = "host";

  static Result<std::unique_ptr<HostExecutor>> open(int /*device*/, bool hardware_fp64,
                                                    bool /*timing*/) {
    return std::make_unique<HostExecutor>(hardware_fp64);
  }

  // `hardware_fp64` = false runs the software binary64 that devices without fp64 use.
  explicit HostExecutor(bool hardware_fp64 = true) : hardware_fp64_(hardware_fp64) {}

  bool hardware_fp64() const { return hardware_fp64_; }
  template <class Kernel>
  bool fits() const {
    return true;
  }
  size_t allocated_bytes() const { return allocated_bytes_; }

  Result<void*> allocate(size_t bytes) {
    const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
    if (memory == nullptr) return {ErrorCode::kOutOfMemory, "host: out of memory"};
    std::memset(memory, 0, rounded);
    allocated_bytes_ += rounded;
    return memory;
  }
  void release(void* memory) { std::free(memory); }
  Result<void*> allocate_pinned(size_t bytes) { return allocate(bytes); }
  void release_pinned(void* memory) { release(memory); }

  Status upload(void* device, const void* host, size_t bytes) { return copy(device, host, bytes); }
  Status upload_rows(void* device, size_t device_pitch, const void* host, size_t host_pitch,
                     size_t row_bytes, size_t rows) {
    for (size_t y = 0; y < rows; ++y) {
      std::memcpy(static_cast<std::byte*>(device) + y * device_pitch,
                  static_cast<const std::byte*>(host) + y * host_pitch, row_bytes);
    }
    return {};
  }
  Status download(void* host, const void* device, size_t bytes) {
    return copy(host, device, bytes);
  }
  Status copy(void* target, const void* source, size_t bytes) {
    std::memcpy(target, source, bytes);
    return {};
  }
  Status zero(void* target, size_t bytes) {
    std::memset(target, 0, bytes);
    return {};
  }

  template <class Kernel>
  Status launch(const Kernel& kernel, Grid grid) {
    check_kernel<Kernel>();
    using Shared = typename Kernel::Shared;
    const int64_t groups = int64_t{grid.x} * grid.y * grid.z;
    bool out_of_memory = false;
    // Isolated, since the caller may hold a lock around this call.
    parallel_ranges(groups, 8, [&](int64_t begin, int64_t end) {
      const std::unique_ptr<Shared> shared(new (std::nothrow) Shared);
      if (shared == nullptr) {
        __atomic_store_n(&out_of_memory, true, __ATOMIC_RELAXED);
        return;
      }
      for (int64_t i = begin; i != end; ++i) {
        HostGroup<Kernel::kItems> group(grid, i);
        kernel(group, *shared);
      }
    });
    if (out_of_memory) return {ErrorCode::kOutOfMemory, "host: out of memory"};
    return {};
  }

  Status finish() { return {}; }

  // Work is done when its call returns, so events are only points in time.
  using Event = std::chrono::steady_clock::time_point*;
  Status activate() const { return {}; }
  Result<Event> create_event(bool /*timing*/) { return new std::chrono::steady_clock::time_point; }
  void destroy_event(Event event) { delete event; }
  Status record(Event event) {
    *event = std::chrono::steady_clock::now();
    return {};
  }
  template <class F>
  Result<int> record_graph(F&& enqueue) {
    VQX_RETURN_IF_ERROR(enqueue());
    return -1;
  }
  Status replay(int /*number*/) { return {}; }
  Status wait(Event) { return {}; }
  Status synchronize(Event) { return {}; }
  Result<double> seconds_between(Event first, Event last) {
    return std::chrono::duration<double>(*last - *first).count();
  }

 private:
  static constexpr size_t kAlignment = 256;
  bool hardware_fp64_;
  size_t allocated_bytes_ = 0;
};

}  // namespace vqx::kernel
