// The sum of the largest c-values of each scale on a device: an exact top-k by the values' bits.  A
// coarse histogram finds the bin that holds the k-th value, a fine one counts inside it.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "metric/cambi/cambi_device_config.hpp"
#include "metric/cambi/cambi_math.hpp"

namespace vqx::cambi {

namespace k = vqx::kernel;

// A c-value's key is its bits above those of 0.5, the smallest but zero: 13 coarse bits, 14 fine.
inline constexpr int kDeviceFineBits = 14;
inline constexpr int kDeviceFineBins = 1 << kDeviceFineBits;
inline constexpr int kDeviceCoarseBins = 1 << 13;

struct SelectScale {
  const uint32_t* values;
  int64_t count;
  int64_t wanted;  // k
};

// What the selection of one scale leaves in device memory.
struct Selection {
  uint32_t coarse[kDeviceCoarseBins];
  uint32_t fine[kDeviceFineBins];
  int64_t bin;   // coarse bin of the k-th largest; -1: all that are not zero are pooled
  int64_t left;  // how many of that bin are pooled
};

inline constexpr int kValuesPerGroup = 1 << 15;

struct CountCoarse {
  static constexpr int kItems = 512;
  struct Shared {
    uint32_t bins[kDeviceCoarseBins];
  };
  SelectScale scales[kScales];
  Selection* selections;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const SelectScale& scale = scales[group.z()];
    const int64_t first = int64_t{group.x()} * kValuesPerGroup;
    if (first >= scale.count) return;
    const int64_t rest = scale.count - first;
    const int count = rest < kValuesPerGroup ? static_cast<int>(rest) : kValuesPerGroup;
    k::each<kDeviceCoarseBins>(group, [&](int i) { shared.bins[i] = 0; });
    group.sync();
    k::each(group, count, [&](int i) {
      const uint32_t bits = scale.values[first + i];
      if (bits != 0) k::shared_add(&shared.bins[(bits - kHalfBits) >> kDeviceFineBits], 1u);
    });
    group.sync();
    uint32_t* const total = selections[group.z()].coarse;
    k::each<kDeviceCoarseBins>(group, [&](int i) {
      if (shared.bins[i] != 0) k::global_add(total + i, shared.bins[i]);
    });
  }
};

// One group a scale: the coarse bin that holds the k-th largest value.
struct FindBin {
  static constexpr int kItems = 512;
  struct Shared {
    uint32_t before[kDeviceCoarseBins];  // in larger bins, by descending bin
  };
  SelectScale scales[kScales];
  Selection* selections;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const int64_t wanted = scales[group.x()].wanted;
    Selection& selection = selections[group.x()];
    k::each<kDeviceCoarseBins>(
        group, [&](int i) { shared.before[i] = selection.coarse[kDeviceCoarseBins - 1 - i]; });
    const uint32_t total = k::exclusive_scan<kDeviceCoarseBins>(group, shared.before);
    if (static_cast<int64_t>(total) < wanted) {
      if (group.item() == 0) {
        selection.bin = -1;
        selection.left = 0;
      }
      return;
    }
    k::each<kDeviceCoarseBins>(group, [&](int i) {
      const int bin = kDeviceCoarseBins - 1 - i;
      const int64_t before = shared.before[i];
      if (before >= wanted || before + selection.coarse[bin] < wanted) return;
      selection.bin = bin;
      selection.left = wanted - before;
    });
  }
};

// Sums what lies above the bin, and counts what lies inside by its fine bits: two counts to a word,
// since no group has more than 2^15 values.
struct CountFine {
  static constexpr int kItems = 512;
  struct Shared {
    uint32_t bins[kDeviceFineBins / 2];
  };
  SelectScale scales[kScales];
  Selection* selections;
  int64_t* sums;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const SelectScale& scale = scales[group.z()];
    const int64_t first = int64_t{group.x()} * kValuesPerGroup;
    if (first >= scale.count) return;
    const int64_t rest = scale.count - first;
    const int count = rest < kValuesPerGroup ? static_cast<int>(rest) : kValuesPerGroup;
    const int64_t bin = selections[group.z()].bin;
    if (bin >= 0) {
      k::each<kDeviceFineBins / 2>(group, [&](int i) { shared.bins[i] = 0; });
      group.sync();
    }
    const auto total = k::sum_each<1>(group, count, [&](int i, k::Sums<1>& sum) {
      const uint32_t bits = scale.values[first + i];
      if (bits == 0) return;
      const uint32_t key = bits - kHalfBits;
      const int64_t coarse = key >> kDeviceFineBits;
      if (coarse > bin) {
        sum[0] += static_cast<int64_t>(units_of_bits(bits));
      } else if (coarse == bin) {
        const uint32_t fine = key & (kDeviceFineBins - 1);
        k::shared_add(&shared.bins[fine / 2], 1u << (fine % 2 * 16));
      }
    });
    k::add_to_global(group, sums + group.z(), total);
    if (bin < 0) return;
    group.sync();
    uint32_t* const fine = selections[group.z()].fine;
    k::each<kDeviceFineBins>(group, [&](int i) {
      const uint32_t here = shared.bins[i / 2] >> (i % 2 * 16) & 0xffff;
      if (here != 0) k::global_add(fine + i, here);
    });
  }
};

// One group a scale: the sum of those inside the bin that are pooled, half of the bins at a time.
struct AddFine {
  static constexpr int kItems = 512;
  static constexpr int kHalf = kDeviceFineBins / 2;
  struct Shared {
    uint32_t before[kHalf];  // in larger bins of the half, by descending bin
  };
  Selection* selections;
  int64_t* sums;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const Selection& selection = selections[group.x()];
    if (selection.bin < 0) return;
    int64_t left = selection.left;
    for (int first = kDeviceFineBins - 1; first > 0; first -= kHalf) {
      k::each<kHalf>(group, [&](int i) { shared.before[i] = selection.fine[first - i]; });
      const uint32_t all = k::exclusive_scan<kHalf>(group, shared.before);
      k::add_to_global(group, sums + group.x(), sum_of_half(group, shared, first, left));
      left -= all;
    }
  }

 private:
  template <class Group>
  VQX_KERNEL_FN k::Sums<1> sum_of_half(Group& group, const Shared& shared, int first,
                                       int64_t left) const {
    const Selection& selection = selections[group.x()];
    const uint32_t base = kHalfBits + (static_cast<uint32_t>(selection.bin) << kDeviceFineBits);
    return k::sum_each<1>(group, kHalf, [&](int i, k::Sums<1>& sum) {
      const int bin = first - i;
      const int64_t room = left - static_cast<int64_t>(shared.before[i]);
      const int64_t here = selection.fine[bin];
      if (room <= 0 || here == 0) return;
      const int64_t taken = here < room ? here : room;
      sum[0] += taken * static_cast<int64_t>(units_of_bits(base + static_cast<uint32_t>(bin)));
    });
  }
};

}  // namespace vqx::cambi
