// Runs kernels on CUDA and HIP devices; the two interfaces differ by the prefix of their names.
#pragma once

#if !defined(VQX_TARGET_HIP)
#include <cuda_runtime.h>
#define VQX_GPU(name) cuda##name
#else
#define VQX_GPU(name) hip##name
#endif

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

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
  using Event = VQX_GPU(Event_t);

  // A queue of its own on the device.
  static Result<std::unique_ptr<GpuExecutor>> open(int device, bool hardware_fp64,
                                                   bool /*timing*/) {
    std::unique_ptr<GpuExecutor> executor(new GpuExecutor(device, hardware_fp64));
    VQX_RETURN_IF_ERROR(executor->activate());
    int limit = 0;
    VQX_RETURN_IF_ERROR(check(VQX_GPU(DeviceGetAttribute)(&limit, kSharedLimitAttribute, device),
                              "query of the device"));
    executor->shared_limit_ = static_cast<size_t>(limit);
    VQX_RETURN_IF_ERROR(check(
        VQX_GPU(StreamCreateWithFlags)(&executor->stream_, VQX_GPU(StreamNonBlocking)), "queue"));
    return Result<std::unique_ptr<GpuExecutor>>(std::move(executor));
  }
  ~GpuExecutor() {
#if !defined(VQX_TARGET_HIP)
    for (const cudaGraphExec_t graph : graphs_) (void)cudaGraphExecDestroy(graph);
#endif
    if (stream_ != nullptr) (void)VQX_GPU(StreamDestroy)(stream_);
  }
  GpuExecutor(const GpuExecutor&) = delete;
  GpuExecutor& operator=(const GpuExecutor&) = delete;

  // Both interfaces keep a current device per thread: every thread calls this first.
  Status activate() const {
    return check(VQX_GPU(SetDevice)(device_), "selecting the device");
  }

  bool hardware_fp64() const {
    return hardware_fp64_;
  }
  template <class Kernel>
  bool fits() const {
    using Scratch = typename GpuGroup<Kernel::kItems>::Scratch;
    return sizeof(typename Kernel::Shared) + sizeof(Scratch) <= shared_limit_;
  }
  size_t allocated_bytes() const {
    return allocated_bytes_;
  }

  Result<void*> allocate(size_t bytes) {
    void* memory = nullptr;
    VQX_RETURN_IF_ERROR(check(VQX_GPU(Malloc)(&memory, bytes == 0 ? 1 : bytes), "allocation"));
    if (const Status cleared = zero(memory, bytes); !cleared.ok()) {
      release(memory);
      return cleared;
    }
    allocated_bytes_ += bytes;
    return memory;
  }
  void release(void* memory) {
    (void)VQX_GPU(Free)(memory);
  }

  Result<void*> allocate_pinned(size_t bytes) {
    VQX_ASSIGN_OR_RETURN(void* memory, make_pinned(bytes));
    std::memset(memory, 0, bytes);
    return memory;
  }
  void release_pinned(void* memory) {
    free_pinned(memory);
  }
  // Host memory that every device of the platform reads directly, on the current device's account.
  static Result<void*> make_pinned(size_t bytes) {
    void* memory = nullptr;
#if defined(VQX_TARGET_HIP)
    const auto error = hipHostMalloc(&memory, bytes == 0 ? 1 : bytes, hipHostMallocPortable);
#else
    const auto error = cudaHostAlloc(&memory, bytes == 0 ? 1 : bytes, cudaHostAllocPortable);
#endif
    VQX_RETURN_IF_ERROR(check(error, "allocation of pinned memory"));
    return memory;
  }
  static void free_pinned(void* memory) {
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
  Status upload_rows(void* device, size_t device_pitch, const void* host, size_t host_pitch,
                     size_t row_bytes, size_t rows) {
    return check(VQX_GPU(Memcpy2DAsync)(device, device_pitch, host, host_pitch, row_bytes, rows,
                                        VQX_GPU(MemcpyHostToDevice), stream_),
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

  // ---- events: points in a queue -------------------------------------------------------------

  // Without `timing` an event is cheaper, and the host sleeps while it waits.
  Result<Event> create_event(bool timing) {
    Event event = nullptr;
    const unsigned flags =
        timing ? VQX_GPU(EventDefault) : VQX_GPU(EventDisableTiming) | VQX_GPU(EventBlockingSync);
    VQX_RETURN_IF_ERROR(check(VQX_GPU(EventCreateWithFlags)(&event, flags), "event"));
    return event;
  }
  void destroy_event(Event event) {
    (void)VQX_GPU(EventDestroy)(event);
  }
  Status record(Event event) {
    return check(VQX_GPU(EventRecord)(event, stream_), "event");
  }
  // Later work of this queue waits for the event, which another queue may have recorded.
  Status wait(Event event) {
    return check(VQX_GPU(StreamWaitEvent)(stream_, event, 0), "waiting for an event");
  }
  Status synchronize(Event event) {
    return check(VQX_GPU(EventSynchronize)(event), "execution");
  }
  Result<double> seconds_between(Event first, Event last) {
    float milliseconds = 0;
    VQX_RETURN_IF_ERROR(check(VQX_GPU(EventElapsedTime)(&milliseconds, first, last), "timing"));
    return milliseconds * 1e-3;
  }

  // ---- recording: replaying many launches costs the host one call ------------------------------
  //
  // record_graph() queues what `enqueue` queues and returns the number by which replay() repeats
  // it, or -1 where nothing is recorded.

#if defined(VQX_TARGET_HIP)
  template <class F>
  Result<int> record_graph(F&& enqueue) {
    VQX_RETURN_IF_ERROR(enqueue());
    return -1;
  }
  Status replay(int /*number*/) {
    return {};
  }
#else
  template <class F>
  Result<int> record_graph(F&& enqueue) {
    VQX_RETURN_IF_ERROR(
        check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "recording"));
    const Status queued = enqueue();
    cudaGraph_t graph = nullptr;
    const Status ended = check(cudaStreamEndCapture(stream_, &graph), "recording");
    VQX_RETURN_IF_ERROR(queued);
    VQX_RETURN_IF_ERROR(ended);
    cudaGraphExec_t executable = nullptr;
    const Status made = check(cudaGraphInstantiate(&executable, graph, 0), "recording");
    (void)cudaGraphDestroy(graph);
    VQX_RETURN_IF_ERROR(made);
    graphs_.push_back(executable);
    const int number = static_cast<int>(graphs_.size()) - 1;
    VQX_RETURN_IF_ERROR(replay(number));
    return number;
  }
  Status replay(int number) {
    return check(cudaGraphLaunch(graphs_[static_cast<size_t>(number)], stream_), "launch");
  }
#endif

  static Status check(VQX_GPU(Error_t) error, const char* what) {
    if (error == VQX_GPU(Success)) return {};
    (void)VQX_GPU(GetLastError)();  // clears it, where it can be cleared
    const bool memory = error == kOutOfMemory;
    return {memory ? ErrorCode::kOutOfMemory : ErrorCode::kBackend,
            std::string(kName) + ": " + what + " failed: " + VQX_GPU(GetErrorString)(error)};
  }

 private:
  static constexpr size_t kStaticLimit = 47 * 1024;
#if defined(VQX_TARGET_HIP)
  static constexpr auto kOutOfMemory = hipErrorOutOfMemory;
  static constexpr auto kSharedLimitAttribute = hipDeviceAttributeMaxSharedMemoryPerBlock;
#else
  static constexpr auto kOutOfMemory = cudaErrorMemoryAllocation;
  static constexpr auto kSharedLimitAttribute = cudaDevAttrMaxSharedMemoryPerBlockOptin;
#endif

  GpuExecutor(int device, bool hardware_fp64) : device_(device), hardware_fp64_(hardware_fp64) {}

  int device_;
  bool hardware_fp64_;
  size_t shared_limit_ = 0;
  size_t allocated_bytes_ = 0;
  VQX_GPU(Stream_t) stream_ = nullptr;
#if !defined(VQX_TARGET_HIP)
  std::vector<cudaGraphExec_t> graphs_;
#endif
};

}  // namespace vqx::kernel
