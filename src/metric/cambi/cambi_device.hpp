// CAMBI on a device: every stage from the uploaded samples to the exact sums of the largest
// c-values runs there, chained through device memory; five integers come back.
//
// Planes hold 16-bit levels whose top bit says that the mask keeps the sample, as on the CPU.  The
// contrast kernel gives each work-group a strip of columns and a band of rows, down which it slides
// the window counts of every level and column.  One 32-bit word of work-group memory holds the
// counts of two neighbouring columns: one addition serves both, and since additions are atomic and
// need no answer, several items share a column's window.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel/device_metric.hpp"
#include "kernel/kernel.hpp"
#include "metric/cambi/cambi_device_config.hpp"
#include "metric/cambi/cambi_device_select.hpp"
#include "metric/cambi/cambi_math.hpp"

namespace vqx::cambi {

namespace k = vqx::kernel;

// A 16-bit plane in device memory, rows `width` apart.
struct LevelPlane {
  uint16_t* data;
  int width;
  int height;
  VQX_FN uint16_t& at(int x, int y) const { return data[int64_t{y} * width + x]; }
};

VQX_FN int clamp_index(int i, int count) {
  return i < 0 ? 0 : i < count ? i : count - 1;
}

// ---- sample range -------------------------------------------------------------------------------

// Leaves the first sample above the peak in `word`: the more, the earlier it lies; 0: none.
struct CheckSamples {
  static constexpr int kItems = 256;
  struct Shared {};
  const std::byte* samples;
  int pitch;
  int width;
  int peak;
  uint64_t* word;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared&) const {
    const int y = group.x();
    const auto* row = reinterpret_cast<const uint16_t*>(samples + int64_t{y} * pitch);
    k::each(group, width, [&](int x) {
      if (row[x] > peak) k::global_max(word, encode_bad_sample(x, y, row[x]));
    });
  }
};

// ---- levels and mask ----------------------------------------------------------------------------

template <class Sample>
struct Prepare {
  static constexpr int kItems = 256;
  static constexpr int kWidth = 64;
  static constexpr int kHeight = 16;
  // With the neighbours of the mask's square, their neighbours, and those of the dither filter.
  static constexpr int kStride = kWidth + 2 * kMaskRadius + 2;
  static constexpr int kRows = kHeight + 2 * kMaskRadius + 2;
  struct Shared {
    uint16_t raw[kStride * kRows];
    uint16_t smooth[kStride * kRows];
    uint8_t flat[kStride * kRows];
    uint8_t across[kWidth * kRows];
  };
  const std::byte* samples;
  int pitch;
  const int* columns;  // of the input, or null: as they are
  const int* rows;
  int width;  // analysed
  int height;
  int bit_depth;
  int unit;
  int antidither;
  int threshold;
  int step;  // 2: only even rows and columns are kept
  LevelPlane target;

  VQX_KERNEL_FN uint16_t level(int x, int y) const {
    if (columns != nullptr) {
      x = columns[x];
      y = rows[y];
    }
    const int sample = reinterpret_cast<const Sample*>(samples + int64_t{y} * pitch)[x];
    return static_cast<uint16_t>(unit == 1 ? ten_bit(sample, bit_depth) : sample);
  }

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const int left = group.x() * kWidth - kMaskRadius;
    const int top = group.y() * kHeight - kMaskRadius;
    // Missing neighbours become copies of the last sample: equal, and neutral in the dither filter.
    k::each<kStride, kRows>(group, [&](int x, int y) {
      shared.raw[y * kStride + x] =
          level(clamp_index(left + x, width), clamp_index(top + y, height));
    });
    group.sync();
    const uint16_t* levels = shared.raw;
    if (antidither != 0) {
      k::each<kStride - 1, kRows - 1>(group, [&](int x, int y) {
        const uint16_t* at = shared.raw + y * kStride + x;
        shared.smooth[y * kStride + x] =
            static_cast<uint16_t>(without_dither(at[0], at[1], at[kStride], at[kStride + 1]));
      });
      group.sync();
      levels = shared.smooth;
    }
    k::each<kStride - 2, kRows - 2>(group, [&](int x, int y) {
      const uint16_t* at = levels + y * kStride + x;
      const bool inside = left + x >= 0 && left + x < width && top + y >= 0 && top + y < height;
      shared.flat[y * kStride + x] = inside && at[0] == at[1] && at[0] == at[kStride] ? 1 : 0;
    });
    group.sync();
    k::each<kWidth, kRows - 2>(group, [&](int x, int y) {
      int sum = 0;
      VQX_UNROLL
      for (int i = 0; i <= 2 * kMaskRadius; ++i) sum += shared.flat[y * kStride + x + i];
      shared.across[y * kWidth + x] = static_cast<uint8_t>(sum);
    });
    group.sync();
    k::each<kWidth, kHeight>(group, [&](int x, int y) {
      const int px = left + kMaskRadius + x;
      const int py = top + kMaskRadius + y;
      if (px >= width || py >= height || px % step != 0 || py % step != 0) return;
      int sum = 0;
      VQX_UNROLL
      for (int i = 0; i <= 2 * kMaskRadius; ++i) sum += shared.across[(y + i) * kWidth + x];
      const uint16_t value = levels[(y + kMaskRadius) * kStride + x + kMaskRadius];
      target.at(px / step, py / step) =
          static_cast<uint16_t>(value | (sum > threshold ? kKept : 0));
    });
  }
};

// ---- halving and mode filter --------------------------------------------------------------------

struct ModeFilter {
  static constexpr int kItems = 256;
  static constexpr int kWidth = 64;
  static constexpr int kHeight = 8;
  struct Shared {};
  LevelPlane source;
  int step;
  LevelPlane target;

  VQX_KERNEL_FN int level(int x, int y) const { return source.at(x * step, y * step) & kLevelBits; }
  VQX_KERNEL_FN int across(int x, int y) const {
    if (x == 0 || x == target.width - 1) return level(x, y);
    return mode_of_three(level(x - 1, y), level(x, y), level(x + 1, y));
  }

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared&) const {
    k::each<kWidth, kHeight>(group, [&](int i, int j) {
      const int x = group.x() * kWidth + i;
      const int y = group.y() * kHeight + j;
      if (x >= target.width || y >= target.height) return;
      const uint16_t own = source.at(x * step, y * step);
      if (y == 0 || y == target.height - 1) {
        target.at(x, y) = own;
        return;
      }
      const int mode = mode_of_three(across(x, y - 1), across(x, y), across(x, y + 1));
      target.at(x, y) = static_cast<uint16_t>(mode | (own & kKept));
    });
  }
};

// ---- contrast values ----------------------------------------------------------------------------

// What the groups of one scale work on.
struct ContrastScale {
  LevelPlane plane;
  uint32_t* values;  // bits of the c-values, rows `plane.width` apart
  int strips;
  int first_group;
};

// kRows: most levels that are counted, with one more for samples that are not; kPairs: pairs of
// columns of a strip.
template <int kRows, int kPairs>
struct Contrast {
  static constexpr int kItems = 256;
  static constexpr int kColumns = 2 * kPairs;
  static constexpr int kParts = kItems / kPairs;  // of a window, taken by different items
  struct alignas(8) KeyPair {
    uint32_t key[2];
  };
  struct Shared {
    uint32_t counts[kRows * kPairs];
    KeyPair keys[kPairs + kMaxRadius];  // entering | leaving << 16
  };
  ContrastScale scales[kScales];
  const uint32_t* visible;
  const float* reciprocals;
  int band_rows;
  int radius;
  int steps;
  int first_scored;
  int scored;
  float weight[kMaxSteps];

  // Row of counts of a sample's level; the last one for samples that do not count.
  VQX_KERNEL_FN uint32_t key_of(const LevelPlane& plane, int x, int y) const {
    const int rows = scored + 2 * steps;
    if (y < 0 || x < 0 || x >= plane.width) return static_cast<uint32_t>(rows);
    const int row = static_cast<int>(plane.at(x, y)) - kKept - (first_scored - steps);
    return static_cast<uint32_t>(row < 0 || row > rows ? rows : row);
  }

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    int s = 0;
    while (s + 1 < kScales && group.x() >= scales[s + 1].first_group) ++s;
    const ContrastScale& scale = scales[s];
    const LevelPlane plane = scale.plane;
    const int index = group.x() - scale.first_group;
    const int left = index % scale.strips * kColumns;
    const int top = index / scale.strips * band_rows;
    const int end = top + band_rows < plane.height ? top + band_rows : plane.height;
    const int start = top - radius > 0 ? top - radius : 0;  // first row of the first window

    k::each(group, (scored + 2 * steps + 1) * kPairs, [&](int i) { shared.counts[i] = 0; });
    for (int y = start - radius; y <= end; ++y) {
      // The c-values of the row before, and beside them what row y takes in and lets go.
      const int entering = y + radius < plane.height ? y + radius : -1;
      const int leaving = y - radius - 1 >= start ? y - radius - 1 : -1;
      k::each(group, kColumns + kPairs + radius, [&](int i) {
        if (i < kColumns) {
          if (y > top) score(shared.counts, plane, scale.values, left, i, y - 1);
          return;
        }
        const int x = left - radius + 2 * (i - kColumns);
        shared.keys[i - kColumns] = {
            {key_pair(plane, x, entering, leaving), key_pair(plane, x + 1, entering, leaving)}};
      });
      group.sync();
      k::each<kPairs, kParts>(group, [&](int pair, int part) {
        slide(shared.counts + pair, shared.keys + pair, part);
      });
      group.sync();
    }
  }

  // A level that enters where it leaves changes nothing.
  VQX_KERNEL_FN uint32_t key_pair(const LevelPlane& plane, int x, int entering, int leaving) const {
    const auto none = static_cast<uint32_t>(scored + 2 * steps);
    const uint32_t in = key_of(plane, x, entering);
    const uint32_t out = key_of(plane, x, leaving);
    return in == out ? none | none << 16 : in | out << 16;
  }

  // Adds what enters the windows of two columns and subtracts what leaves, one part of the window.
  // The 16-bit halves do not disturb each other: neither ends below zero, and sums modulo 2^32 do
  // not mind the order.
  VQX_KERNEL_FN void slide(uint32_t* counts, const KeyPair* keys, int part) const {
    const int length = (radius + kParts) / kParts;  // radius + 1 pairs of positions, rounded up
    const int first = part * length;
    const int end = first + length < radius + 1 ? first + length : radius + 1;
    const auto none = static_cast<uint32_t>(scored + 2 * steps);
    uint32_t key = none | none << 16;
    uint32_t amount = 0;
    for (int i = first; i < end; ++i) {
      const KeyPair next = keys[i];
      take(counts, next.key[0], i == 0 ? 1u : 0x10001u, key, amount);
      take(counts, next.key[1], i == radius ? 0x10000u : 0x10001u, key, amount);
    }
    change(counts, key, amount);
  }

  // Runs of equal keys are added at once.
  VQX_KERNEL_FN void take(uint32_t* counts, uint32_t next, uint32_t more, uint32_t& key,
                          uint32_t& amount) const {
    if (next == key) {
      amount += more;
      return;
    }
    change(counts, key, amount);
    key = next;
    amount = more;
  }

  VQX_KERNEL_FN void change(uint32_t* counts, uint32_t key, uint32_t amount) const {
    const uint32_t in = key & 0xffff;
    const uint32_t out = key >> 16;
    if (in == out) return;  // neither counts
    k::shared_add(counts + in * kPairs, amount);
    k::shared_add(counts + out * kPairs, 0u - amount);
  }

  VQX_KERNEL_FN void score(const uint32_t* counts, const LevelPlane& plane, uint32_t* values,
                           int left, int column, int y) const {
    const int x = left + column;
    if (x >= plane.width) return;
    const int shift = column % 2 * 16;
    counts += column / 2;
    const int level = static_cast<int>(plane.at(x, y)) - kKept - first_scored;
    float best = 0;
    if (level >= 0 && level < scored) {
      const uint32_t* const at = counts + (level + steps) * kPairs;
      const int own = static_cast<int>(at[0] >> shift & 0xffff);
      const uint32_t seen = visible[level];
      for (int i = 0; i < steps; ++i) {
        if ((seen >> i & 1) == 0) continue;
        const int away = (i + 1) * kPairs;
        const int above = static_cast<int>(at[away] >> shift & 0xffff);
        const int below = static_cast<int>(at[-away] >> shift & 0xffff);
        const int other = above > below ? above : below;
        const float c = contrast(weight[i], own, other, reciprocals[own + other]);
        if (c > best) best = c;
      }
    }
    values[int64_t{y} * plane.width + x] = k::float_bits(best);
  }
};

// ---- host side ----------------------------------------------------------------------------------

template <class Executor>
class CambiDevice final : public kernel::DeviceMetric {
 public:
  static Result<std::unique_ptr<kernel::DeviceMetric>> create(
      Executor& executor, const VideoFormat& format, std::span<const kernel::DeviceConfig> sets) {
    auto metric = std::unique_ptr<CambiDevice>(new CambiDevice(executor, format));
    for (const kernel::DeviceConfig& set : sets) {
      const auto config = kernel::read_config<DeviceSet>(set);
      Set own;
      VQX_ASSIGN_OR_RETURN(own.distorted, metric->job_of(config.distorted, 0));
      if (config.full_reference != 0) {
        VQX_ASSIGN_OR_RETURN(own.reference, metric->job_of(config.reference, 1));
      }
      metric->sets_.push_back(own);
    }
    VQX_RETURN_IF_ERROR(metric->allocate());
    return std::unique_ptr<kernel::DeviceMetric>(std::move(metric));
  }

  kernel::PlaneUse planes() const override { return {true, false}; }
  int raw_words() const override { return static_cast<int>(jobs_.size()) * kWordsPerJob; }

  Status enqueue(const kernel::DeviceFrame& frame, int64_t* raw) override {
    for (const Job& job : jobs_) {
      const kernel::DevicePlane& luma = job.side == 1 ? frame.reference[0] : frame.distorted[0];
      VQX_RETURN_IF_ERROR(enqueue_levels(job, luma, raw));
      VQX_RETURN_IF_ERROR(enqueue_contrast(job));
      VQX_RETURN_IF_ERROR(enqueue_selection(job, raw));
      raw += kWordsPerJob;
    }
    return {};
  }

  Status collect(const int64_t* raw, std::span<std::vector<uint64_t>> sets) const override {
    const auto words_of = [&](int job) { return raw + job * kWordsPerJob; };
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const auto bad = static_cast<uint64_t>(words_of(static_cast<int>(i))[kScales]);
      if (bad != 0) return bad_sample_status(bad, format_.bit_depth, jobs_[i].side == 1);
    }
    for (std::size_t i = 0; i < sets.size(); ++i) {
      sets[i].assign(2 * kScales, 0);
      for (int s = 0; s < kScales; ++s) {
        sets[i][s] = static_cast<uint64_t>(words_of(sets_[i].distorted)[s]);
        if (sets_[i].reference >= 0)
          sets[i][kScales + s] = static_cast<uint64_t>(words_of(sets_[i].reference)[s]);
      }
    }
    return {};
  }

  // Per job: the samples, and per pixel of all scales the level written and read four times
  // (filter, entering, leaving and centre rows) and the c-value written and read twice.
  uint64_t bytes_moved() const override {
    uint64_t bytes = 0;
    for (const Job& job : jobs_) {
      bytes +=
          uint64_t(format_.width) * uint64_t(format_.height) * uint64_t(format_.bytes_per_sample());
      for (const DeviceSize& size : job.analysis.scales) bytes += size.pixels() * (5 * 2 + 3 * 4);
    }
    return bytes;
  }

 private:
  static constexpr int kWordsPerJob = kScales + 1;
  static constexpr int kBandRows = 160;

  template <class T>
  using Buffer = kernel::Buffer<T, Executor>;

  struct Job {
    DeviceAnalysis analysis;
    int side = 0;  // 0 distorted, 1 reference
    Buffer<uint32_t> visible;
    Buffer<int> columns;  // empty: not resampled
    Buffer<int> rows;
  };
  struct Set {
    int distorted = 0;
    int reference = -1;
  };

  CambiDevice(Executor& executor, const VideoFormat& format)
      : executor_(executor), format_(format) {}

  template <class T>
  Status store(Buffer<T>& buffer, const T* values, std::size_t count) {
    VQX_ASSIGN_OR_RETURN(buffer, Buffer<T>::allocate(executor_, count));
    VQX_RETURN_IF_ERROR(executor_.upload(buffer.data(), values, count * sizeof(T)));
    return executor_.finish();
  }

  // Sets that measure the same share the job.
  Result<int> job_of(const DeviceAnalysis& analysis, int side) {
    // Bytes that differ where the values do not would only cost a job more.
    const auto same = [&](const Job& job) {
      // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
      return job.side == side && std::memcmp(&job.analysis, &analysis, sizeof(analysis)) == 0;
    };
    const auto known = std::find_if(jobs_.begin(), jobs_.end(), same);
    if (known != jobs_.end()) return static_cast<int>(known - jobs_.begin());
    Job job;
    job.analysis = analysis;
    job.side = side;
    VQX_RETURN_IF_ERROR(store(job.visible, analysis.visible, std::size(analysis.visible)));
    if (analysis.width != format_.width || analysis.height != format_.height) {
      const std::vector<int> columns = sample_positions(format_.width, analysis.width);
      const std::vector<int> rows = sample_positions(format_.height, analysis.height);
      VQX_RETURN_IF_ERROR(store(job.columns, columns.data(), columns.size()));
      VQX_RETURN_IF_ERROR(store(job.rows, rows.data(), rows.size()));
    }
    jobs_.push_back(std::move(job));
    return static_cast<int>(jobs_.size()) - 1;
  }

  // Jobs run one after the other and share the working memory.
  Status allocate() {
    std::size_t base = 0, levels = 0, values = 0;
    for (const Job& job : jobs_) {
      std::size_t pixels = 0;
      for (const DeviceSize& size : job.analysis.scales) pixels += size.pixels();
      base = std::max(base, std::size_t(job.analysis.scales[0].pixels()));
      levels = std::max(levels, pixels);
      values = std::max(values, pixels);
    }
    VQX_ASSIGN_OR_RETURN(base_, Buffer<uint16_t>::allocate(executor_, base));
    VQX_ASSIGN_OR_RETURN(levels_, Buffer<uint16_t>::allocate(executor_, levels));
    VQX_ASSIGN_OR_RETURN(values_, Buffer<uint32_t>::allocate(executor_, values));
    VQX_ASSIGN_OR_RETURN(selections_, Buffer<Selection>::allocate(executor_, kScales));
    const std::vector<float> table = make_reciprocals();
    return store(reciprocals_, table.data(), table.size());
  }

  LevelPlane level_plane(const Job& job, int scale) const {
    std::size_t offset = 0;
    for (int s = 0; s < scale; ++s) offset += job.analysis.scales[s].pixels();
    const DeviceSize size = job.analysis.scales[scale];
    return {levels_.data() + offset, size.width, size.height};
  }
  uint32_t* values_of(const Job& job, int scale) const {
    return values_.data() + (level_plane(job, scale).data - levels_.data());
  }

  Status enqueue_levels(const Job& job, const kernel::DevicePlane& luma, int64_t* raw) {
    if (format_.bit_depth != 8 && format_.bit_depth != 16) {
      const CheckSamples check{static_cast<const std::byte*>(luma.data), luma.pitch, luma.width,
                               (1 << format_.bit_depth) - 1,
                               reinterpret_cast<uint64_t*>(raw + kScales)};
      VQX_RETURN_IF_ERROR(executor_.launch(check, {luma.height, 1, 1}));
    }
    if (format_.bit_depth == 8)
      VQX_RETURN_IF_ERROR(enqueue_prepare<uint8_t>(job, luma));
    else
      VQX_RETURN_IF_ERROR(enqueue_prepare<uint16_t>(job, luma));
    for (int scale = 0; scale < kScales; ++scale) {
      ModeFilter filter{base_plane(job), 1, level_plane(job, scale)};
      if (scale > 0) {
        filter.source = level_plane(job, scale - 1);
        filter.step = 2;
      }
      VQX_RETURN_IF_ERROR(executor_.launch(
          filter, {kernel::ceil_div(filter.target.width, ModeFilter::kWidth),
                   kernel::ceil_div(filter.target.height, ModeFilter::kHeight), 1}));
    }
    return {};
  }

  LevelPlane base_plane(const Job& job) const {
    return {base_.data(), job.analysis.scales[0].width, job.analysis.scales[0].height};
  }

  template <class Sample>
  Status enqueue_prepare(const Job& job, const kernel::DevicePlane& luma) {
    const DeviceAnalysis& analysis = job.analysis;
    Prepare<Sample> prepare{};
    prepare.samples = static_cast<const std::byte*>(luma.data);
    prepare.pitch = luma.pitch;
    prepare.columns = job.columns.data();
    prepare.rows = job.rows.data();
    prepare.width = analysis.width;
    prepare.height = analysis.height;
    prepare.bit_depth = format_.bit_depth;
    prepare.unit = analysis.unit;
    prepare.antidither = analysis.antidither;
    prepare.threshold = analysis.mask_threshold;
    prepare.step = analysis.halve_first != 0 ? 2 : 1;
    prepare.target = base_plane(job);
    return executor_.launch(prepare,
                            {kernel::ceil_div(analysis.width, Prepare<Sample>::kWidth),
                             kernel::ceil_div(analysis.height, Prepare<Sample>::kHeight), 1});
  }

  // The widest strips that the device's work-group memory allows for so many levels.
  Status enqueue_contrast(const Job& job) {
    const int rows = job.analysis.scored + 2 * job.analysis.steps + 1;
    if (rows <= 144) return launch_contrast<144, 32>(job);
    if (rows <= 576) {
      if (fits<576, 32>()) return launch_contrast<576, 32>(job);
      if (fits<576, 16>()) return launch_contrast<576, 16>(job);
      return launch_contrast<576, 8>(job);
    }
    if (fits<kMostRows, 16>()) return launch_contrast<kMostRows, 16>(job);
    if (fits<kMostRows, 8>()) return launch_contrast<kMostRows, 8>(job);
    return launch_contrast<kMostRows, 4>(job);
  }

  static constexpr int kMostRows = kMaxLevel + 1 + 2 * kMaxSteps + 1;

  template <int kRows, int kPairs>
  bool fits() const {
    return executor_.template fits<Contrast<kRows, kPairs>>();
  }

  template <int kRows, int kPairs>
  Status launch_contrast(const Job& job) {
    const DeviceAnalysis& analysis = job.analysis;
    Contrast<kRows, kPairs> kernel{};
    int groups = 0;
    for (int s = 0; s < kScales; ++s) {
      ContrastScale& scale = kernel.scales[s];
      scale.plane = level_plane(job, s);
      scale.values = values_of(job, s);
      scale.strips = kernel::ceil_div(scale.plane.width, kernel.kColumns);
      scale.first_group = groups;
      groups += scale.strips * kernel::ceil_div(scale.plane.height, kBandRows);
    }
    kernel.visible = job.visible.data();
    kernel.reciprocals = reciprocals_.data();
    kernel.band_rows = kBandRows;
    kernel.radius = analysis.window >> 1;
    kernel.steps = analysis.steps;
    kernel.first_scored = analysis.first_scored;
    kernel.scored = analysis.scored;
    std::copy(std::begin(analysis.weight), std::end(analysis.weight), kernel.weight);
    return executor_.launch(kernel, {groups, 1, 1});
  }

  Status enqueue_selection(const Job& job, int64_t* raw) {
    VQX_RETURN_IF_ERROR(executor_.zero(selections_.data(), selections_.bytes()));
    CountCoarse coarse{};
    for (int s = 0; s < kScales; ++s)
      coarse.scales[s] = {values_of(job, s), static_cast<int64_t>(job.analysis.scales[s].pixels()),
                          job.analysis.pooled[s]};
    coarse.selections = selections_.data();
    const auto parts =
        static_cast<int>((job.analysis.scales[0].pixels() + kValuesPerGroup - 1) / kValuesPerGroup);
    VQX_RETURN_IF_ERROR(executor_.launch(coarse, {parts, 1, kScales}));

    FindBin find{};
    CountFine fine{};
    std::copy(std::begin(coarse.scales), std::end(coarse.scales), find.scales);
    std::copy(std::begin(coarse.scales), std::end(coarse.scales), fine.scales);
    find.selections = fine.selections = coarse.selections;
    fine.sums = raw;
    VQX_RETURN_IF_ERROR(executor_.launch(find, {kScales, 1, 1}));
    VQX_RETURN_IF_ERROR(executor_.launch(fine, {parts, 1, kScales}));
    return executor_.launch(AddFine{coarse.selections, raw}, {kScales, 1, 1});
  }

  Executor& executor_;
  VideoFormat format_;
  std::vector<Job> jobs_;
  std::vector<Set> sets_;
  Buffer<uint16_t> base_;    // levels and mask before the first filter
  Buffer<uint16_t> levels_;  // filtered planes of all scales
  Buffer<uint32_t> values_;  // c-values of all scales
  Buffer<Selection> selections_;
  Buffer<float> reciprocals_;
};

}  // namespace vqx::cambi
