// What the device side of a metric looks like to the frame pipeline of a backend.
//
// A metric's `<metric>_device.hpp` holds its kernels and one class template over the executor that
// derives from DeviceMetric.  It is compiled into every backend module and into the host backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "kernel/queue.hpp"
#include "vqx/picture.hpp"
#include "vqx/status.hpp"

namespace vqx::kernel {

// A plane in device memory.  `data` is 128-byte aligned and `pitch` (bytes per row) a multiple of
// 128.  Samples are uint8_t at 8 bits, else uint16_t.  The padding of every row is zero, so that
// integer kernels may run over it wherever zeros do not count.
struct DevicePlane {
  const void* data = nullptr;
  int pitch = 0;
  int width = 0;
  int height = 0;
};

struct DeviceFrame {
  DevicePlane reference[3];
  DevicePlane distorted[3];
};

// One option set, as the plain struct (or bytes) that Metric::device_config() made of it: whatever
// the kernels need, computed on the host.
using DeviceConfig = std::span<const std::byte>;

template <class T>
T read_config(DeviceConfig bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  std::memcpy(&value, bytes.data(), bytes.size() < sizeof(T) ? bytes.size() : sizeof(T));
  return value;
}

// Which planes of both pictures a metric reads; a pipeline uploads only what is asked for.
struct PlaneUse {
  bool luma = true;
  bool chroma = false;
};

class DeviceMetric {
 public:
  virtual ~DeviceMetric() = default;

  virtual PlaneUse planes() const = 0;

  // int64 words that one frame leaves in device memory.
  virtual int raw_words() const = 0;

  // Queues all kernels of one frame.  `raw` is device memory, zero at first.  Frames of one
  // pipeline run one after the other, so working buffers are allocated once, at creation, and
  // reused.  What is queued must depend on nothing but `frame` and `raw`: it may be recorded once
  // and replayed.
  virtual Status enqueue(const DeviceFrame& frame, int64_t* raw) = 0;

  // On the host: the measured words of every option set (the same that the CPU measures) from the
  // raw words, or why the frame is refused.
  virtual Status collect(const int64_t* raw, std::span<std::vector<uint64_t>> sets) const = 0;

  // Bytes of device memory that one frame's kernels must at least read and write, for --profile.
  virtual uint64_t bytes_moved() const = 0;
};

}  // namespace vqx::kernel
