// How the SIMD measurement walks a scale: which positions it needs, and the rows it works on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/scratch.hpp"
#include "metric/adm/adm.hpp"
#include "metric/adm/adm_math.hpp"

namespace vqx::adm {

// One axis of one scale.  Only the central 80 % of each scale is scored, so the transform skips
// what neither this scale's score nor a coarser one needs.
struct Axis {
  int input_size = 0;  // of the plane that is transformed
  int size = 0;        // of the bands
  Range needed;        // positions computed: for the coarser scales, or as below
  Range scored;
  Range masked;  // scored positions and their neighbours

  // Input samples that the needed positions read, mirrored ones included.
  Range inputs() const {
    return {std::max(2 * needed.begin - 1, 0), std::min(2 * needed.end + 1, input_size)};
  }
};

inline void plan_axis(int size, Axis (&axes)[kScales]) {
  for (Axis& axis : axes) {
    axis.input_size = size;
    axis.size = size = (size + 1) / 2;
    axis.scored = scored_range(size);
    axis.masked = {std::max(axis.scored.begin - 1, 0), std::min(axis.scored.end + 1, size)};
    axis.needed = axis.masked;
  }
  for (int s = kScales - 2; s >= 0; --s) {
    const Range inputs = axes[s + 1].inputs();
    axes[s].needed.begin = std::min(axes[s].needed.begin, inputs.begin);
    axes[s].needed.end = std::max(axes[s].needed.end, inputs.end);
  }
}

// Rows have room for vectors that overrun them and for mirrored samples on their left.
inline constexpr int kRowPad = 64;
inline constexpr std::ptrdiff_t row_stride(int size) {
  return (size + 2 * kRowPad + 31) / 32 * 32;
}

// The needed part of a low band `a`.
struct LowBand {
  LowBand(ScratchPool& pool, Range columns, Range rows)
      : first_column(columns.begin),
        first_row(rows.begin),
        stride(row_stride(columns.size())),
        samples(pool, static_cast<std::size_t>(stride) * rows.size()) {}
  // Pointer to column `first_column` of a row.
  std::int32_t* row(int y) { return samples.data() + (y - first_row) * stride + kRowPad; }
  const std::int32_t* row(int y) const {
    return samples.data() + (y - first_row) * stride + kRowPad;
  }

  int first_column;
  int first_row;
  std::ptrdiff_t stride;
  ScratchArray<std::int32_t> samples;
};

// A distinct way to decouple and mask, shared by all option sets that ask for it.
struct Job {
  double gain_limit;
  FixedWeights weights;
  bool additive;  // whether anyone wants the additive energies
};

struct JobSums {
  std::int64_t restored[kBands] = {};
  std::int64_t additive[kBands] = {};
};

// Whole rows [rows.begin, rows.end) of one scale; `rows` is a part of the needed ones.
struct Chunk {
  int scale;
  int bit_depth;
  const Axis* columns;
  const Axis* lines;
  Range rows;
  const Plane* pictures[2];  // reference and distorted: the input of scale 0
  const LowBand* inputs[2];  // the input of scales 1..3
  LowBand* low[2];           // where rows' low bands go; null at the last scale
  std::span<const Job> jobs;
  ScratchPool* scratch;
  JobSums* sums;             // one per job
  std::uint64_t* reference;  // kBands sums
};

}  // namespace vqx::adm
