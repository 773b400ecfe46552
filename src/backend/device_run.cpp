#include "backend/device_run.hpp"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "backend/backend.hpp"

namespace vqx::backend {
namespace {

constexpr int kDefaultFramesInFlight = 6;
constexpr std::int64_t kCopyBytes = 512 * 1024;  // of one part of a staging copy

// One part of a staging copy: rows [first, last) of one plane.
struct CopyPart {
  const Plane* source;
  const abi::StagingPlane* target;
  int first;
  int last;
};

void copy_rows(const CopyPart& part) {
  const abi::StagingPlane& target = *part.target;
  const auto* from = static_cast<const std::byte*>(part.source->data);
  auto* to = static_cast<std::byte*>(target.data);
  if (part.source->stride == target.pitch && target.pitch == target.row_bytes) {
    const std::int64_t offset = part.first * target.pitch;
    std::memcpy(to + offset, from + offset,
                static_cast<std::size_t>((part.last - part.first) * target.pitch));
    return;
  }
  for (int y = part.first; y < part.last; ++y) {
    std::memcpy(to + y * target.pitch, from + y * part.source->stride,
                static_cast<std::size_t>(target.row_bytes));
  }
}

void add_parts(const Picture& picture, const abi::StagingPlane (&planes)[3],
               std::vector<CopyPart>& parts) {
  for (int p = 0; p < picture.format().plane_count(); ++p) {
    if (planes[p].data == nullptr || planes[p].row_bytes == 0) continue;
    const int step = static_cast<int>(std::max<std::int64_t>(1, kCopyBytes / planes[p].row_bytes));
    for (int first = 0; first < planes[p].rows; first += step) {
      parts.push_back(
          {&picture.plane(p), &planes[p], first, std::min(first + step, planes[p].rows)});
    }
  }
}

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

Status create_context(const abi::Backend& backend, int device) {
  abi::DeviceInfo info{};
  abi::Error error;
  backend.device_info(device, &info, &error);
  return to_status(error);
}

Status test_device(const abi::Backend& backend, int device, abi::Fp64 fp64) {
  abi::Error error;
  backend.self_test(device, fp64, &error);
  return to_status(error);
}

Result<std::vector<int>> choose_devices(const abi::Backend& backend,
                                        const DeviceRunOptions& options) {
  abi::Error error;
  const int count = backend.device_count(&error);
  VQX_RETURN_IF_ERROR(to_status(error));
  if (count == 0) {
    return Status(ErrorCode::kBackend, "backend " + options.backend + ": no device found");
  }
  std::vector<int> devices = options.devices;
  if (options.all_devices) {
    devices.clear();
    for (int i = 0; i < count; ++i) devices.push_back(i);
  }
  if (devices.empty()) devices.push_back(0);
  for (const int device : devices) {
    if (device < 0 || device >= count) {
      return Status(ErrorCode::kBackend, "backend " + options.backend + ": no device " +
                                             std::to_string(device) + "; there are " +
                                             std::to_string(count) + ", counted from 0");
    }
  }
  return devices;
}

// The requests as plain data, with the bytes they point to.
class PlainRequests {
 public:
  explicit PlainRequests(std::span<const DeviceRequest> requests) {
    for (const DeviceRequest& request : requests) {
      names_.emplace_back(request.name);
      std::vector<std::vector<std::byte>>& configs = configs_.emplace_back();
      std::vector<abi::Bytes>& sets = sets_.emplace_back();
      for (std::size_t s = 0; s < request.sets; ++s) {
        configs.push_back(request.metric->device_config(s));
      }
      for (const auto& config : configs) sets.push_back({config.data(), config.size()});
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      plain_.push_back(
          {names_[i].c_str(), sets_[i].data(), static_cast<std::int32_t>(sets_[i].size())});
    }
  }
  PlainRequests(const PlainRequests&) = delete;
  PlainRequests& operator=(const PlainRequests&) = delete;

  const std::vector<abi::MetricRequest>& plain() const { return plain_; }

 private:
  std::deque<std::string> names_;
  std::deque<std::vector<std::vector<std::byte>>> configs_;
  std::deque<std::vector<abi::Bytes>> sets_;
  std::vector<abi::MetricRequest> plain_;
};

}  // namespace

bool can_measure(const abi::Backend& backend, const DeviceRequest& request) {
  if (backend.has_metric(std::string(request.name).c_str()) == 0) return false;
  for (std::size_t s = 0; s < request.sets; ++s) {
    if (request.metric->device_config(s).empty()) return false;
  }
  return true;
}

class DeviceRun::Impl {
 public:
  // `pinned`: memory of this backend that pictures may lie in, or null.
  Impl(const abi::Backend& backend, std::shared_ptr<PinnedMemory> pinned)
      : backend_(backend), pinned_(std::move(pinned)) {}

  ~Impl() {
    for (const Device& device : devices_) backend_.close(device.pipeline);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status add_device(int index, abi::PipelineSpec spec) {
    spec.device = index;
    Device device;
    device.index = index;
    abi::Error error;
    device.pipeline = backend_.open(&spec, &device.info, &error);
    VQX_RETURN_IF_ERROR(to_status(error));
    for (int slot = 0; slot < device.info.slots; ++slot) {
      free_.push_back({device.pipeline, slot});
    }
    slots_ += device.info.slots;
    devices_.push_back(device);
    return {};
  }

  Status measure(const Frame& frame, const TaskRunner& runner,
                 std::span<std::vector<Measured>> out) {
    const Slot slot = take();
    Status status = measure_in(slot, frame, runner, out);
    give_back(slot);
    return status;
  }

  int slots() const { return slots_; }
  int device_count() const { return static_cast<int>(devices_.size()); }

  std::uint64_t device_bytes() const {
    std::uint64_t bytes = 0;
    for (const Device& device : devices_) bytes += device.info.device_bytes;
    return bytes;
  }
  StartTimes& start_times() { return start_times_; }

  Result<std::vector<ProfileEntry>> profile() const {
    constexpr int kMost = 64;
    std::vector<ProfileEntry> total;
    for (const Device& device : devices_) {
      std::vector<abi::ProfileEntry> entries(kMost);
      abi::Error error;
      const int count = backend_.profile(device.pipeline, entries.data(), kMost, &error);
      VQX_RETURN_IF_ERROR(to_status(error));
      const double bandwidth = backend_.copy_bandwidth(device.index, &error);
      VQX_RETURN_IF_ERROR(to_status(error));
      total.resize(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < total.size(); ++i) {
        total[i].name = entries[i].name;
        total[i].frames += entries[i].frames;
        total[i].seconds += entries[i].seconds;
        total[i].bytes += entries[i].bytes;
        if (total[i].seconds > 0 && bandwidth > 0) {
          total[i].bandwidth_share =
              static_cast<double>(total[i].bytes) / total[i].seconds / bandwidth;
        }
      }
    }
    return total;
  }

 private:
  struct Device {
    int index = 0;
    abi::Pipeline* pipeline = nullptr;
    abi::PipelineInfo info{};
  };
  struct Slot {
    abi::Pipeline* pipeline;
    int index;
  };

  // The slot that has been free longest, so that devices take turns.
  Slot take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return !free_.empty(); });
    const Slot slot = free_.front();
    free_.pop_front();
    return slot;
  }

  void give_back(const Slot& slot) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(slot);
    }
    freed_.notify_one();
  }

  Status measure_in(const Slot& slot, const Frame& frame, const TaskRunner& runner,
                    std::span<std::vector<Measured>> out) {
    abi::PinnedFrame pinned{};
    const bool direct = find_pinned(frame, pinned);
    if (!direct) VQX_RETURN_IF_ERROR(fill_staging(slot, frame, runner));
    abi::Error error;
    backend_.submit(slot.pipeline, slot.index, direct ? &pinned : nullptr, &error);
    VQX_RETURN_IF_ERROR(to_status(error));
    const auto sink = [](void* context, std::int32_t metric, std::int32_t set,
                         const std::uint64_t* words, std::uint64_t count) {
      auto& all = *static_cast<std::span<std::vector<Measured>>*>(context);
      std::vector<Measured>& sets = all[static_cast<std::size_t>(metric)];
      if (sets.size() <= static_cast<std::size_t>(set)) {
        sets.resize(static_cast<std::size_t>(set) + 1);
      }
      sets[static_cast<std::size_t>(set)].words.assign(words, words + count);
    };
    backend_.collect(slot.pipeline, slot.index, sink, &out, &error);
    return to_status(error);
  }

  // Where the frame's planes lie, if all are in pinned memory.
  bool find_pinned(const Frame& frame, abi::PinnedFrame& pinned) const {
    if (pinned_ == nullptr) return false;
    for (const Side side : {Side::kReference, Side::kDistorted}) {
      const Picture& picture = frame.picture(side);
      auto& planes = side == Side::kReference ? pinned.reference : pinned.distorted;
      for (int p = 0; p < picture.format().plane_count(); ++p) {
        const Plane& plane = picture.plane(p);
        if (plane.stride < 0 || !pinned_->holds(plane.data)) return false;
        planes[p] = {plane.data, plane.stride};
      }
    }
    return true;
  }

  Status fill_staging(const Slot& slot, const Frame& frame, const TaskRunner& runner) const {
    abi::Staging staging{};
    abi::Error error;
    backend_.staging(slot.pipeline, slot.index, &staging, &error);
    VQX_RETURN_IF_ERROR(to_status(error));
    std::vector<CopyPart> parts;
    add_parts(frame.reference(), staging.reference, parts);
    add_parts(frame.distorted(), staging.distorted, parts);
    runner.run(static_cast<int>(parts.size()),
               [&](int i) { copy_rows(parts[static_cast<std::size_t>(i)]); });
    return {};
  }

  const abi::Backend& backend_;
  std::shared_ptr<PinnedMemory> pinned_;
  StartTimes start_times_;
  std::vector<Device> devices_;
  int slots_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::deque<Slot> free_;
};

DeviceRun::DeviceRun(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeviceRun::~DeviceRun() = default;

Result<std::unique_ptr<DeviceRun>> DeviceRun::open(const DeviceRunOptions& options,
                                                   const VideoFormat& format,
                                                   std::span<const DeviceRequest> requests) {
  VQX_ASSIGN_OR_RETURN(const abi::Backend* backend, load_backend(options.backend));
  for (const DeviceRequest& request : requests) {
    if (!can_measure(*backend, request)) {
      return Status(ErrorCode::kBackend,
                    "backend " + options.backend + " cannot measure " + std::string(request.name));
    }
  }
  VQX_ASSIGN_OR_RETURN(const std::vector<int> devices, choose_devices(*backend, options));
  const PlainRequests plain(requests);
  abi::PipelineSpec spec{};
  spec.fp64 = options.fp64;
  spec.frames_in_flight =
      options.frames_in_flight > 0 ? options.frames_in_flight : kDefaultFramesInFlight;
  spec.profile = options.profile ? 1 : 0;
  spec.width = format.width;
  spec.height = format.height;
  spec.chroma = static_cast<std::int32_t>(format.chroma);
  spec.bit_depth = format.bit_depth;
  spec.metrics = plain.plain().data();
  spec.metric_count = static_cast<std::int32_t>(plain.plain().size());
  const bool attached =
      options.pinned != nullptr && options.pinned->attach(*backend, devices.front());
  auto impl = std::make_unique<Impl>(*backend, attached ? options.pinned : nullptr);
  StartTimes& times = impl->start_times();
  for (const int device : devices) {
    const auto start = Clock::now();
    VQX_RETURN_IF_ERROR(create_context(*backend, device));
    times.context_ready = Clock::now();
    times.context_seconds += seconds_between(start, times.context_ready);
    if (options.self_test) VQX_RETURN_IF_ERROR(test_device(*backend, device, options.fp64));
    const auto tested = Clock::now();
    if (options.self_test) times.self_test_seconds += seconds_between(times.context_ready, tested);
    VQX_RETURN_IF_ERROR(impl->add_device(device, spec));
    times.pipeline_seconds += seconds_between(tested, Clock::now());
  }
  return std::unique_ptr<DeviceRun>(new DeviceRun(std::move(impl)));
}

Status DeviceRun::measure(const Frame& frame, const TaskRunner& runner,
                          std::span<std::vector<Measured>> out) {
  return impl_->measure(frame, runner, out);
}

int DeviceRun::frames_in_flight() const {
  return impl_->slots();
}
int DeviceRun::device_count() const {
  return impl_->device_count();
}
std::uint64_t DeviceRun::device_bytes() const {
  return impl_->device_bytes();
}
const StartTimes& DeviceRun::start_times() const {
  return impl_->start_times();
}
Result<std::vector<ProfileEntry>> DeviceRun::profile() const {
  return impl_->profile();
}

}  // namespace vqx::backend
