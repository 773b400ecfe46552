// The table of functions that a backend module exports, and the host backend built in.
#include <cstdio>
#include <new>
#include <utility>

#include "backend/abi.hpp"
#include "backend/build_hash.hpp"
#include "backend/pipeline.hpp"
#include "backend/self_test.hpp"

namespace vqx::backend {
namespace {

FramePipeline* from_handle(abi::Pipeline* handle) {
  return reinterpret_cast<FramePipeline*>(handle);
}

void report(const Status& status, abi::Error* error) {
  error->code = static_cast<int32_t>(status.code());
  std::snprintf(error->text, sizeof(error->text), "%s", status.message().c_str());
}

// Runs `f`, which returns a Status, and turns whatever happens into an Error.
template <class F>
void guard(abi::Error* error, F&& f) {
  try {
    report(f(), error);
  } catch (const std::bad_alloc&) {
    report({ErrorCode::kOutOfMemory, "out of host memory"}, error);
  } catch (const std::exception& exception) {
    report({ErrorCode::kInternal, exception.what()}, error);
  }
}

int32_t device_count(abi::Error* error) {
  int32_t count = 0;
  guard(error, [&]() -> Status {
    VQX_ASSIGN_OR_RETURN(count, Platform::device_count());
    return {};
  });
  return count;
}

void device_info(int32_t device, abi::DeviceInfo* info, abi::Error* error) {
  *info = {};
  guard(error, [&] { return Platform::describe(device, *info); });
}

void self_test(int32_t device, int32_t fp64, abi::Error* error) {
  guard(error, [&]() -> Status {
    VQX_ASSIGN_OR_RETURN(const bool hardware, Platform::hardware_fp64(device, fp64));
    VQX_ASSIGN_OR_RETURN(const auto executor, Platform::Executor::open(device, hardware, false));
    return run_self_test(*executor);
  });
}

Result<double> time_copies(Platform::Executor& executor, size_t bytes) {
  constexpr int kCopies = 4;
  using Bytes = kernel::Buffer<std::byte, Platform::Executor>;
  VQX_ASSIGN_OR_RETURN(const Bytes source, Bytes::allocate(executor, bytes));
  VQX_ASSIGN_OR_RETURN(const Bytes target, Bytes::allocate(executor, bytes));
  VQX_ASSIGN_OR_RETURN(const auto start, executor.create_event(true));
  VQX_ASSIGN_OR_RETURN(const auto end, executor.create_event(true));
  VQX_RETURN_IF_ERROR(executor.copy(target.data(), source.data(), bytes));
  VQX_RETURN_IF_ERROR(executor.record(start));
  for (int i = 0; i < kCopies; ++i) {
    VQX_RETURN_IF_ERROR(executor.copy(target.data(), source.data(), bytes));
  }
  VQX_RETURN_IF_ERROR(executor.record(end));
  VQX_RETURN_IF_ERROR(executor.finish());
  VQX_ASSIGN_OR_RETURN(const double seconds, executor.seconds_between(start, end));
  executor.destroy_event(start);
  executor.destroy_event(end);
  return 2.0 * static_cast<double>(bytes) * kCopies / seconds;
}

double copy_bandwidth(int32_t device, abi::Error* error) {
  double bytes_per_second = 0;
  guard(error, [&]() -> Status {
    VQX_ASSIGN_OR_RETURN(const auto executor, Platform::Executor::open(device, true, true));
    // Smaller copies where most of the memory is taken.
    Status status;
    for (size_t bytes = size_t{128} << 20; bytes >= size_t{8} << 20; bytes /= 2) {
      const Result<double> rate = time_copies(*executor, bytes);
      status = rate.status();
      if (rate.ok()) bytes_per_second = *rate;
      if (status.code() != ErrorCode::kOutOfMemory) break;
    }
    return status;
  });
  return bytes_per_second;
}

int32_t has_metric(const char* name) {
  return find_device_metric(name) != nullptr ? 1 : 0;
}

void* allocate_pinned(int32_t device, uint64_t bytes, abi::Error* error) {
  void* memory = nullptr;
  guard(error, [&]() -> Status {
    VQX_ASSIGN_OR_RETURN(memory, Platform::allocate_pinned(device, bytes));
    return {};
  });
  return memory;
}

void release_pinned(int32_t device, void* memory) {
  Platform::release_pinned(device, memory);
}

abi::Pipeline* open(const abi::PipelineSpec* spec, abi::PipelineInfo* info, abi::Error* error) {
  FramePipeline* pipeline = nullptr;
  guard(error, [&]() -> Status {
    VQX_ASSIGN_OR_RETURN(auto opened, FramePipeline::open(*spec));
    *info = opened->info();
    pipeline = opened.release();
    return {};
  });
  return reinterpret_cast<abi::Pipeline*>(pipeline);
}

void close(abi::Pipeline* pipeline) {
  delete from_handle(pipeline);
}

void staging(abi::Pipeline* pipeline, int32_t slot, abi::Staging* staging, abi::Error* error) {
  guard(error, [&]() -> Status {
    VQX_ASSIGN_OR_RETURN(*staging, from_handle(pipeline)->staging(slot));
    return {};
  });
}

void submit(abi::Pipeline* pipeline, int32_t slot, const abi::PinnedFrame* pinned,
            abi::Error* error) {
  guard(error, [&] { return from_handle(pipeline)->submit(slot, pinned); });
}

void collect(abi::Pipeline* pipeline, int32_t slot, abi::WordSink sink, void* context,
             abi::Error* error) {
  guard(error, [&] { return from_handle(pipeline)->collect(slot, sink, context); });
}

int32_t profile(abi::Pipeline* pipeline, abi::ProfileEntry* entries, int32_t capacity,
                abi::Error* error) {
  int32_t count = 0;
  guard(error, [&]() -> Status {
    VQX_ASSIGN_OR_RETURN(count, from_handle(pipeline)->profile(entries, capacity));
    return {};
  });
  return count;
}

constexpr abi::Backend kTable = {
    sizeof(abi::Backend),
    VQX_BUILD_HASH,
    Platform::Executor::kName,
    device_count,
    device_info,
    self_test,
    copy_bandwidth,
    has_metric,
    allocate_pinned,
    release_pinned,
    open,
    close,
    staging,
    submit,
    collect,
    profile,
};

}  // namespace
}  // namespace vqx::backend

#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP) || defined(VQX_TARGET_SYCL)
extern "C" __attribute__((visibility("default"))) const vqx::abi::Backend* vqx_backend_v1() {
  return &vqx::backend::kTable;
}
#else
namespace vqx::backend {
const abi::Backend* host_backend() {
  return &kTable;
}
}  // namespace vqx::backend
#endif
