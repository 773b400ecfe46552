// Runs kernels on SYCL 2020 devices: AdaptiveCpp, or oneAPI's DPC++.
//
// Scans go through work-group memory, since not every SYCL compiler has them.  A SYCL runtime
// reports errors by exceptions; they end here.
#pragma once

#include <sycl/sycl.hpp>

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernel/queue.hpp"

namespace vqx::kernel {

template <int Items>
class SyclGroup {
 public:
  static constexpr bool kOnDevice = true;
  static constexpr int kItems = Items;
  static constexpr size_t kScratchWords = 2 * Items;

  SyclGroup(const sycl::nd_item<3>& position, int64_t* scratch)
      : position_(position), scratch_(scratch) {}

  int x() const { return static_cast<int>(position_.get_group(2)); }
  int y() const { return static_cast<int>(position_.get_group(1)); }
  int z() const { return static_cast<int>(position_.get_group(0)); }
  Grid grid() const {
    return {static_cast<int>(position_.get_group_range(2)),
            static_cast<int>(position_.get_group_range(1)),
            static_cast<int>(position_.get_group_range(0))};
  }
  int item() const { return static_cast<int>(position_.get_local_id(2)); }
  void sync() const { sycl::group_barrier(position_.get_group()); }

  // Replaces every item's sums by the totals of the group.
  template <int N>
  void reduce(Sums<N>& sums) {
    const sycl::sub_group wave = position_.get_sub_group();
    const auto width = static_cast<int>(wave.get_max_local_range()[0]);
    if (N >= width) {  // waves of few items, as on a CPU
      VQX_UNROLL
      for (int i = 0; i < N; ++i) {
        sums.value[i] = sycl::reduce_over_group(position_.get_group(), sums.value[i], kPlus);
      }
      return;
    }
    const int waves = kItems / width;
    int64_t* const totals = scratch_ + kItems;
    int64_t* const own = scratch_ + static_cast<int>(wave.get_group_linear_id()) * N;
    VQX_UNROLL
    for (int i = 0; i < N; ++i) {
      const int64_t sum = sycl::reduce_over_group(wave, sums.value[i], kPlus);
      if (wave.leader()) own[i] = sum;
    }
    sync();
    if (item() < N) {
      int64_t total = 0;
      for (int w = 0; w < waves; ++w) total += scratch_[w * N + item()];
      totals[item()] = total;
    }
    sync();
    VQX_UNROLL
    for (int i = 0; i < N; ++i) sums.value[i] = totals[i];
  }

  // Sum of `value` over the items before this one; `total` becomes the sum over all.
  int64_t scan(int64_t value, int64_t& total) {
    int64_t* from = scratch_;
    int64_t* to = scratch_ + kItems;
    const int own = item();
    sync();
    from[own] = value;
    sync();
    for (int by = 1; by < kItems; by *= 2) {
      to[own] = from[own] + (own >= by ? from[own - by] : 0);
      sync();
      std::swap(from, to);
    }
    total = from[kItems - 1];
    return from[own] - value;
  }

 private:
  static constexpr sycl::plus<int64_t> kPlus{};

  const sycl::nd_item<3>& position_;
  int64_t* scratch_;
};

class SyclExecutor {
 public:
  static constexpr const char* kName = "sycl";

  // A point in the queue, and the moment it was passed.
  struct Mark {
    sycl::event event;
    bool timing = false;
  };
  using Event = Mark*;

  // Commands are timed where `timing` says so: it costs each of them a little.
  static Result<std::unique_ptr<SyclExecutor>> open(int device, bool hardware_fp64, bool timing) {
    std::unique_ptr<SyclExecutor> executor;
    VQX_RETURN_IF_ERROR(guard("queue", [&] {
      executor.reset(
          new SyclExecutor(devices().at(static_cast<size_t>(device)), hardware_fp64, timing));
    }));
    return Result<std::unique_ptr<SyclExecutor>>(std::move(executor));
  }

  // A queue that goes away throws what is left to report; nobody is there to hear it.
  ~SyclExecutor() {
    (void)finish();
    sycl::free(start_, queue_);
  }
  SyclExecutor(const SyclExecutor&) = delete;
  SyclExecutor& operator=(const SyclExecutor&) = delete;

  // A device, and the context of all its queues and memory.
  struct Device {
    sycl::device device;
    sycl::context context;
  };

  // GPUs; without any, whatever else there is.  Looked up once: AdaptiveCpp starts its runtime anew
  // whenever the last of its objects is gone.
  static const std::vector<Device>& devices() {
    static const std::vector<Device> found = [] {
      std::vector<Device> all;
      std::vector<Device> gpus;
      for (const sycl::device& device : sycl::device::get_devices()) {
        all.push_back({device, sycl::context(device)});
        if (device.is_gpu()) gpus.push_back(all.back());
      }
      return gpus.empty() ? all : gpus;
    }();
    return found;
  }

  Status activate() const { return {}; }
  bool hardware_fp64() const { return hardware_fp64_; }
  template <class Kernel>
  bool fits() const {
    return shared_bytes<Kernel>() <= shared_limit_;
  }
  size_t allocated_bytes() const { return allocated_bytes_; }

  Result<void*> allocate(size_t bytes) {
    void* memory = nullptr;
    VQX_RETURN_IF_ERROR(guard("allocation", [&] {
      memory = sycl::aligned_alloc_device(kAlignment, rounded(bytes), queue_);
    }));
    if (memory == nullptr) return {ErrorCode::kOutOfMemory, "sycl: out of device memory"};
    if (const Status cleared = zero(memory, bytes); !cleared.ok()) {
      release(memory);
      return cleared;
    }
    allocated_bytes_ += bytes;
    return memory;
  }
  void release(void* memory) { sycl::free(memory, queue_); }

  Result<void*> allocate_pinned(size_t bytes) {
    VQX_ASSIGN_OR_RETURN(void* memory, make_pinned(queue_.get_context(), bytes));
    std::memset(memory, 0, bytes);
    return memory;
  }
  void release_pinned(void* memory) { free_pinned(queue_.get_context(), memory); }
  // Host memory that the devices of the context read directly.
  static Result<void*> make_pinned(const sycl::context& context, size_t bytes) {
    void* memory = nullptr;
    VQX_RETURN_IF_ERROR(guard("allocation of pinned memory", [&] {
      memory = sycl::aligned_alloc_host(kAlignment, rounded(bytes), context);
    }));
    if (memory == nullptr) return {ErrorCode::kOutOfMemory, "sycl: out of pinned memory"};
    return memory;
  }
  static void free_pinned(const sycl::context& context, void* memory) {
    if (memory != nullptr) sycl::free(memory, context);
  }

  Status upload(void* device, const void* host, size_t bytes) { return copy(device, host, bytes); }
  // SYCL copies no rectangles.  Rows without padding are one block; others a kernel fetches, if it
  // can reach them: memory that is pinned for another device may be out of its reach.
  Status upload_rows(void* device, size_t device_pitch, const void* host, size_t host_pitch,
                     size_t row_bytes, size_t rows) {
    if (row_bytes == device_pitch && row_bytes == host_pitch) {
      return upload(device, host, row_bytes * rows);
    }
    bool reached = false;
    VQX_RETURN_IF_ERROR(guard("query of the memory", [&] {
      reached = sycl::get_pointer_type(host, queue_.get_context()) == sycl::usm::alloc::host;
    }));
    if (reached) {
      const size_t together = reinterpret_cast<uintptr_t>(host) |
                              reinterpret_cast<uintptr_t>(device) | device_pitch | host_pitch |
                              row_bytes;
      return together % sizeof(Bytes16) == 0
                 ? fetch_rows<Bytes16>(device, device_pitch, host, host_pitch, row_bytes, rows)
                 : fetch_rows<std::byte>(device, device_pitch, host, host_pitch, row_bytes, rows);
    }
    for (size_t y = 0; y < rows; ++y) {
      VQX_RETURN_IF_ERROR(upload(static_cast<std::byte*>(device) + y * device_pitch,
                                 static_cast<const std::byte*>(host) + y * host_pitch, row_bytes));
    }
    return {};
  }
  Status download(void* host, const void* device, size_t bytes) {
    return copy(host, device, bytes);
  }
  Status copy(void* target, const void* source, size_t bytes) {
    return guard("copy", [&] {
      last_ = queue_.submit([&](sycl::handler& handler) {
        depend(handler);
        handler.memcpy(target, source, bytes);
      });
    });
  }
  Status zero(void* target, size_t bytes) {
    if (bytes == 0) return {};
    return guard("clearing", [&] {
      last_ = queue_.submit([&](sycl::handler& handler) {
        depend(handler);
        handler.memset(target, 0, bytes);
      });
    });
  }

  template <class Kernel>
  Status launch(const Kernel& kernel, Grid grid) {
    check_kernel<Kernel>();
    constexpr int kItems = Kernel::kItems;
    using Shared = typename Kernel::Shared;
    // Some runtimes launch regardless, and the device then fails far from here.
    if (!fits<Kernel>()) {
      return {ErrorCode::kBackend,
              "sycl: a kernel needs " + std::to_string(shared_bytes<Kernel>()) +
                  " bytes of work-group memory, the device has " + std::to_string(shared_limit_)};
    }
    return guard("launch", [&] {
      last_ = queue_.submit([&](sycl::handler& handler) {
        depend(handler);
        const sycl::local_accessor<Shared, 1> shared(sycl::range<1>(1), handler);
        const sycl::local_accessor<int64_t, 1> scratch(
            sycl::range<1>(SyclGroup<kItems>::kScratchWords), handler);
        const sycl::range<3> items(1, 1, kItems);
        const sycl::range<3> groups(static_cast<size_t>(grid.z), static_cast<size_t>(grid.y),
                                    static_cast<size_t>(grid.x));
        handler.parallel_for(sycl::nd_range<3>(groups * items, items),
                             [=](sycl::nd_item<3> position) {
                               SyclGroup<kItems> group(position, &scratch[0]);
                               kernel(group, shared[0]);
                             });
      });
    });
  }

  Status finish() {
    return guard("execution", [&] { queue_.wait_and_throw(); });
  }

  // ---- events ----------------------------------------------------------------------------------

  Result<Event> create_event(bool timing) { return new Mark{{}, timing}; }
  void destroy_event(Event event) { delete event; }
  Status record(Event event) {
    event->event = last_;
    return {};
  }
  // The next command of this queue, and so all later ones, wait for the event.
  Status wait(Event event) {
    awaited_.push_back(event->event);
    return {};
  }
  Status synchronize(Event event) {
    return guard("execution", [&] { event->event.wait_and_throw(); });
  }
  // From the end of the command before `first` to the end of the one before `last`.
  Result<double> seconds_between(Event first, Event last) {
    double seconds = 0;
    VQX_RETURN_IF_ERROR(guard("timing", [&] {
      using End = sycl::info::event_profiling::command_end;
      const auto begin = first->event.get_profiling_info<End>();
      const auto end = last->event.get_profiling_info<End>();
      seconds = end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
    }));
    return seconds;
  }

  template <class F>
  Result<int> record_graph(F&& enqueue) {
    VQX_RETURN_IF_ERROR(enqueue());
    return -1;
  }
  Status replay(int /*number*/) { return {}; }

  // Runs `f` and turns an exception of the SYCL runtime into an error.
  template <class F>
  static Status guard(const char* what, F&& f) {
    try {
      f();
      return {};
    } catch (const sycl::exception& exception) {
      const bool memory = exception.code() == sycl::errc::memory_allocation;
      return {memory ? ErrorCode::kOutOfMemory : ErrorCode::kBackend,
              std::string("sycl: ") + what + " failed: " + exception.what()};
    } catch (const std::exception& exception) {
      return {ErrorCode::kBackend, std::string("sycl: ") + what + " failed: " + exception.what()};
    }
  }

 private:
  static constexpr size_t kAlignment = 256;

  template <class Kernel>
  static constexpr size_t shared_bytes() {
    return sizeof(typename Kernel::Shared) +
           SyclGroup<Kernel::kItems>::kScratchWords * sizeof(int64_t);
  }

  // Some runtimes want whole multiples of the alignment.
  static size_t rounded(size_t bytes) {
    return bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  SyclExecutor(const Device& device, bool hardware_fp64, bool timing)
      : queue_(device.context, device.device, rethrow, properties(timing)),
        hardware_fp64_(hardware_fp64),
        shared_limit_(device.device.get_info<sycl::info::device::local_mem_size>()),
        start_(sycl::malloc_device<uint64_t>(1, queue_)),
        last_(queue_.memset(start_, 0, sizeof(*start_))) {}

  static sycl::property_list properties(bool timing) {
    using sycl::property::queue::enable_profiling;
    using sycl::property::queue::in_order;
    return timing ? sycl::property_list{in_order(), enable_profiling()}
                  : sycl::property_list{in_order()};
  }

  template <class Word>
  Status fetch_rows(void* device, size_t device_pitch, const void* host, size_t host_pitch,
                    size_t row_bytes, size_t rows) {
    auto* const target = static_cast<std::byte*>(device);
    const auto* const source = static_cast<const std::byte*>(host);
    return guard("upload", [&] {
      last_ = queue_.submit([&](sycl::handler& handler) {
        depend(handler);
        handler.parallel_for(sycl::range<2>(rows, row_bytes / sizeof(Word)),
                             [=](sycl::item<2> word) {
                               const size_t y = word.get_id(0);
                               const size_t x = word.get_id(1);
                               reinterpret_cast<Word*>(target + y * device_pitch)[x] =
                                   reinterpret_cast<const Word*>(source + y * host_pitch)[x];
                             });
      });
    });
  }

  // Errors of commands surface where the queue is waited for; without this the program ends there.
  static void rethrow(const sycl::exception_list& errors) {
    for (const std::exception_ptr& error : errors) std::rethrow_exception(error);
  }

  void depend(sycl::handler& handler) {
    for (const sycl::event& event : awaited_) handler.depends_on(event);
    awaited_.clear();
  }

  sycl::queue queue_;
  bool hardware_fp64_;
  size_t shared_limit_;
  size_t allocated_bytes_ = 0;
  uint64_t* start_;  // what the first command clears, so that there is one to time from
  sycl::event last_;
  std::vector<sycl::event> awaited_;
};

}  // namespace vqx::kernel
