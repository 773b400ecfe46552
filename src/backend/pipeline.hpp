// The frame pipeline of a device, compiled with the executor of its backend.
//
// A slot holds one frame in flight: the planes in device memory, the words that the metrics leave,
// and, where pictures do not lie in pinned memory already, staging memory that the host fills.
// Uploads have a queue of their own, so that the next frame's transfer runs beside this frame's
// kernels; kernels of all frames run in order on one queue and share the metrics' working buffers.
// Only words come back.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/abi.hpp"
#include "backend/device_metrics.hpp"
#include "backend/platform.hpp"
#include "kernel/device_metric.hpp"

namespace vqx::backend {

class FramePipeline {
 public:
  using Executor = Platform::Executor;
  using Event = Executor::Event;

  // Shrinks the number of slots when device memory is short; kOutOfMemory when even one does not
  // fit.
  static Result<std::unique_ptr<FramePipeline>> open(const abi::PipelineSpec& spec) {
    Status status;
    for (int slots = std::max(1, spec.frames_in_flight); slots >= 1; slots /= 2) {
      auto pipeline = std::unique_ptr<FramePipeline>(new FramePipeline(spec));
      status = pipeline->prepare(spec, slots);
      if (status.ok()) return Result<std::unique_ptr<FramePipeline>>(std::move(pipeline));
      if (status.code() != ErrorCode::kOutOfMemory) break;
    }
    return status;
  }

  ~FramePipeline() {
    if (compute_ == nullptr || !compute_->activate().ok()) return;
    if (upload_ != nullptr) (void)upload_->finish();
    (void)compute_->finish();
    for (Slot& slot : slots_) {
      compute_->release_pinned(slot.staging);
      compute_->release_pinned(slot.words);
      for (const Event event : slot.events()) {
        if (event != Event{}) compute_->destroy_event(event);
      }
    }
  }

  abi::PipelineInfo info() const {
    return {static_cast<int32_t>(slots_.size()), compute_->allocated_bytes()};
  }

  Result<abi::Staging> staging(int index) {
    Slot& slot = slots_[static_cast<size_t>(index)];
    if (slot.staging == nullptr) {
      const std::lock_guard lock(mutex_);  // the executor serves one thread at a time
      VQX_RETURN_IF_ERROR(compute_->activate());
      VQX_ASSIGN_OR_RETURN(void* memory, compute_->allocate_pinned(frame_bytes_));
      slot.staging = static_cast<std::byte*>(memory);
    }
    abi::Staging staging{};
    for (int side = 0; side < 2; ++side) {
      abi::StagingPlane* planes = side == 0 ? staging.reference : staging.distorted;
      for (int p = 0; p < plane_count_; ++p) {
        const PlaneLayout& plane = layout_[side][p];
        planes[p] = {slot.staging + plane.offset, plane.pitch, row_bytes(p),
                     format_.plane_height(p)};
      }
    }
    return staging;
  }

  Status submit(int index, const abi::PinnedFrame* pinned) {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[static_cast<size_t>(index)];
    VQX_RETURN_IF_ERROR(compute_->activate());
    if (profiling_) VQX_RETURN_IF_ERROR(upload_->record(slot.upload_start));
    if (pinned != nullptr) {
      VQX_RETURN_IF_ERROR(upload_planes(slot, *pinned));
    } else {
      VQX_RETURN_IF_ERROR(upload_->upload(slot.planes.data(), slot.staging, frame_bytes_));
    }
    VQX_RETURN_IF_ERROR(upload_->record(slot.uploaded));
    VQX_RETURN_IF_ERROR(compute_->wait(slot.uploaded));
    VQX_RETURN_IF_ERROR(run_kernels(slot));
    return compute_->record(slot.done);
  }

  Status collect(int index, abi::WordSink sink, void* context) {
    Slot& slot = slots_[static_cast<size_t>(index)];
    VQX_RETURN_IF_ERROR(compute_->activate());
    VQX_RETURN_IF_ERROR(compute_->synchronize(slot.done));
    if (profiling_) VQX_RETURN_IF_ERROR(add_upload_time(slot));
    for (size_t m = 0; m < metrics_.size(); ++m) {
      std::vector<std::vector<uint64_t>> sets(static_cast<size_t>(metrics_[m].set_count));
      VQX_RETURN_IF_ERROR(metrics_[m].metric->collect(slot.words + metrics_[m].first_word, sets));
      for (size_t s = 0; s < sets.size(); ++s) {
        sink(context, static_cast<int32_t>(m), static_cast<int32_t>(s), sets[s].data(),
             sets[s].size());
      }
    }
    return {};
  }

  Result<int> profile(abi::ProfileEntry* entries, int capacity) {
    const int count = static_cast<int>(metrics_.size());
    if (capacity <= count) return Status(ErrorCode::kInvalidArgument, "too few entries");
    VQX_RETURN_IF_ERROR(compute_->activate());
    for (int m = 0; m < count; ++m) {
      VQX_ASSIGN_OR_RETURN(entries[m], time_metric(metrics_[static_cast<size_t>(m)]));
    }
    entries[count] = make_entry("upload", uploads_, upload_seconds_, frame_bytes_);
    return count + 1;
  }

 private:
  struct Entry {
    std::string name;
    int set_count = 0;
    int first_word = 0;
    std::unique_ptr<kernel::DeviceMetric> metric;
  };

  struct PlaneLayout {
    int64_t offset = 0;
    int pitch = 0;
  };

  struct Slot {
    std::byte* staging = nullptr;
    int64_t* words = nullptr;
    kernel::Buffer<std::byte, Executor> planes;
    kernel::Buffer<int64_t, Executor> raw;
    kernel::DeviceFrame frame;
    Event uploaded{};
    Event done{};
    Event upload_start{};
    int submissions = 0;
    int recording = -1;

    std::array<Event, 3> events() const { return {uploaded, done, upload_start}; }
  };

  explicit FramePipeline(const abi::PipelineSpec& spec)
      : format_{spec.width, spec.height, static_cast<ChromaFormat>(spec.chroma), spec.bit_depth},
        profiling_(spec.profile != 0) {}

  size_t raw_bytes() const { return static_cast<size_t>(raw_words_) * sizeof(int64_t); }

  Status prepare(const abi::PipelineSpec& spec, int slots) {
    VQX_ASSIGN_OR_RETURN(const bool hardware, Platform::hardware_fp64(spec.device, spec.fp64));
    VQX_ASSIGN_OR_RETURN(compute_, Executor::open(spec.device, hardware, profiling_));
    VQX_ASSIGN_OR_RETURN(upload_, Executor::open(spec.device, hardware, profiling_));
    kernel::PlaneUse use{false, false};
    for (int m = 0; m < spec.metric_count; ++m) {
      VQX_RETURN_IF_ERROR(add_metric(spec.metrics[m]));
      const kernel::PlaneUse more = metrics_.back().metric->planes();
      use = {use.luma || more.luma, use.chroma || more.chroma};
    }
    lay_out(use);
    slots_.resize(static_cast<size_t>(slots));
    for (Slot& slot : slots_) VQX_RETURN_IF_ERROR(prepare_slot(slot));
    return compute_->finish();
  }

  Status add_metric(const abi::MetricRequest& request) {
    const CreateDeviceMetric create = find_device_metric(request.name);
    if (create == nullptr) {
      return {ErrorCode::kBackend, std::string(Executor::kName) + " has no metric " + request.name};
    }
    std::vector<kernel::DeviceConfig> sets;
    sets.reserve(static_cast<size_t>(request.set_count));
    for (int s = 0; s < request.set_count; ++s) {
      sets.emplace_back(static_cast<const std::byte*>(request.sets[s].data),
                        static_cast<size_t>(request.sets[s].size));
    }
    Entry entry;
    entry.name = request.name;
    entry.set_count = request.set_count;
    entry.first_word = raw_words_;
    VQX_ASSIGN_OR_RETURN(entry.metric, create(*compute_, format_, sets));
    raw_words_ += entry.metric->raw_words();
    metrics_.push_back(std::move(entry));
    return {};
  }

  void lay_out(kernel::PlaneUse use) {
    constexpr int kAlignment = 128;
    plane_count_ = use.chroma ? format_.plane_count() : 1;
    int64_t offset = 0;
    for (int p = 0; p < plane_count_; ++p) {
      const int row = format_.plane_width(p) * format_.bytes_per_sample();
      const int pitch = kernel::ceil_div(row, kAlignment) * kAlignment;
      for (auto& side : layout_) {
        side[p] = {offset, pitch};
        offset += int64_t{pitch} * format_.plane_height(p);
      }
    }
    frame_bytes_ = static_cast<size_t>(offset);
  }

  Status prepare_slot(Slot& slot) {
    VQX_ASSIGN_OR_RETURN(void* words, compute_->allocate_pinned(raw_bytes()));
    slot.words = static_cast<int64_t*>(words);
    using Bytes = kernel::Buffer<std::byte, Executor>;
    using Words = kernel::Buffer<int64_t, Executor>;
    VQX_ASSIGN_OR_RETURN(slot.planes, Bytes::allocate(*compute_, frame_bytes_));
    VQX_ASSIGN_OR_RETURN(slot.raw, Words::allocate(*compute_, static_cast<size_t>(raw_words_)));
    VQX_ASSIGN_OR_RETURN(slot.uploaded, compute_->create_event(profiling_));
    VQX_ASSIGN_OR_RETURN(slot.done, compute_->create_event(false));
    if (profiling_) {
      VQX_ASSIGN_OR_RETURN(slot.upload_start, compute_->create_event(true));
    }
    for (int side = 0; side < 2; ++side) {
      kernel::DevicePlane* planes = side == 0 ? slot.frame.reference : slot.frame.distorted;
      for (int p = 0; p < plane_count_; ++p) {
        planes[p] = {slot.planes.data() + layout_[side][p].offset, layout_[side][p].pitch,
                     format_.plane_width(p), format_.plane_height(p)};
      }
    }
    return {};
  }

  // The second frame of a slot is recorded where the device can replay launches, and later ones
  // replay it: short runs do not pay for the recording.
  Status run_kernels(Slot& slot) {
    ++slot.submissions;
    if (slot.recording >= 0) return compute_->replay(slot.recording);
    if (slot.submissions != 2) return enqueue(slot);
    VQX_ASSIGN_OR_RETURN(slot.recording, compute_->record_graph([&] { return enqueue(slot); }));
    return {};
  }

  Status enqueue(Slot& slot) {
    VQX_RETURN_IF_ERROR(compute_->zero(slot.raw.data(), raw_bytes()));
    for (const Entry& entry : metrics_) {
      VQX_RETURN_IF_ERROR(entry.metric->enqueue(slot.frame, slot.raw.data() + entry.first_word));
    }
    return compute_->download(slot.words, slot.raw.data(), raw_bytes());
  }

  int64_t row_bytes(int plane) const {
    return int64_t{format_.plane_width(plane)} * format_.bytes_per_sample();
  }

  // Row by row, so that the padding in device memory stays zero.
  Status upload_planes(Slot& slot, const abi::PinnedFrame& pinned) {
    for (int side = 0; side < 2; ++side) {
      const abi::PinnedPlane* planes = side == 0 ? pinned.reference : pinned.distorted;
      for (int p = 0; p < plane_count_; ++p) {
        const PlaneLayout& layout = layout_[side][p];
        VQX_RETURN_IF_ERROR(upload_->upload_rows(
            slot.planes.data() + layout.offset, static_cast<size_t>(layout.pitch), planes[p].data,
            static_cast<size_t>(planes[p].pitch), static_cast<size_t>(row_bytes(p)),
            static_cast<size_t>(format_.plane_height(p))));
      }
    }
    return {};
  }

  Status add_upload_time(const Slot& slot) {
    VQX_ASSIGN_OR_RETURN(const double seconds,
                         compute_->seconds_between(slot.upload_start, slot.uploaded));
    const std::lock_guard lock(mutex_);
    upload_seconds_ += seconds;
    ++uploads_;
    return {};
  }

  static abi::ProfileEntry make_entry(const std::string& name, uint64_t frames, double seconds,
                                      uint64_t frame_bytes) {
    abi::ProfileEntry entry{};
    std::strncpy(entry.name, name.c_str(), sizeof(entry.name) - 1);
    entry.frames = frames;
    entry.seconds = seconds;
    entry.bytes = frame_bytes * frames;
    return entry;
  }

  // Rounds over the frames in the slots, so that a short kernel is not drowned in the cost of two
  // events, and finds no more in the caches than a run leaves there.
  Result<abi::ProfileEntry> time_metric(const Entry& entry) {
    constexpr int kRounds = 8;
    std::vector<const Slot*> used;
    for (const Slot& slot : slots_) {
      if (slot.submissions > 0) used.push_back(&slot);
    }
    if (used.empty()) return make_entry(entry.name, 0, 0, 0);
    VQX_ASSIGN_OR_RETURN(const Event start, compute_->create_event(true));
    VQX_ASSIGN_OR_RETURN(const Event end, compute_->create_event(true));
    const auto run = [&]() -> Result<double> {
      for (int round = 0; round <= kRounds; ++round) {
        if (round == 1) VQX_RETURN_IF_ERROR(compute_->record(start));
        for (const Slot* slot : used) {
          VQX_RETURN_IF_ERROR(
              entry.metric->enqueue(slot->frame, slot->raw.data() + entry.first_word));
        }
      }
      VQX_RETURN_IF_ERROR(compute_->record(end));
      VQX_RETURN_IF_ERROR(compute_->finish());
      return compute_->seconds_between(start, end);
    };
    const Result<double> seconds = run();
    compute_->destroy_event(start);
    compute_->destroy_event(end);
    VQX_RETURN_IF_ERROR(seconds.status());
    return make_entry(entry.name, kRounds * used.size(), *seconds, entry.metric->bytes_moved());
  }

  VideoFormat format_;
  bool profiling_;
  std::unique_ptr<Executor> compute_;
  std::unique_ptr<Executor> upload_;
  std::vector<Entry> metrics_;
  int raw_words_ = 0;
  int plane_count_ = 1;
  size_t frame_bytes_ = 0;
  PlaneLayout layout_[2][3];
  std::vector<Slot> slots_;
  std::mutex mutex_;
  uint64_t uploads_ = 0;
  double upload_seconds_ = 0;
};

}  // namespace vqx::backend
