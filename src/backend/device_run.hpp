// Measuring frames on one or several devices of a backend.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/abi.hpp"
#include "backend/pinned_memory.hpp"
#include "metric/metric.hpp"
#include "vqx/status.hpp"

namespace vqx::backend {

struct DeviceRunOptions {
  std::string backend = "host";
  std::vector<int> devices;  // empty: the first; frames are shared by all that are named
  bool all_devices = false;
  abi::Fp64 fp64 = abi::kFp64Auto;
  int frames_in_flight = 0;  // per device; 0: chosen
  bool profile = false;      // profile() will be called
  bool self_test = true;     // false: the devices were tested already
  // Memory that pictures may lie in: attached to the first device unless another backend has it.
  // Frames from it are uploaded without a staging copy.
  std::shared_ptr<PinnedMemory> pinned;
};

// A metric to measure, with the number of its option sets.
struct DeviceRequest {
  std::string_view name;
  const Metric* metric;
  std::size_t sets;
};

struct ProfileEntry {
  std::string name;          // of the metric, or "upload"
  std::uint64_t frames = 0;  // timed
  double seconds = 0;
  std::uint64_t bytes = 0;
  double bandwidth_share = 0;  // bytes / seconds over the device's measured copy bandwidth
};

// How long the devices took to be ready, all together.
struct StartTimes {
  double context_seconds = 0;    // finding the device and creating its context
  double self_test_seconds = 0;  // 0: skipped
  double pipeline_seconds = 0;
  std::chrono::steady_clock::time_point context_ready;  // of the last device
};

// Whether the backend can measure this request: it has the metric, and every option set a device
// side.
bool can_measure(const abi::Backend& backend, const DeviceRequest& request);

class DeviceRun {
 public:
  // Tests every device, then prepares its pipeline.  kBackend: missing backend or device, failed
  // self-test, or a request that it cannot measure; kOutOfMemory: not even one frame fits.
  static Result<std::unique_ptr<DeviceRun>> open(const DeviceRunOptions& options,
                                                 const VideoFormat& format,
                                                 std::span<const DeviceRequest> requests);
  ~DeviceRun();
  DeviceRun(const DeviceRun&) = delete;
  DeviceRun& operator=(const DeviceRun&) = delete;

  // Measures every request of one frame: out[request][set].  May be called from many threads: up to
  // frames_in_flight() calls overlap on the devices, further ones wait.  Samples that do not lie in
  // pinned memory are copied to staging memory in parts that `runner` runs.
  Status measure(const Frame& frame, const TaskRunner& runner,
                 std::span<std::vector<Measured>> out);

  int frames_in_flight() const;
  int device_count() const;
  std::uint64_t device_bytes() const;  // memory taken on all devices
  const StartTimes& start_times() const;
  // Kernel time and bytes of each metric, all devices together, when profiling: measured now, on
  // the last frames of the run, while no frame is in flight.
  Result<std::vector<ProfileEntry>> profile() const;

 private:
  class Impl;
  explicit DeviceRun(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vqx::backend
