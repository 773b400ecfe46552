// The cases that compare SIMD levels and backends: contents from random to extreme, in planes with
// padded strides whose padding is filled with guard bytes, so that a metric that reads or writes
// outside a plane is caught.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "metric/metric.hpp"
#include "metric/registry.hpp"
#include "vqx/picture.hpp"

namespace vqx::verify {

enum class Content {
  kNatural,    // smooth gradients with texture; distorted = coarser and noisy
  kNoise,      // independent uniform noise on both sides
  kIdentical,  // natural, both sides equal
  kAllMin,
  kAllMax,
  kMinAgainstMax,
  kStripes,       // one-sample vertical stripes against horizontal ones
  kCheckerboard,  // against its inverse
  kNearBlack,     // mostly 0 and 1 with rare bright dots
  kBanding,       // wide steps of one code value
};
inline constexpr Content kAllContents[] = {
    Content::kNatural,   Content::kNoise,         Content::kIdentical, Content::kAllMin,
    Content::kAllMax,    Content::kMinAgainstMax, Content::kStripes,   Content::kCheckerboard,
    Content::kNearBlack, Content::kBanding,
};
const char* content_name(Content content);

// A picture whose rows end in guard bytes and whose planes are surrounded by them.  `guard` varies
// the guard value: results must not depend on it.
class GuardedPicture {
 public:
  GuardedPicture(const VideoFormat& format, int pad_samples, std::uint8_t guard);
  GuardedPicture(GuardedPicture&&) = default;

  const Picture& picture() const { return picture_; }
  void set(int plane, int x, int y, int value);
  bool guards_intact() const;

 private:
  void poison_guards() const;

  VideoFormat format_;
  std::uint8_t guard_;
  std::vector<std::uint8_t> bytes_;
  std::size_t offsets_[3] = {};
  std::size_t strides_[3] = {};
  Picture picture_;
};

// Frame `index` of a deterministic moving pair.
struct PicturePair {
  std::shared_ptr<GuardedPicture> reference;
  std::shared_ptr<GuardedPicture> distorted;
};
PicturePair make_pair(const VideoFormat& format, Content content, int index, int pad_samples = 5,
                      std::uint8_t guard = 0xA5);

// One row of the table that drives every metric's comparisons.
struct Case {
  VideoFormat format;
  Content content;
  std::string name() const;
};
// Sizes (odd, minimal, larger), depths, chroma formats and contents; small enough for unit tests.
std::vector<Case> case_table(int min_width = 1, int min_height = 1);

// One row per metric and option set that the comparisons run.
struct MetricCase {
  std::string metric;
  OptionTexts options;
  int min_width = 1;  // smallest size that the metric accepts
  int min_height = 1;
  bool needs_chroma = false;
  int max_depth = 16;
  int max_pixels = 1 << 30;  // leaves out cases that would take too long
};
std::span<const MetricCase> metric_cases();

// Measures and finishes `frames` frames of a case serially, with the given options.  Returns every
// measured word and every score's bits, so that whole runs compare with ==.
struct RunResult {
  std::vector<Measured> measured;  // frame-major
  std::vector<std::uint64_t> score_bits;
  friend bool operator==(const RunResult&, const RunResult&) = default;
};
Result<RunResult> run_metric(const MetricCase& metric, const Case& test_case, int frames,
                             const TaskRunner& runner, int pad_samples = 5,
                             std::uint8_t guard = 0xA5);

// Runs parts in reverse order and claims a large concurrency: order must not show.
class ReverseRunner final : public TaskRunner {
 public:
  explicit ReverseRunner(int concurrency) : concurrency_(concurrency) {}
  void run(int count, const std::function<void(int)>& part) const override {
    for (int i = count; i-- > 0;) part(i);
  }
  int concurrency() const override { return concurrency_; }

 private:
  int concurrency_;
};

}  // namespace vqx::verify
