// What a metric is.  It works in three steps: *measure* turns a frame into integers (or floats in
// the order of the law) on any backend; *finish frame*, on the host and written once, turns those
// into the published doubles; *aggregates* do what needs the whole run.  Backends, SIMD levels and
// thread counts are compared on the measured words, with ==.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/scratch.hpp"
#include "base/simd.hpp"
#include "metric/frame.hpp"
#include "metric/options.hpp"
#include "vqx/picture.hpp"
#include "vqx/status.hpp"

namespace vqx {

// What one option set measured of one frame, as 64-bit words whose meaning the metric defines (its
// measured struct).  Plain data, so that it crosses module boundaries and compares with ==.
class Measured {
 public:
  std::vector<std::uint64_t> words;

  // The words as a struct made of 8-byte members.
  template <class T>
  static Measured of(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0);
    Measured m;
    m.words.resize(sizeof(T) / 8);
    std::memcpy(m.words.data(), &value, sizeof(T));
    return m;
  }
  template <class T>
  T as() const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0);
    T value{};
    const std::size_t bytes = std::min(sizeof(T), words.size() * 8);
    if (bytes > 0) std::memcpy(static_cast<void*>(&value), words.data(), bytes);
    return value;
  }
  friend bool operator==(const Measured&, const Measured&) = default;
};

// Runs independent parts of one measurement, in any order, on as many threads as the engine grants.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  virtual void run(int count, const std::function<void(int)>& part) const = 0;
  virtual int concurrency() const = 0;
};

class SerialRunner final : public TaskRunner {
 public:
  void run(int count, const std::function<void(int)>& part) const override {
    for (int i = 0; i < count; ++i) part(i);
  }
  int concurrency() const override { return 1; }
};

// All that a metric may use while measuring.
class MeasureContext {
 public:
  MeasureContext(std::span<const std::shared_ptr<const Frame>> frames, const TaskRunner& runner,
                 ScratchPool& scratch)
      : frames_(frames), runner_(runner), scratch_(scratch) {}

  // The frame to measure; its index is that of the uncut sequence.
  const Frame& frame() const { return *frames_.back(); }
  // The frame `back` positions earlier (1..Needs::pictures_before), or null before the sequence.
  const Frame* earlier(int back) const {
    const auto position = static_cast<std::ptrdiff_t>(frames_.size()) - 1 - back;
    return position < 0 ? nullptr : frames_[static_cast<std::size_t>(position)].get();
  }
  // Splits work into `count` parts (bands); must not show in the result.
  void parallel(int count, const std::function<void(int)>& part) const { runner_.run(count, part); }
  int concurrency() const { return runner_.concurrency(); }
  ScratchPool& scratch() const { return scratch_; }

 private:
  std::span<const std::shared_ptr<const Frame>> frames_;  // oldest first, the current one last
  const TaskRunner& runner_;
  ScratchPool& scratch_;
};

// Measured words of a frame and its neighbours, for finish_frame.
class MeasuredWindow {
 public:
  using Lookup = std::function<const Measured*(int index)>;
  MeasuredWindow(int index, Lookup lookup) : index_(index), lookup_(std::move(lookup)) {}

  int index() const { return index_; }  // in the uncut sequence
  const Measured& here() const { return *lookup_(index_); }
  // Null before the first and after the last frame of the sequence.
  const Measured* at(int offset) const { return lookup_(index_ + offset); }

 private:
  int index_;
  Lookup lookup_;
};

// Temporal inputs.
struct Needs {
  int pictures_before = 0;  // earlier pictures that measure() reads
  int measured_before = 0;  // earlier and later frames whose words finish_frame() reads
  int measured_after = 0;
  bool contiguous = false;  // measures every frame even when only every N-th is reported
};

// When libvmaf first stores an output; reports list keys in that order.
enum class Appearance { kFirstFrame, kSecondFrame, kFlush };

struct Output {
  std::string name;         // long feature name, e.g. VMAF_integer_feature_adm2_score
  bool with_suffix = true;  // whether options show in the key
  Appearance appearance = Appearance::kFirstFrame;
};

// A plain struct as the bytes that device_config() returns.
template <class T>
std::vector<std::byte> plain_bytes(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// One metric, configured with one or more option sets that share work.  Immutable: measure() runs
// on several frames at once.
class Metric {
 public:
  virtual ~Metric() = default;

  virtual Needs needs(std::size_t /*set*/) const { return {}; }
  virtual std::vector<Output> outputs(std::size_t set) const = 0;

  // Fills out[set] for every option set.
  virtual Status measure(const MeasureContext& context, std::span<Measured> out) const = 0;

  // What the device side of the metric needs to measure this set, as the plain bytes that its
  // DeviceMetric reads.  Empty: the set is measured on the CPU only.
  virtual std::vector<std::byte> device_config(std::size_t /*set*/) const { return {}; }

  // One score per output of the set, in the order of outputs().
  virtual Status finish_frame(std::size_t set, const MeasuredWindow& window,
                              std::span<double> scores) const = 0;

  // Sequence-wide numbers: accumulate() is called once per scored frame in ascending order.
  virtual void accumulate(std::size_t /*set*/, const Measured& /*frame*/,
                          Measured& /*total*/) const {}
  virtual std::vector<std::pair<std::string, double>> aggregates(std::size_t /*set*/,
                                                                 const Measured& /*total*/) const {
    return {};
  }
};

struct MetricSetup {
  VideoFormat format;
  bool strict = true;  // vqx refuses what only the drop-in has to answer (spec: degenerate sizes)
  std::span<const Options> sets;
};

// A row of the registry.
struct MetricInfo {
  std::string_view name;     // extractor name, as in `--feature NAME`
  std::string_view summary;  // one line
  std::span<const OptionSpec> options;
  std::span<const std::string_view> model_features;  // long names usable as model inputs
  // kInvalidArgument or kUnsupportedSize when the metric cannot work on this format.
  Result<std::unique_ptr<Metric>> (*create)(const MetricSetup& setup);
};

}  // namespace vqx
