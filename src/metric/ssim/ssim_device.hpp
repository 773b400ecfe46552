// SSIM on a device: pyramid, window sums and terms as portable kernels, and the two metrics.
//
// Integer planes stay as they were uploaded; every kernel converts what it loads.  Window sums and
// terms are templates over binary64 (hardware or software).
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "exact/wide_sum.hpp"
#include "kernel/device_metric.hpp"
#include "kernel/kernel.hpp"
#include "kernel/real64.hpp"
#include "metric/ssim/ssim_device_decimate.hpp"
#include "metric/ssim/ssim_device_planes.hpp"
#include "metric/ssim/ssim_math.hpp"

namespace vqx::ssim {

// ---- windows and terms -------------------------------------------------------------------------

// Runs f(0) .. f(N - 1); a software binary64 inside makes unrolled code too long to compile.
template <int First, int Last, class Real, class F>
VQX_KERNEL_FN void repeat(F&& f) {
  if constexpr (std::is_same_v<Real, kernel::HardwareReal64>) {
    VQX_UNROLL
    for (int i = First; i <= Last; ++i) f(i);
  } else {
    for (int i = First; i <= Last; ++i) f(i);
  }
}

// The sums of one plane pair: low and high halves of L C S, L, C and S (Sums::add_wide).
inline constexpr int kPlaneWords = 8;

template <class Sample, class Real>
struct SumTerms {
  static constexpr int kItems = 256;
  static constexpr int kTile = 32;
  static constexpr int kSpan = kTile + kReach;
  static constexpr int kMoments = 5;
  struct Shared {
    float a[kSpan * kSpan];
    float b[kSpan * kSpan];
    float rows[kMoments][kSpan * kTile];
  };

  SourcePair<Sample> source;
  int64_t* sums;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const int left = group.x() * kTile;
    const int top = group.y() * kTile;
    kernel::each<kSpan, kSpan>(group, [&](int x, int y) {
      const bool inside = left + x < source.width && top + y < source.height;
      shared.a[y * kSpan + x] = inside ? source.side[0].at(left + x, top + y) : 0;
      shared.b[y * kSpan + x] = inside ? source.side[1].at(left + x, top + y) : 0;
    });
    group.sync();
    kernel::each<kTile, kSpan>(group, [&](int x, int y) { sum_row(shared, x, y); });
    group.sync();
    const int width = source.width - kReach - left;
    const int height = source.height - kReach - top;
    const auto totals =
        kernel::sum_each<kPlaneWords, kTile, kTile>(group, [&](int x, int y, auto& sum) {
          if (x < width && y < height) add_terms(shared, x, y, sum);
        });
    kernel::add_to_global(group, sums, totals);
  }

 private:
  struct Products {
    Real value[kMoments];
  };

  VQX_KERNEL_FN static Products products(float a, float b, float tap) {
    using kernel::mul;
    return {{Real::from(mul(a, tap)), Real::from(mul(b, tap)), Real::from(mul(mul(a, a), tap)),
             Real::from(mul(mul(b, b), tap)), Real::from(mul(mul(a, b), tap))}};
  }

  VQX_KERNEL_FN static void sum_row(Shared& shared, int x, int y) {
    const float* a = shared.a + y * kSpan + x;
    const float* b = shared.b + y * kSpan + x;
    Products sum = products(a[0], b[0], gaussian_tap(0));
    repeat<1, kReach, Real>([&](int k) {
      const Products next = products(a[k], b[k], gaussian_tap(k));
      VQX_UNROLL
      for (int m = 0; m < kMoments; ++m) sum.value[m] = sum.value[m] + next.value[m];
    });
    VQX_UNROLL
    for (int m = 0; m < kMoments; ++m) shared.rows[m][y * kTile + x] = sum.value[m].to_float();
  }

  VQX_KERNEL_FN static float sum_column(const float* rows) {
    Real sum = Real::from(kernel::mul(rows[0], gaussian_tap(0)));
    repeat<1, kReach, Real>(
        [&](int k) { sum = sum + Real::from(kernel::mul(rows[k * kTile], gaussian_tap(k))); });
    return sum.to_float();
  }

  VQX_KERNEL_FN static void add_terms(const Shared& shared, int x, int y,
                                      kernel::Sums<kPlaneWords>& sum) {
    float moment[kMoments];
    if constexpr (std::is_same_v<Real, kernel::HardwareReal64>) {
      VQX_UNROLL
      for (int m = 0; m < kMoments; ++m) moment[m] = sum_column(shared.rows[m] + y * kTile + x);
    } else {
      for (int m = 0; m < kMoments; ++m) moment[m] = sum_column(shared.rows[m] + y * kTile + x);
    }
    const auto terms = local_terms<Real>({moment[0], moment[1], moment[2], moment[3], moment[4]});
    sum.add_wide(0, similarity(terms).to_fixed(kTermUnit));
    sum.add_wide(2, terms.luminance.to_fixed(kTermUnit));
    sum.add_wide(4, terms.contrast.to_fixed(kTermUnit));
    sum.add_wide(6, Real::from(terms.structure).to_fixed(kTermUnit));
  }
};

// ---- pyramid -----------------------------------------------------------------------------------

// A tile of nodes of the next level and the samples around it, even and odd columns apart, so that
// neighbouring nodes read neighbouring words.
struct PyramidTile {
  static constexpr int kWide = 32;
  static constexpr int kHigh = 16;
  static constexpr int kHalf = kWide + kPyramidTaps / 2;
  static constexpr int kRows = 2 * kHigh + kPyramidTaps - 2;
  float even[kRows * kHalf];
  float odd[kRows * kHalf];

  // Column i of the window of node x, in row y of the tile.
  VQX_KERNEL_FN float at(int x, int y, int i) const {
    return (i % 2 == 0 ? even : odd)[y * kHalf + x + i / 2];
  }

  template <class Sample, class Group>
  VQX_KERNEL_FN void load(Group& group, const Source<Sample>& in, int width, int height) {
    const int left = 2 * group.x() * kWide - kPyramidTaps / 2;
    const int top = 2 * group.y() * kHigh - kPyramidTaps / 2;
    kernel::each<2 * kHalf, kRows>(group, [&](int x, int y) {
      // Tiles reach beyond the picture by more than a window; what lies there is not used.
      const int column = left + x < width + kPyramidTaps ? reflect(left + x, width) : 0;
      const int row = top + y < height + kPyramidTaps ? reflect(top + y, height) : 0;
      (x % 2 == 0 ? even : odd)[y * kHalf + x / 2] = in.at(column, row);
    });
  }
};

template <class Sample, class Real>
struct TablePyramid {
  static constexpr int kItems = 256;
  using Shared = PyramidTile;

  SourcePair<Sample> source;
  float* target[2];
  int wide;
  int high;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    shared.load(group, source.chosen(group.z()), source.width, source.height);
    group.sync();
    const int left = group.x() * Shared::kWide;
    const int top = group.y() * Shared::kHigh;
    kernel::each<Shared::kWide, Shared::kHigh>(group, [&](int x, int y) {
      if (left + x >= wide || top + y >= high) return;
      Real sum = Real::from(0.0f);
      repeat<0, kPyramidTaps - 1, Real>([&](int j) {
        repeat<0, kPyramidTaps - 1, Real>([&](int i) {
          sum = sum + Real::from(kernel::mul(shared.at(x, 2 * y + j, i), pyramid_tap(i, j)));
        });
      });
      (group.z() == 0 ? target[0] : target[1])[int64_t{top + y} * wide + left + x] = sum.to_float();
    });
  }
};

template <class Sample>
struct SeparablePyramid {
  static constexpr int kItems = 256;
  struct Shared {
    PyramidTile tile;
    float rows[PyramidTile::kRows * PyramidTile::kWide];
  };

  SourcePair<Sample> source;
  float* target[2];
  int wide;
  int high;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    constexpr int kWide = PyramidTile::kWide;
    constexpr int kHigh = PyramidTile::kHigh;
    shared.tile.load(group, source.chosen(group.z()), source.width, source.height);
    group.sync();
    kernel::each<kWide, PyramidTile::kRows>(group, [&](int x, int y) {
      float sum = 0;
      VQX_UNROLL
      for (int i = 0; i < kPyramidTaps; ++i)
        sum = kernel::fma(shared.tile.at(x, y, i), separable_tap(i), sum);
      shared.rows[y * kWide + x] = sum;
    });
    group.sync();
    const int left = group.x() * kWide;
    const int top = group.y() * kHigh;
    kernel::each<kWide, kHigh>(group, [&](int x, int y) {
      if (left + x >= wide || top + y >= high) return;
      float sum = 0;
      VQX_UNROLL
      for (int j = 0; j < kPyramidTaps; ++j)
        sum = kernel::fma(shared.rows[(2 * y + j) * kWide + x], separable_tap(j), sum);
      (group.z() == 0 ? target[0] : target[1])[int64_t{top + y} * wide + left + x] = sum;
    });
  }
};

// ---- host code ---------------------------------------------------------------------------------

template <class Executor, class Sample>
Status launch_terms(Executor& executor, const SourcePair<Sample>& source, int64_t* sums) {
  const Size size = positions({source.width, source.height});
  if (size.width <= 0 || size.height <= 0) return {};
  return kernel::dispatch_real64(executor, [&](auto real) {
    using Kernel = SumTerms<Sample, decltype(real)>;
    return executor.launch(Kernel{source, sums}, {kernel::ceil_div(size.width, Kernel::kTile),
                                                  kernel::ceil_div(size.height, Kernel::kTile), 1});
  });
}

template <class Executor, class Sample>
Status launch_pyramid(Executor& executor, const SourcePair<Sample>& source, bool separable,
                      float* const (&target)[2]) {
  const Size size = next_level({source.width, source.height});
  const kernel::Grid grid{kernel::ceil_div(size.width, PyramidTile::kWide),
                          kernel::ceil_div(size.height, PyramidTile::kHigh), 2};
  if (separable) {
    return executor.launch(
        SeparablePyramid<Sample>{source, {target[0], target[1]}, size.width, size.height}, grid);
  }
  return kernel::dispatch_real64(executor, [&](auto real) {
    return executor.launch(
        TablePyramid<Sample, decltype(real)>{
            source, {target[0], target[1]}, size.width, size.height},
        grid);
  });
}

// Appends the measured words of totals first .. last of the four that `raw` holds.
inline void append_totals(const int64_t* raw, int first, int last, std::vector<uint64_t>& words) {
  for (int term = first; term <= last; ++term) {
    const auto total = exact::WideSum::from_halves(raw[2 * term], raw[2 * term + 1]);
    words.push_back(total.low_word());
    words.push_back(total.high_word());
  }
}

// The work that option sets share: each pair of plane and parameter (decimation factor or variant)
// is measured once.
class SharedJobs {
 public:
  using Job = std::pair<int, int>;  // plane, parameter
  void add(std::size_t set, Job job) {
    const auto known = std::find(jobs_.begin(), jobs_.end(), job);
    if (sets_.size() <= set) sets_.resize(set + 1);
    sets_[set].push_back(static_cast<int>(known - jobs_.begin()));
    if (known == jobs_.end()) jobs_.push_back(job);
  }
  const std::vector<Job>& jobs() const { return jobs_; }
  const std::vector<int>& of_set(std::size_t set) const { return sets_[set]; }
  int count() const { return static_cast<int>(jobs_.size()); }
  kernel::PlaneUse planes() const {
    return {true, std::any_of(jobs_.begin(), jobs_.end(), [](Job job) { return job.first > 0; })};
  }

 private:
  std::vector<Job> jobs_;
  std::vector<std::vector<int>> sets_;
};

// fp32 planes of both pictures.
template <class Executor>
struct PlanePairBuffer {
  kernel::Buffer<float, Executor> side[2];

  Status allocate(Executor& executor, int64_t samples) {
    for (auto& buffer : side) {
      VQX_ASSIGN_OR_RETURN(buffer, (kernel::Buffer<float, Executor>::allocate(
                                       executor, static_cast<std::size_t>(samples))));
    }
    return {};
  }
};

template <class Executor>
class SsimDevice final : public kernel::DeviceMetric {
 public:
  static Result<std::unique_ptr<kernel::DeviceMetric>> create(
      Executor& executor, const VideoFormat& format, std::span<const kernel::DeviceConfig> sets) {
    auto metric = std::unique_ptr<SsimDevice>(new SsimDevice(executor, format));
    int64_t area = 0;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const auto options = kernel::read_config<DeviceOptions>(sets[set]);
      for (int p = 0; p < options.planes; ++p) {
        const auto factor = static_cast<int>(options.factor[p]);
        metric->jobs_.add(set, {p, factor});
        if (factor > 1) area = std::max(area, decimated(metric->plane_size(p), factor).area());
      }
    }
    VQX_RETURN_IF_ERROR(metric->small_.allocate(executor, area));
    return std::unique_ptr<kernel::DeviceMetric>(std::move(metric));
  }

  kernel::PlaneUse planes() const override { return jobs_.planes(); }
  int raw_words() const override { return jobs_.count() * kPlaneWords; }

  Status enqueue(const kernel::DeviceFrame& frame, int64_t* raw) override {
    return format_.bit_depth > 8 ? enqueue_as<uint16_t>(frame, raw)
                                 : enqueue_as<uint8_t>(frame, raw);
  }

  Status collect(const int64_t* raw, std::span<std::vector<uint64_t>> sets) const override {
    for (std::size_t set = 0; set < sets.size(); ++set) {
      sets[set].clear();
      for (const int job : jobs_.of_set(set))
        append_totals(raw + job * kPlaneWords, 0, 3, sets[set]);
    }
    return {};
  }

  uint64_t bytes_moved() const override {
    int64_t bytes = 0;
    for (const auto& [plane, factor] : jobs_.jobs()) {
      const Size size = plane_size(plane);
      bytes += 2 * size.area() * format_.bytes_per_sample();
      if (factor > 1) bytes += 2 * 2 * decimated(size, factor).area() * int64_t{sizeof(float)};
    }
    return static_cast<uint64_t>(bytes);
  }

 private:
  SsimDevice(Executor& executor, const VideoFormat& format)
      : executor_(executor), format_(format) {}

  Size plane_size(int plane) const {
    return {format_.plane_width(plane), format_.plane_height(plane)};
  }

  template <class Sample>
  Status enqueue_as(const kernel::DeviceFrame& frame, int64_t* raw) {
    for (const auto& [plane, factor] : jobs_.jobs()) {
      const auto source = source_pair<Sample>(frame, plane, format_.bit_depth);
      const Size size = decimated({source.width, source.height}, factor);
      const Size windows = positions(size);
      if (windows.width > 0 && windows.height > 0) {
        if (factor == 1) {
          VQX_RETURN_IF_ERROR(launch_terms(executor_, source, raw));
        } else {
          float* const small[2] = {small_.side[0].data(), small_.side[1].data()};
          VQX_RETURN_IF_ERROR(launch_decimate(executor_, source, factor, small));
          VQX_RETURN_IF_ERROR(launch_terms(executor_, source_pair(small[0], small[1], size), raw));
        }
      }
      raw += kPlaneWords;
    }
    return {};
  }

  Executor& executor_;
  VideoFormat format_;
  SharedJobs jobs_;
  PlanePairBuffer<Executor> small_;
};

template <class Executor>
class MsSsimDevice final : public kernel::DeviceMetric {
 public:
  static Result<std::unique_ptr<kernel::DeviceMetric>> create(
      Executor& executor, const VideoFormat& format, std::span<const kernel::DeviceConfig> sets) {
    auto metric = std::unique_ptr<MsSsimDevice>(new MsSsimDevice(executor, format));
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const auto options = kernel::read_config<DeviceOptions>(sets[set]);
      for (int p = 0; p < options.planes; ++p)
        metric->jobs_.add(set, {p, static_cast<int>(options.separable)});
    }
    // Luma is the largest plane.  Odd levels go to the first pair of planes, even ones to the
    // other.
    const Size half = next_level({format.width, format.height});
    VQX_RETURN_IF_ERROR(metric->levels_[0].allocate(executor, half.area()));
    VQX_RETURN_IF_ERROR(metric->levels_[1].allocate(executor, next_level(half).area()));
    return std::unique_ptr<kernel::DeviceMetric>(std::move(metric));
  }

  kernel::PlaneUse planes() const override { return jobs_.planes(); }
  int raw_words() const override { return jobs_.count() * kLevels * kPlaneWords; }

  Status enqueue(const kernel::DeviceFrame& frame, int64_t* raw) override {
    return format_.bit_depth > 8 ? enqueue_as<uint16_t>(frame, raw)
                                 : enqueue_as<uint8_t>(frame, raw);
  }

  Status collect(const int64_t* raw, std::span<std::vector<uint64_t>> sets) const override {
    for (std::size_t set = 0; set < sets.size(); ++set) {
      sets[set].clear();
      for (const int job : jobs_.of_set(set))
        for (int level = 0; level < kLevels; ++level)
          append_totals(raw + (job * kLevels + level) * kPlaneWords, 1, 3, sets[set]);
    }
    return {};
  }

  // Each level is read twice, by the windows and by the next level, and all but the first written.
  uint64_t bytes_moved() const override {
    int64_t bytes = 0;
    for (const auto& [plane, separable] : jobs_.jobs()) {
      Size size{format_.plane_width(plane), format_.plane_height(plane)};
      bytes += 2 * 2 * size.area() * format_.bytes_per_sample();
      for (int level = 1; level < kLevels; ++level) {
        size = next_level(size);
        bytes += 2 * (level < kLevels - 1 ? 3 : 2) * size.area() * int64_t{sizeof(float)};
      }
    }
    return static_cast<uint64_t>(bytes);
  }

 private:
  MsSsimDevice(Executor& executor, const VideoFormat& format)
      : executor_(executor), format_(format) {}

  template <class Sample>
  Status enqueue_as(const kernel::DeviceFrame& frame, int64_t* raw) {
    for (const auto& [plane, separable] : jobs_.jobs()) {
      const auto source = source_pair<Sample>(frame, plane, format_.bit_depth);
      VQX_RETURN_IF_ERROR(enqueue_level(source, 0, separable != 0, raw));
      raw += kLevels * kPlaneWords;
    }
    return {};
  }

  template <class Sample>
  Status enqueue_level(const SourcePair<Sample>& source, int level, bool separable, int64_t* raw) {
    VQX_RETURN_IF_ERROR(launch_terms(executor_, source, raw + level * kPlaneWords));
    if (level == kLevels - 1) return {};
    const PlanePairBuffer<Executor>& next = levels_[level % 2];
    float* const target[2] = {next.side[0].data(), next.side[1].data()};
    VQX_RETURN_IF_ERROR(launch_pyramid(executor_, source, separable, target));
    const Size size = next_level({source.width, source.height});
    return enqueue_level(source_pair(target[0], target[1], size), level + 1, separable, raw);
  }

  Executor& executor_;
  VideoFormat format_;
  SharedJobs jobs_;
  PlanePairBuffer<Executor> levels_[2];
};

}  // namespace vqx::ssim
