// Runs kernels on CUDA and HIP devices; the two interfaces differ by the prefix of their names.
#pragma once

#if !defined(VQX_TARGET_HIP)
#include <cuda_runtime.h>
#define VQX_GPU(name) cuda##name
#else
#define VQX_GPU(name) hip##name
#endif

#include <cstdint>
#include <string>

#include "kernel/queue.hpp"

namespace vqx::kernel {

#if defined(__HIP_PLATFORM_AMD__)
#define VQX_WAVE warpSize
#define VQX_SHUFFLE_DOWN(value, by) __shfl_down(static_cast<long long>(value), by)
#define VQX_SHUFFLE_UP(value, by) __shfl_up(static_cast<long long>(value), by)
#else
#define VQX_WAVE 32
#define VQX_SHUFFLE_DOWN(value, by) __shfl_down_sync(0xffffffffu, static_cast<long long>(value), by)
#define VQX_SHUFFLE_UP(value, by) __shfl_up_sync(0xffffffffu, static_cast<long long>(value), by)
#endif

template <int Items>
class GpuGroup {
 public:
  static constexpr bool kOnDevice = true;
  static constexpr int kItems = Items;
  static constexpr int kMaxWaves = Items / 32;  // waves are 32 or 64 items wide
  static constexpr int kSumsAtOnce = 8;

  // Where waves meet; executor's own part of the work-group memory.
  struct Scratch {
    int64_t wave[kMaxWaves * kSumsAtOnce];
    int64_t total[kSumsAtOnce];
  };

  __device__ explicit GpuGroup(Scratch& scratch) : scratch_(scratch) {}

  __device__ int x() const { return static_cast<int>(blockIdx.x); }
  __device__ int y() const { return static_cast<int>(blockIdx.y); }
  __device__ int z() const { return static_cast<int>(blockIdx.z); }
  __device__ Grid grid() const {
    return {static_cast<int>(gridDim.x), static_cast<int>(gridDim.y), static_cast<int>(gridDim.z)};
  }
  __device__ int item() const { return static_cast<int>(threadIdx.x); }
  __device__ void sync() const { __syncthreads(); }

  // Replaces every item's sums by the totals of the group.
  template <int N>
  __device__ void reduce(Sums<N>& sums) {
    for (int first = 0; first < N; first += kSumsAtOnce) {
      const int count = N - first < kSumsAtOnce ? N - first : kSumsAtOnce;
      reduce_some(&sums.value[first], count);
    }
  }

  // Sum of `value` over the items before this one; `total` becomes the sum over all.
  __device__ int64_t scan(int64_t value, int64_t& total) {
    const int lane = item() % VQX_WAVE;
    const int wave = item() / VQX_WAVE;
    int64_t inclusive = value;
    for (int by = 1; by < VQX_WAVE; by *= 2) {
      const int64_t other = VQX_SHUFFLE_UP(inclusive, by);
      if (lane >= by) inclusive += other;
    }
    if (lane == VQX_WAVE - 1) scratch_.wave[wave] = inclusive;
    __syncthreads();
    int64_t before = inclusive - value;
    total = 0;
    for (int w = 0; w < kItems / VQX_WAVE; ++w) {
      if (w < wave) before += scratch_.wave[w];
      total += scratch_.wave[w];
    }
    __syncthreads();
    return before;
  }

 private:
  __device__ __forceinline__ void reduce_some(int64_t* values, int count) {
    const int lane = item() % VQX_WAVE;
    const int wave = item() / VQX_WAVE;
#pragma unroll
    for (int i = 0; i < kSumsAtOnce; ++i) {
      if (i >= count) break;
      int64_t value = values[i];
      for (int by = VQX_WAVE / 2; by > 0; by /= 2) value += VQX_SHUFFLE_DOWN(value, by);
      if (lane == 0) scratch_.wave[wave * kSumsAtOnce + i] = value;
    }
    __syncthreads();
    if (item() < count) {
      int64_t value = 0;
      for (int w = 0; w < kItems / VQX_WAVE; ++w) {
        value += scratch_.wave[w * kSumsAtOnce + item()];
      }
      scratch_.total[item()] = value;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSumsAtOnce; ++i) {
      if (i < count) values[i] = scratch_.total[i];
    }
  }

  Scratch& scratch_;
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kItems) gpu_entry(const Kernel kernel) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ typename GpuGroup<Kernel::kItems>::Scratch scratch;
  GpuGroup<Kernel::kItems> group(scratch);
  kernel(group, *reinterpret_cast<typename Kernel::Shared*>(memory));
}

class GpuExecutor {
 public:
#if defined(VQX_TARGET_HIP)
  static constexpr const char* kName = "hip";
#else
  static constexpr const char* kName = "cuda";
#endif
  using Stream = VQX_GPU(Stream_t);

  GpuExecutor(Stream stream, bool hardware_fp64, size_t shared_limit)
      : stream_(stream), hardware_fp64_(hardware_fp64), shared_limit_(shared_limit) {}

  bool hardware_fp64() const {
    return hardware_fp64_;
  }
  size_t shared_limit() const {
    return shared_limit_;
  }
  Stream stream() const {
    return stream_;
  }

  Result<void*> allocate(size_t bytes) {
    void* memory = nullptr;
    VQX_RETURN_IF_ERROR(check(VQX_GPU(Malloc)(&memory, bytes == 0 ? 1 : bytes), "allocation"));
    if (const Status cleared = zero(memory, bytes); !cleared.ok()) {
      release(memory);
      return cleared;
    }
    return memory;
  }
  void release(void* memory) {
    (void)VQX_GPU(Free)(memory);
  }

  Result<void*> allocate_pinned(size_t bytes) {
    void* memory = nullptr;
#if defined(VQX_TARGET_HIP)
    const auto error = hipHostMalloc(&memory, bytes == 0 ? 1 : bytes, 0);
#else
    const auto error = cudaMallocHost(&memory, bytes == 0 ? 1 : bytes);
#endif
    VQX_RETURN_IF_ERROR(check(error, "allocation of pinned memory"));
    return memory;
  }
  void release_pinned(void* memory) {
#if defined(VQX_TARGET_HIP)
    (void)hipHostFree(memory);
#else
    (void)cudaFreeHost(memory);
#endif
  }

  Status upload(void* device, const void* host, size_t bytes) {
    return check(VQX_GPU(MemcpyAsync)(device, host, bytes, VQX_GPU(MemcpyHostToDevice), stream_),
                 "upload");
  }
  Status download(void* host, const void* device, size_t bytes) {
    return check(VQX_GPU(MemcpyAsync)(host, device, bytes, VQX_GPU(MemcpyDeviceToHost), stream_),
                 "download");
  }
  Status copy(void* target, const void* source, size_t bytes) {
    return check(
        VQX_GPU(MemcpyAsync)(target, source, bytes, VQX_GPU(MemcpyDeviceToDevice), stream_),
        "copy");
  }
  Status zero(void* target, size_t bytes) {
    return check(VQX_GPU(MemsetAsync)(target, 0, bytes, stream_), "clearing");
  }

  template <class Kernel>
  Status launch(const Kernel& kernel, Grid grid) {
    check_kernel<Kernel>();
    constexpr size_t kBytes = sizeof(typename Kernel::Shared);
    if constexpr (kBytes > kStaticLimit) {
      // Above 48 KB a kernel must ask for its work-group memory.
      VQX_RETURN_IF_ERROR(
          check(VQX_GPU(FuncSetAttribute)(reinterpret_cast<const void*>(gpu_entry<Kernel>),
                                          VQX_GPU(FuncAttributeMaxDynamicSharedMemorySize),
                                          static_cast<int>(kBytes)),
                "work-group memory"));
    }
    const dim3 groups(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                      static_cast<unsigned>(grid.z));
    gpu_entry<Kernel><<<groups, dim3(Kernel::kItems), kBytes, stream_>>>(kernel);
    return check(VQX_GPU(GetLastError)(), "launch");
  }

  Status finish() {
    return check(VQX_GPU(StreamSynchronize)(stream_), "execution");
  }

  static Status check(VQX_GPU(Error_t) error, const char* what) {
    if (error == VQX_GPU(Success)) return {};
    (void)VQX_GPU(GetLastError)();  // clears it, where it can be cleared
    const bool memory = error == out_of_memory();
    return {memory ? ErrorCode::kOutOfMemory : ErrorCode::kBackend,
            std::string(kName) + ": " + what + " failed: " + VQX_GPU(GetErrorString)(error)};
  }

 private:
  static constexpr size_t kStaticLimit = 47 * 1024;

  static VQX_GPU(Error_t) out_of_memory() {
#if defined(VQX_TARGET_HIP)
    return hipErrorOutOfMemory;
#else
    return cudaErrorMemoryAllocation;
#endif
  }

  Stream stream_;
  bool hardware_fp64_;
  size_t shared_limit_;
};

}  // namespace vqx::kernel
