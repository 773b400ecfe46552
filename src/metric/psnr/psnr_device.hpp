// PSNR on a device: exact sums of squared differences, one per plane.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "kernel/device_metric.hpp"
#include "kernel/kernel.hpp"
#include "metric/psnr/psnr_math.hpp"

namespace vqx::psnr {

// The squared differences of 16 bytes of samples.  16 * 255^2 and 8 * 65535^2 fit 64 bits.
template <class Sample>
VQX_FN int64_t squared_differences(const kernel::Bytes16& a, const kernel::Bytes16& b) {
  if constexpr (sizeof(Sample) == 1) {
    // Of bytes, a^2 + b^2 - 2 a b takes fewest instructions.
    uint32_t squares = 0;
    uint32_t products = 0;
    VQX_UNROLL
    for (int w = 0; w < 4; ++w) {
      squares = kernel::dot4(a.word[w], a.word[w], squares);
      squares = kernel::dot4(b.word[w], b.word[w], squares);
      products = kernel::dot4(a.word[w], b.word[w], products);
    }
    return static_cast<int64_t>(squares - 2 * products);
  } else {
    uint64_t sum = 0;
    VQX_UNROLL
    for (int w = 0; w < 4; ++w) {
      VQX_UNROLL
      for (int shift = 0; shift < 32; shift += 16) {
        const int difference = static_cast<int>(a.word[w] >> shift & 0xffff) -
                               static_cast<int>(b.word[w] >> shift & 0xffff);
        sum += static_cast<uint32_t>(difference) * static_cast<uint32_t>(difference);
      }
    }
    return static_cast<int64_t>(sum);
  }
}

// A pair of planes as one long row of 16-byte packs: rows are contiguous, and their padding is zero
// in both pictures.
struct PlanePacks {
  const std::byte* reference;
  const std::byte* distorted;
  int packs;
  int first_group;
};

template <class Sample>
struct SumSquares {
  static constexpr int kItems = 256;
  static constexpr int kPacksPerItem = 4;  // loads in flight
  static constexpr int kPacksPerGroup = kPacksPerItem * kItems;
  struct Shared {};

  PlanePacks planes[3];
  int64_t* sums;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared&) const {
    if (group.x() < planes[1].first_group) {
      sum_plane(group, planes[0], sums);
    } else if (group.x() < planes[2].first_group) {
      sum_plane(group, planes[1], sums + 1);
    } else {
      sum_plane(group, planes[2], sums + 2);
    }
  }

 private:
  template <class Group>
  VQX_KERNEL_FN static void sum_plane(Group& group, const PlanePacks& plane,
                                      int64_t* sum_of_plane) {
    const int first = (group.x() - plane.first_group) * kPacksPerGroup;
    const int left = plane.packs - first;
    const int count = left < kPacksPerGroup ? left : kPacksPerGroup;
    const std::byte* a = plane.reference + int64_t{first} * 16;
    const std::byte* b = plane.distorted + int64_t{first} * 16;
    auto total = kernel::sum_each<1, kItems>(group, [&](int item, int, kernel::Sums<1>& sum) {
      kernel::Bytes16 packs_a[kPacksPerItem];
      kernel::Bytes16 packs_b[kPacksPerItem];
      VQX_UNROLL
      for (int j = 0; j < kPacksPerItem; ++j) {
        // Behind the end the last pack of one picture stands for both: no difference.
        const int i = item + j * kItems;
        const int64_t offset = int64_t{i < count ? i : count - 1} * 16;
        packs_a[j] = kernel::load16(a + offset);
        packs_b[j] = kernel::load16((i < count ? b : a) + offset);
      }
      VQX_UNROLL
      for (int j = 0; j < kPacksPerItem; ++j) {
        sum[0] += squared_differences<Sample>(packs_a[j], packs_b[j]);
      }
    });
#if defined(VQX_BREAK_KERNEL)
    if (first == 0) total[0] += 1;  // to see verification fail
#endif
    kernel::add_to_global(group, sum_of_plane, total);
  }
};

template <class Executor>
class PsnrDevice final : public kernel::DeviceMetric {
 public:
  static Result<std::unique_ptr<kernel::DeviceMetric>> create(
      Executor& executor, const VideoFormat& format, std::span<const kernel::DeviceConfig> sets) {
    auto metric = std::unique_ptr<PsnrDevice>(new PsnrDevice(executor, format));
    for (const kernel::DeviceConfig& set : sets) {
      metric->planes_of_set_.push_back(
          static_cast<int>(kernel::read_config<DeviceOptions>(set).planes));
    }
    metric->planes_ =
        *std::max_element(metric->planes_of_set_.begin(), metric->planes_of_set_.end());
    return std::unique_ptr<kernel::DeviceMetric>(std::move(metric));
  }

  kernel::PlaneUse planes() const override { return {true, planes_ > 1}; }
  int raw_words() const override { return 3; }

  Status enqueue(const kernel::DeviceFrame& frame, int64_t* raw) override {
    return format_.bit_depth > 8 ? enqueue_as<uint16_t>(frame, raw)
                                 : enqueue_as<uint8_t>(frame, raw);
  }

  Status collect(const int64_t* raw, std::span<std::vector<uint64_t>> sets) const override {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      sets[i].assign(3, 0);
      for (int p = 0; p < planes_of_set_[i]; ++p) sets[i][p] = static_cast<uint64_t>(raw[p]);
    }
    return {};
  }

  uint64_t bytes_moved() const override {
    uint64_t samples = 0;
    for (int p = 0; p < planes_; ++p) {
      samples += uint64_t(format_.plane_width(p)) * uint64_t(format_.plane_height(p));
    }
    return 2 * samples * uint64_t(format_.bytes_per_sample());
  }

 private:
  PsnrDevice(Executor& executor, const VideoFormat& format)
      : executor_(executor), format_(format) {}

  template <class Sample>
  Status enqueue_as(const kernel::DeviceFrame& frame, int64_t* raw) {
    SumSquares<Sample> kernel{};
    kernel.sums = raw;
    int groups = 0;
    for (int p = 0; p < 3; ++p) {
      kernel.planes[p].first_group = groups;
      if (p >= planes_) continue;
      const kernel::DevicePlane& plane = frame.reference[p];
      const int packs = plane.pitch / 16 * plane.height;
      kernel.planes[p] = {static_cast<const std::byte*>(plane.data),
                          static_cast<const std::byte*>(frame.distorted[p].data), packs, groups};
      groups += kernel::ceil_div(packs, kernel.kPacksPerGroup);
    }
    return executor_.launch(kernel, {groups, 1, 1});
  }

  Executor& executor_;
  VideoFormat format_;
  std::vector<int> planes_of_set_;
  int planes_ = 1;
};

}  // namespace vqx::psnr
