// What the host code of a device metric sees: device memory and an in-order queue of kernels.
//
// Every executor (HostExecutor, GpuExecutor, SyclExecutor) offers the same members, so that host
// code is written once as a template over it:
//
//   static constexpr const char* kName;          "host", "cuda", "hip", "sycl"
//   static Result<...> open(device, hardware_fp64, timing);   timing: seconds_between() is wanted
//   bool hardware_fp64() const;                  which Real64 to run kernels with
//   bool fits<Kernel>() const;                   enough work-group memory; 40 KB always are
//   size_t allocated_bytes() const;              device memory taken so far
//   Result<void*> allocate(size_t bytes);        device memory, 256-byte aligned, zeroed
//   void release(void* memory);
//   Result<void*> allocate_pinned(size_t bytes); host memory that the device reads directly, zeroed
//   void release_pinned(void* memory);
//   Status upload(device, host, bytes);          asynchronous, from pinned memory
//   Status upload_rows(device, device_pitch, host, host_pitch, row_bytes, rows);
//   Status download(host, device, bytes);        asynchronous, to pinned memory
//   Status copy(device, device_source, bytes);
//   Status zero(device, bytes);
//   Status launch(kernel, grid);
//   Status finish();                             waits for everything queued so far
//
// Everything runs in the order in which it was queued, so a kernel reads what earlier ones left in
// device memory: values computed on the device (a threshold, a count) feed later kernels through a
// pointer, without a round trip to the host.  Errors are values; nothing here exits or aborts.
#pragma once

#include <cstddef>
#include <utility>

#include "kernel/kernel.hpp"
#include "vqx/status.hpp"

namespace vqx::kernel {

// Owns `size()` elements of device memory, zero at first.  The executor must outlive it.
template <class T, class Executor>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) executor_->release(data_);
  }

  static Result<Buffer> allocate(Executor& executor, size_t size) {
    VQX_ASSIGN_OR_RETURN(void* memory, executor.allocate(size * sizeof(T)));
    Buffer buffer;
    buffer.executor_ = &executor;
    buffer.data_ = static_cast<T*>(memory);
    buffer.size_ = size;
    return Result<Buffer>(std::move(buffer));  // nvcc does not move here by itself
  }

  T* data() const { return data_; }
  size_t size() const { return size_; }
  size_t bytes() const { return size_ * sizeof(T); }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(executor_, other.executor_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  Executor* executor_ = nullptr;
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Checks that hold for a kernel on every executor.
template <class Kernel>
constexpr void check_kernel() {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel is copied to the device");
  static_assert(sizeof(Kernel) <= 4000, "kernel parameters are limited to 4 KB");
  static_assert(Kernel::kItems % 64 == 0 && Kernel::kItems <= 1024, "whole waves of 32 or 64");
  static_assert(std::is_trivially_default_constructible_v<typename Kernel::Shared>,
                "work-group memory starts uninitialised");
}

}  // namespace vqx::kernel
