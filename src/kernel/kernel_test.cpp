// The kernel language on the host executor: each construct gives what a plain loop gives.
#include "kernel/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "exact/wide_sum.hpp"
#include "kernel/host_executor.hpp"

namespace vqx::kernel {
namespace {

template <class T>
using HostBuffer = Buffer<T, HostExecutor>;

// Transposes 112 x 112 tiles through work-group memory larger than CUDA's 48 KB default.
struct Transpose {
  static constexpr int kItems = 256;
  struct Shared {
    int32_t tile[112 * 113];
  };
  const int32_t* source;
  int32_t* target;
  int width, height;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const int x0 = group.x() * 112;
    const int y0 = group.y() * 112;
    each<112, 112>(group, [&](int x, int y) {
      const bool inside = x0 + x < width && y0 + y < height;
      shared.tile[y * 113 + x] = inside ? source[(y0 + y) * width + x0 + x] : 0;
    });
    group.sync();
    each<112, 112>(group, [&](int x, int y) {
      if (y0 + x < height && x0 + y < width) {
        target[(x0 + y) * height + y0 + x] = shared.tile[x * 113 + y];
      }
    });
  }
};

TEST(Kernel, TransposesThroughWorkGroupMemory) {
  constexpr int kWidth = 301, kHeight = 217;
  HostExecutor executor;
  auto source = HostBuffer<int32_t>::allocate(executor, kWidth * kHeight).value();
  auto target = HostBuffer<int32_t>::allocate(executor, kWidth * kHeight).value();
  std::iota(source.data(), source.data() + source.size(), 0);
  ASSERT_TRUE(executor
                  .launch(Transpose{source.data(), target.data(), kWidth, kHeight},
                          {ceil_div(kWidth, 112), ceil_div(kHeight, 112)})
                  .ok());
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      ASSERT_EQ(target.data()[x * kHeight + y], y * kWidth + x);
    }
  }
}

// Running maximum of each column over the rows, kept as state across sync().
struct ColumnMaximum {
  static constexpr int kItems = 64;
  struct Shared {
    int32_t row[100];
  };
  const int32_t* source;
  int32_t* target;
  int rows;
  int64_t* sum;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    auto largest = make_state<int32_t, 100>(group);
    for (int y = 0; y < rows; ++y) {
      each<100>(group, [&](int x) { shared.row[x] = source[y * 100 + x]; });
      group.sync();
      each(group, largest,
           [&](int x, int, int32_t& value) { value = detail::larger(value, shared.row[99 - x]); });
      group.sync();
    }
    each(group, largest, [&](int x, int, int32_t& value) { target[x] = value; });
    const auto total =
        sum_each<1>(group, largest, [](int, int, int32_t& value, Sums<1>& s) { s[0] += value; });
    add_to_global(group, sum, total);
  }
};

TEST(Kernel, StateSurvivesSync) {
  constexpr int kRows = 7;
  HostExecutor executor;
  auto source = HostBuffer<int32_t>::allocate(executor, 100 * kRows).value();
  auto target = HostBuffer<int32_t>::allocate(executor, 100).value();
  auto sum = HostBuffer<int64_t>::allocate(executor, 1).value();
  std::mt19937 random(1);
  for (size_t i = 0; i < source.size(); ++i) source.data()[i] = static_cast<int32_t>(random() >> 8);
  ASSERT_TRUE(
      executor.launch(ColumnMaximum{source.data(), target.data(), kRows, sum.data()}, {}).ok());
  int64_t expected_sum = 0;
  for (int x = 0; x < 100; ++x) {
    int32_t expected = 0;
    for (int y = 0; y < kRows; ++y) {
      expected = std::max(expected, source.data()[y * 100 + 99 - x]);
    }
    EXPECT_EQ(target.data()[x], expected);
    expected_sum += expected;
  }
  EXPECT_EQ(sum.data()[0], expected_sum);
}

// Wide sums of large terms: int64 alone would overflow.
struct WideSum {
  static constexpr int kItems = 128;
  struct Shared {};
  const int64_t* terms;
  int count;
  int64_t* words;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared&) const {
    const int first = group.x() * 1000;
    const int left = count - first;
    const auto total = sum_each<2>(group, left < 1000 ? left : 1000, [&](int i, Sums<2>& sums) {
      sums.add_wide(0, terms[first + i]);
    });
    add_to_global(group, words, total);
  }
};

TEST(Kernel, WideSumsDoNotOverflow) {
  constexpr int kCount = 12345;
  HostExecutor executor;
  auto terms = HostBuffer<int64_t>::allocate(executor, kCount).value();
  auto words = HostBuffer<int64_t>::allocate(executor, 2).value();
  std::mt19937_64 random(2);
  exact::WideSum expected;
  for (int i = 0; i < kCount; ++i) {
    terms.data()[i] = static_cast<int64_t>(random()) / (i % 3 == 0 ? 1 : 2);
    if (i % 2 == 0) terms.data()[i] = std::abs(terms.data()[i]);
    expected.add(terms.data()[i]);
  }
  ASSERT_TRUE(
      executor.launch(WideSum{terms.data(), kCount, words.data()}, {ceil_div(kCount, 1000)}).ok());
  EXPECT_EQ(exact::WideSum::from_halves(words.data()[0], words.data()[1]), expected);
}

// A selection in two chained kernels: a histogram, then the bin that holds the k-th smallest value,
// which stays in device memory for the last kernel.
struct Histogram {
  static constexpr int kItems = 256;
  struct Shared {
    uint32_t bins[256];
  };
  const uint8_t* values;
  int count;
  uint32_t* bins;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    each<256>(group, [&](int i) { shared.bins[i] = 0; });
    group.sync();
    const int first = group.x() * 4096;
    const int left = count - first;
    each(group, left < 4096 ? left : 4096,
         [&](int i) { shared_add(&shared.bins[values[first + i]], 1); });
    group.sync();
    each<256>(group, [&](int i) {
      if (shared.bins[i] != 0) global_add(&bins[i], shared.bins[i]);
    });
  }
};

struct FindRank {
  static constexpr int kItems = 64;
  struct Shared {
    uint32_t before[256];
  };
  const uint32_t* bins;
  uint32_t rank;
  uint32_t* value;
  uint32_t* total;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    each<256>(group, [&](int i) { shared.before[i] = bins[i]; });
    const uint32_t all = exclusive_scan<256>(group, shared.before);
    each<256>(group, [&](int i) {
      if (shared.before[i] <= rank && rank < shared.before[i] + bins[i]) {
        *value = static_cast<uint32_t>(i);
      }
      if (i == 0) *total = all;
    });
  }
};

struct CountAtMost {
  static constexpr int kItems = 64;
  struct Shared {};
  const uint8_t* values;
  int count;
  const uint32_t* limit;  // device-side value
  uint32_t* smallest_above;
  uint64_t* largest;
  int64_t* result;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared&) const {
    const uint32_t bound = *limit;
    const auto total = sum_each<1>(
        group, count, [&](int i, Sums<1>& sums) { sums[0] += values[i] <= bound ? 1 : 0; });
    add_to_global(group, result, total);
    each(group, count, [&](int i) {
      if (values[i] > bound) global_min(smallest_above, values[i]);
      global_max(largest, values[i]);
    });
  }
};

TEST(Kernel, ChainsKernelsThroughDeviceValues) {
  constexpr int kCount = 50000;
  constexpr uint32_t kRank = 31000;
  HostExecutor executor;
  auto values = HostBuffer<uint8_t>::allocate(executor, kCount).value();
  auto bins = HostBuffer<uint32_t>::allocate(executor, 256).value();
  auto found = HostBuffer<uint32_t>::allocate(executor, 3).value();
  auto result = HostBuffer<int64_t>::allocate(executor, 2).value();
  std::mt19937 random(3);
  for (int i = 0; i < kCount; ++i) {
    values.data()[i] = static_cast<uint8_t>((random() % 256) * (random() % 256) / 256);
  }
  found.data()[2] = 1000;
  auto* largest = reinterpret_cast<uint64_t*>(result.data() + 1);
  ASSERT_TRUE(
      executor.launch(Histogram{values.data(), kCount, bins.data()}, {ceil_div(kCount, 4096)})
          .ok());
  ASSERT_TRUE(
      executor.launch(FindRank{bins.data(), kRank, found.data(), found.data() + 1}, {}).ok());
  ASSERT_TRUE(executor
                  .launch(CountAtMost{values.data(), kCount, found.data(), found.data() + 2,
                                      largest, result.data()},
                          {})
                  .ok());

  std::vector<uint8_t> sorted(values.data(), values.data() + kCount);
  std::sort(sorted.begin(), sorted.end());
  const auto above = std::upper_bound(sorted.begin(), sorted.end(), sorted[kRank]);
  EXPECT_EQ(found.data()[0], sorted[kRank]);
  EXPECT_EQ(found.data()[1], uint32_t{kCount});
  EXPECT_EQ(result.data()[0], above - sorted.begin());
  EXPECT_EQ(found.data()[2], *above);
  EXPECT_EQ(*largest, sorted.back());
}

struct MarkGroup {
  static constexpr int kItems = 64;
  struct Shared {};
  uint32_t* seen;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared&) const {
    const Grid grid = group.grid();
    each<1>(group, [&](int) {
      global_add(&seen[(group.z() * grid.y + group.y()) * grid.x + group.x()], 1);
    });
  }
};

TEST(Kernel, RunsEveryGroupOfTheGridOnce) {
  HostExecutor executor;
  const Grid grid{5, 7, 3};
  auto seen = HostBuffer<uint32_t>::allocate(executor, 105).value();
  ASSERT_TRUE(executor.launch(MarkGroup{seen.data()}, grid).ok());
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen.data()[i], 1u);
}

}  // namespace
}  // namespace vqx::kernel
