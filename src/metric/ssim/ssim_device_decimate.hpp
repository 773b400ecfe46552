// SSIM's decimation on a device: a node is the mean of a cell of factor x factor samples.
//
// No binary64 is needed: for factors up to 128 products are multiples of 2^-45 below 2^8, so 64-bit
// integers hold their sums exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "metric/ssim/ssim_device_planes.hpp"

namespace vqx::ssim {

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

}  // namespace vqx::ssim
