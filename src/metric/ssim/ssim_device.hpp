// SSIM on a device: decimation, pyramid, window sums and terms as portable kernels.
//
// Integer planes stay as they were uploaded; every kernel converts what it loads.  Window sums and
// terms are templates over binary64 (hardware or software).  Decimation needs none: for factors up
// to 128 products are multiples of 2^-45 below 2^8, so 64-bit integers hold their sums exactly.
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
#include "metric/ssim/ssim_math.hpp"

namespace vqx::ssim {

// ---- planes ------------------------------------------------------------------------------------

// A plane of one picture as kernels read it: integers, or fp32 with scale 1.
template <class Sample>
struct Source {
  const std::byte* data;
  int64_t pitch;  // bytes
  float scale;

  VQX_FN float at(int x, int y) const {
    const auto* row = reinterpret_cast<const Sample*>(data + y * pitch);
    if constexpr (std::is_same_v<Sample, float>) {
      return row[x];
    } else {
      return kernel::mul(static_cast<float>(row[x]), scale);
    }
  }
};

// Both pictures' planes, of one size.
template <class Sample>
struct SourcePair {
  Source<Sample> side[2];
  int width;
  int height;

  // Chosen by value: parameters indexed by a variable would move to slow memory.
  VQX_KERNEL_FN Source<Sample> chosen(int index) const { return index == 0 ? side[0] : side[1]; }
};

template <class Sample>
SourcePair<Sample> source_pair(const kernel::DeviceFrame& frame, int plane, int bit_depth) {
  const kernel::DevicePlane& a = frame.reference[plane];
  const kernel::DevicePlane& b = frame.distorted[plane];
  const float scale = sample_scale(bit_depth);
  return {{{static_cast<const std::byte*>(a.data), a.pitch, scale},
           {static_cast<const std::byte*>(b.data), b.pitch, scale}},
          a.width,
          a.height};
}

inline SourcePair<float> source_pair(const float* a, const float* b, Size size) {
  const int64_t pitch = size.width * int64_t{sizeof(float)};
  return {{{reinterpret_cast<const std::byte*>(a), pitch, 1},
           {reinterpret_cast<const std::byte*>(b), pitch, 1}},
          size.width,
          size.height};
}

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

// mirror() without repetition: enough for windows that are narrower than the picture.
VQX_KERNEL_FN int reflect(int index, int n) {
  const int above = index < 0 ? -1 - index : index;
  return above < n ? above : 2 * n - 1 - above;
}

// ---- decimation --------------------------------------------------------------------------------

// One group makes a stretch of nodes of one row: sums down the columns of its cells first, 16 bytes
// of samples to an item, then the nodes.  Exact whatever the order, see above.  PowerOfTwo: the tap
// is one too, products are exact, and integers of code values suffice (128^2 * 65535 < 2^32).
template <class Sample, bool PowerOfTwo>
struct Decimate {
  static constexpr int kItems = 256;
  static constexpr int kPerPack = 16 / sizeof(Sample);
  static constexpr int kColumns = kItems * kPerPack;
  static constexpr int kRowsAtOnce = 8;  // loads in flight
  static constexpr int kFixed = 45;      // fractional bits of a product
  using Sum = std::conditional_t<PowerOfTwo, uint32_t, int64_t>;
  struct Shared {
    Sum columns[kColumns + kColumns / 32];  // see slot()
  };

  SourcePair<Sample> source;
  float* target[2];
  int factor;
  int nodes_wide;
  int nodes_per_group;
  float tap;

  // A group loads aligned packs, and a cell's width before its first node: what a node behind the
  // right border reflects to.
  static int nodes_of_group(int factor) { return (kColumns - kPerPack) / factor - 2; }

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const Source<Sample> in = source.chosen(group.z());
    const int margin = factor / 2;
    const int first_node = group.x() * nodes_per_group;
    const int left = first_node * factor - margin - factor;
    const int first_column = left < 0 ? 0 : left / kPerPack * kPerPack;
    const int rest = source.width - first_column;
    const int packs = kernel::ceil_div(rest < kColumns ? rest : kColumns, kPerPack);
    const int first_row = group.y() * factor - margin;
    kernel::each(group, packs, [&](int pack) {
      Sum sums[kPerPack] = {};
      sum_rows(in, first_column + pack * kPerPack, first_row, sums);
      VQX_UNROLL
      for (int i = 0; i < kPerPack; ++i) shared.columns[slot(pack * kPerPack + i)] = sums[i];
    });
    group.sync();
    const int nodes = nodes_wide - first_node;
    kernel::each(group, nodes < nodes_per_group ? nodes : nodes_per_group, [&](int node) {
      const int column = (first_node + node) * factor - margin;
      Sum sum = 0;
      for (int i = 0; i < factor; ++i) {
        sum += shared.columns[slot(reflect(column + i, source.width) - first_column)];
      }
      float* const row = (group.z() == 0 ? target[0] : target[1]) + int64_t{group.y()} * nodes_wide;
      row[first_node + node] = value(sum);
    });
  }

 private:
  // Spreads columns that are a power of two apart over the banks of work-group memory.
  VQX_KERNEL_FN static int slot(int column) { return column + column / 32; }

  VQX_KERNEL_FN void sum_rows(const Source<Sample>& in, int column, int first_row,
                              Sum (&sums)[kPerPack]) const {
    constexpr int kBits = 8 * sizeof(Sample);
    const std::byte* const top = in.data + int64_t{column} * int64_t{sizeof(Sample)};
    for (int first = 0; first < factor; first += kRowsAtOnce) {
      kernel::Bytes16 bytes[kRowsAtOnce];
      VQX_UNROLL
      for (int j = 0; j < kRowsAtOnce; ++j) {
        const int row = first + j < factor ? first + j : factor - 1;
        bytes[j] = kernel::load16(top + reflect(first_row + row, source.height) * in.pitch);
      }
      VQX_UNROLL
      for (int j = 0; j < kRowsAtOnce; ++j) {
        if (first + j >= factor) break;
        VQX_UNROLL
        for (int i = 0; i < kPerPack; ++i) {
          const int bit = i * kBits;
          sums[i] += term(bytes[j].word[bit / 32] >> bit % 32 & ((1u << kBits) - 1));
        }
      }
    }
  }

  VQX_KERNEL_FN Sum term(uint32_t code) const {
    if constexpr (PowerOfTwo) {
      return code;
    } else {
      const float sample = kernel::mul(static_cast<float>(code), source.side[0].scale);
      // An integer, below 2^53: nothing is cut off.
      return static_cast<int64_t>(kernel::mul(kernel::mul(sample, tap), 0x1p45f));
    }
  }

  VQX_KERNEL_FN float value(Sum sum) const {
    if constexpr (PowerOfTwo) {
      return kernel::mul(static_cast<float>(sum), kernel::mul(source.side[0].scale, tap));
    } else {
      return kernel::fixed_to_float(sum, kFixed);
    }
  }
};

// The common case, 8-bit pictures and powers of two from 8: a cell's rows are whole words of four
// samples, at the mirrored borders too, and every item makes a node by itself.
struct DecimateWords {
  static constexpr int kItems = 256;
  static constexpr int kRowsAtOnce = 8;
  struct Shared {};

  SourcePair<uint8_t> source;
  float* target[2];
  int factor;
  int nodes_wide;
  int nodes_high;
  float tap;

  static bool suits(int factor, int width) {
    return factor >= 8 && (factor & (factor - 1)) == 0 && width % 4 == 0;
  }

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared&) const {
    const Source<uint8_t> in = source.chosen(group.z());
    float* const out = group.z() == 0 ? target[0] : target[1];
    const float unit = kernel::mul(in.scale, tap);
    kernel::each<kItems>(group, [&](int item) {
      const int node = group.x() * kItems + item;
      if (node >= nodes_wide * nodes_high) return;
      const int column = node % nodes_wide * factor - factor / 2;
      const int first_row = node / nodes_wide * factor - factor / 2;
      uint32_t sum = 0;
      for (int i = 0; i < factor; i += 8) {
        // Mirrored, a word's first column is the last of another word.
        const int x0 = reflect(column + i, source.width) & ~3;
        const int x1 = reflect(column + i + 4, source.width) & ~3;
        for (int first = 0; first < factor; first += kRowsAtOnce) {
          uint32_t words[2][kRowsAtOnce];
          VQX_UNROLL
          for (int j = 0; j < kRowsAtOnce; ++j) {
            const std::byte* const row =
                in.data + reflect(first_row + first + j, source.height) * in.pitch;
            words[0][j] = kernel::load4(row + x0);
            words[1][j] = kernel::load4(row + x1);
          }
          VQX_UNROLL
          for (int j = 0; j < kRowsAtOnce; ++j) {
            sum = kernel::dot4(words[0][j], 0x01010101u, sum);
            sum = kernel::dot4(words[1][j], 0x01010101u, sum);
          }
        }
      }
      out[node] = kernel::mul(static_cast<float>(sum), unit);
    });
  }
};

// ---- windows and terms -------------------------------------------------------------------------

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
Status launch_decimate(Executor& executor, const SourcePair<Sample>& source, int factor,
                       float* const (&target)[2]) {
  const Size size = decimated({source.width, source.height}, factor);
  const float tap = 1.0f / static_cast<float>(factor * factor);
  if constexpr (sizeof(Sample) == 1) {
    if (DecimateWords::suits(factor, source.width)) {
      const DecimateWords kernel{source, {target[0], target[1]}, factor, size.width, size.height,
                                 tap};
      return executor.launch(
          kernel, {kernel::ceil_div(size.width * size.height, DecimateWords::kItems), 1, 2});
    }
  }
  const auto launch = [&](auto kernel) {
    kernel.source = source;
    kernel.target[0] = target[0];
    kernel.target[1] = target[1];
    kernel.factor = factor;
    kernel.nodes_wide = size.width;
    kernel.nodes_per_group = kernel.nodes_of_group(factor);
    kernel.tap = tap;
    return executor.launch(kernel,
                           {kernel::ceil_div(size.width, kernel.nodes_per_group), size.height, 2});
  };
  return (factor & (factor - 1)) == 0 ? launch(Decimate<Sample, true>{})
                                      : launch(Decimate<Sample, false>{});
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
