// `adm` with SIMD.  A scale is one pass over its rows: both wavelets of a row, its decoupling and
// weighting, and, as soon as a row's neighbours are there, its masked energies.  Detail bands never
// reach memory beyond the cache; only the low band does, as the next scale's input.
#include <bit>
#include <cstring>

#include "metric/adm/adm.hpp"
#include "metric/adm/adm_math.hpp"
#include "metric/adm/adm_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/adm/adm_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/adm/adm_simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::adm::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
// Machines below SSE4 measure by the reference (see simd_is_scalar).
void MeasureChunk(const Chunk& /*chunk*/) {}
#else

// Rows of one job at one position of its ring of three.
enum JobRow {
  kRestored = 0,
  kAdditive = 3,
  kRestoredMasker = 6,
  kAdditiveMasker = 8,
  kJobRows = 10
};

class ChunkWorker {
 public:
  explicit ChunkWorker(const Chunk& chunk)
      : chunk_(chunk),
        columns_(*chunk.columns),
        lines_(*chunk.lines),
        scored_{std::max(chunk.rows.begin, lines_.scored.begin),
                std::min(chunk.rows.end, lines_.scored.end)},
        band_stride_(row_stride(columns_.needed.size())),
        input_stride_(row_stride(columns_.inputs().size())),
        arena_(*chunk.scratch, ArenaSize()) {
    filtered_[0] = arena_.data() + kRowPad;
    filtered_[1] = filtered_[0] + input_stride_;
    bands_ = filtered_[1] + input_stride_;
    job_rows_ = bands_ + 7 * band_stride_;
  }

  void Run() {
    const bool scores = scored_.size() > 0;
    const Range masked{std::max(scored_.begin - 1, 0), std::min(scored_.end + 1, lines_.size)};
    const Range rows{scores ? std::min(chunk_.rows.begin, masked.begin) : chunk_.rows.begin,
                     scores ? std::max(chunk_.rows.end, masked.end) : chunk_.rows.end};
    for (int y = rows.begin; y < rows.end; ++y) {
      Transform(y, 0);
      Transform(y, 1);
      if (!scores || y < masked.begin || y >= masked.end) continue;
      Decouple(y);
      if (y >= scored_.begin && y < scored_.end) ReferenceEnergy();
      if (y > scored_.begin) MaskedEnergies(y - 1);
      if (y == lines_.size - 1 && scored_.end == lines_.size) MaskedEnergies(y);
    }
  }

 private:
  std::size_t ArenaSize() const {
    return static_cast<std::size_t>(
        2 * input_stride_ +
        (7 + 3 * kJobRows * static_cast<std::ptrdiff_t>(chunk_.jobs.size())) * band_stride_);
  }
  int32_t* band(int side, int b) { return bands_ + (side * kBands + b) * band_stride_; }
  int32_t* job_row(std::size_t job, int y, int which) {
    return job_rows_ +
           ((static_cast<std::ptrdiff_t>(job) * 3 + y % 3) * kJobRows + which) * band_stride_;
  }

  void Transform(int y, int side) {
    const int scale = chunk_.scale;
    const Range inputs = columns_.inputs();
    const TransformShifts shifts = transform_shifts(scale, chunk_.bit_depth);
    int source[4];
    for (int t = 0; t < 4; ++t) source[t] = transform_index(2 * y - 1 + t, lines_.input_size);
    int32_t* low_band = chunk_.low[side] != nullptr && y >= chunk_.rows.begin && y < chunk_.rows.end
                            ? chunk_.low[side]->row(y)
                            : bands_ + 6 * band_stride_;
    const BandRows out{low_band, band(side, 0), band(side, 1), band(side, 2)};
    // Filtered rows start at the first input column; outputs at the first needed one.
    const int first = 2 * columns_.needed.begin - 1 - inputs.begin;
    const int count = columns_.needed.size();
    if (scale == 0) {
      auto* low = reinterpret_cast<int16_t*>(filtered_[0]);
      auto* high = reinterpret_cast<int16_t*>(filtered_[1]);
      const Plane& plane = *chunk_.pictures[side];
      if (chunk_.bit_depth == 8) {
        const uint8_t* rows[4];
        for (int t = 0; t < 4; ++t) rows[t] = plane.row<uint8_t>(source[t]) + inputs.begin;
        VerticalFine(rows, inputs.size(), 8, low, high);
      } else {
        const uint16_t* rows[4];
        for (int t = 0; t < 4; ++t) rows[t] = plane.row<uint16_t>(source[t]) + inputs.begin;
        VerticalFine(rows, inputs.size(), chunk_.bit_depth, low, high);
      }
      Mirror(low, inputs);
      Mirror(high, inputs);
      HorizontalFine(low + first, high + first, count, out);
      return;
    }
    const int32_t* rows[4];
    const LowBand& input = *chunk_.inputs[side];
    for (int t = 0; t < 4; ++t)
      rows[t] = input.row(source[t]) + (inputs.begin - input.first_column);
    if (scale == 1)
      VerticalExact(rows, inputs.size(), filtered_[0], filtered_[1]);
    else
      VerticalWide(rows, inputs.size(), filtered_[0], filtered_[1]);
    Mirror(filtered_[0], inputs);
    Mirror(filtered_[1], inputs);
    HorizontalWide(filtered_[0] + first, filtered_[1] + first, count, shifts.horizontal, out);
  }

  // Samples beyond either end of the input, where the needed positions reach it.
  template <class T>
  void Mirror(T* row, Range inputs) const {
    if (inputs.begin == 0) row[-1] = row[1];
    if (inputs.end == columns_.input_size) {
      T* end = row + inputs.size();
      end[0] = end[-1];
      end[1] = end[-2];
    }
  }

  void Decouple(int y) {
    const int skip = columns_.masked.begin - columns_.needed.begin;
    DecoupleRows in;
    for (int b = 0; b < kBands; ++b) {
      in.original[b] = band(0, b) + skip;
      in.test[b] = band(1, b) + skip;
    }
    const int count = columns_.masked.size();
    for (std::size_t j = 0; j < chunk_.jobs.size(); ++j) {
      const Job& job = chunk_.jobs[j];
      JobRows out;
      for (int r = 0; r < kJobRows; ++r) out.row[r] = job_row(j, y, r);
      if (chunk_.scale == 0)
        DecoupleRow<true>(in, count, job, out);
      else
        DecoupleRow<false>(in, count, job, out);
      for (const int masker : {kRestoredMasker, kAdditiveMasker}) {
        int32_t* neighbours = out.row[masker];
        if (columns_.masked.begin == 0) neighbours[-1] = neighbours[1];
        if (columns_.masked.end == columns_.size) neighbours[count] = neighbours[count - 1];
      }
    }
  }

  void ReferenceEnergy() {
    const int skip = columns_.scored.begin - columns_.needed.begin;
    const ReferenceShifts shifts =
        reference_shifts(chunk_.scale, columns_.scored.size(), lines_.scored.size());
    for (int b = 0; b < kBands; ++b)
      chunk_.reference[b] += round_shift_unsigned(
          ReferenceRow(band(0, b) + skip, columns_.scored.size(), shifts), shifts.row);
  }

  void MaskedEnergies(int y) {
    const int above = window_index(y - 1, lines_.size);
    const int below = window_index(y + 1, lines_.size);
    const int skip = columns_.scored.begin - columns_.masked.begin;
    const int count = columns_.scored.size();
    for (std::size_t j = 0; j < chunk_.jobs.size(); ++j) {
      const auto energies = [&](int signal, int masker, std::int64_t(&sums)[kBands]) {
        EnergyRows rows;
        for (int b = 0; b < kBands; ++b) {
          rows.signal[b] = job_row(j, y, signal + b) + skip;
          rows.shifts[b] = energy_shifts(chunk_.scale, b == 2, columns_.size);
        }
        rows.masker[0] = job_row(j, above, masker) + skip;
        rows.masker[1] = job_row(j, y, masker) + skip;
        rows.masker[2] = job_row(j, below, masker) + skip;
        rows.centre = job_row(j, y, masker + 1) + skip;
        std::int64_t row_sums[kBands];
        EnergyRow(rows, count, row_sums);
        const int row_shift = ceil_log2(static_cast<std::uint64_t>(lines_.size));
        for (int b = 0; b < kBands; ++b) sums[b] += round_shift(row_sums[b], row_shift);
      };
      energies(kRestored, kAdditiveMasker, chunk_.sums[j].restored);
      if (chunk_.jobs[j].additive) energies(kAdditive, kRestoredMasker, chunk_.sums[j].additive);
    }
  }

  const Chunk& chunk_;
  const Axis& columns_;
  const Axis& lines_;
  const Range scored_;  // this chunk's scored rows
  const std::ptrdiff_t band_stride_;
  const std::ptrdiff_t input_stride_;
  ScratchArray<std::int32_t> arena_;
  int32_t* filtered_[2];  // vertical low and high pass
  int32_t* bands_;        // h, v, d of either side, and a low band that nobody keeps
  int32_t* job_rows_;
};

void MeasureChunk(const Chunk& chunk) {
  ChunkWorker(chunk).Run();
}

#endif
}  // namespace vqx::adm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::adm {
HWY_EXPORT(MeasureChunk);

namespace {

// Distinct jobs of one scale, and which one serves each option set.
struct JobPlan {
  std::vector<Job> jobs;
  std::vector<int> job_of_set;  // -1: the set skips the scale
};

JobPlan plan_jobs(std::span<const Params> sets, int scale) {
  JobPlan plan;
  for (const Params& set : sets) {
    if (scale == 0 && set.skip_scale0) {
      plan.job_of_set.push_back(-1);
      continue;
    }
    const auto same = [&](const Job& job) {
      return job.gain_limit == set.gain_limit && job.weights == set.weights[scale];
    };
    auto job = std::find_if(plan.jobs.begin(), plan.jobs.end(), same);
    if (job == plan.jobs.end())
      job = plan.jobs.insert(job, Job{set.gain_limit, set.weights[scale], false});
    job->additive = job->additive || !set.skip_aim;
    plan.job_of_set.push_back(static_cast<int>(job - plan.jobs.begin()));
  }
  return plan;
}

void store(const Params& set, int scale, const JobSums& sums, const std::uint64_t* reference,
           Sums& out) {
  for (int b = 0; b < kBands; ++b) {
    out.restored[scale][b] = sums.restored[b];
    out.additive[scale][b] = set.skip_aim ? 0 : sums.additive[b];
    out.reference[scale][b] = reference[b];
  }
}

// Chunks of equal height: one for a single thread, because neighbouring chunks share two rows.
int chunk_count(int rows, int concurrency) {
  constexpr int kLeastRows = 16;
  return concurrency == 1 ? 1 : std::clamp(rows / kLeastRows, 1, 4 * concurrency);
}

}  // namespace

bool simd_widths_hold(const Params& params) {
  // With these weights the neighbour term and the square stay below 16 and 31 bits for the largest
  // coefficients (22932 at scale 0, 2^30.47 beyond).
  if (params.weights[0].hv > 43000) return false;
  for (int s = 1; s < kScales; ++s)
    if (std::max(params.weights[s].hv, params.weights[s].d) >= 1U << 28) return false;
  return true;
}

void measure_simd(const MeasureContext& context, std::span<const Params> sets,
                  std::span<Sums> sums) {
  const Picture* pictures[2] = {&context.frame().reference(), &context.frame().distorted()};
  const VideoFormat& format = pictures[0]->format();
  Axis columns[kScales];
  Axis lines[kScales];
  plan_axis(format.width, columns);
  plan_axis(format.height, lines);
  std::fill(sums.begin(), sums.end(), Sums{});

  std::vector<LowBand> previous;
  for (int s = 0; s < kScales; ++s) {
    std::vector<LowBand> low;
    if (s + 1 < kScales)
      for (int side = 0; side < 2; ++side)
        low.emplace_back(context.scratch(), columns[s].needed, lines[s].needed);
    const JobPlan plan = plan_jobs(sets, s);
    const Range rows = lines[s].needed;
    const int chunks = chunk_count(rows.size(), context.concurrency());
    const std::size_t jobs = plan.jobs.size();
    std::vector<JobSums> job_sums(jobs * static_cast<std::size_t>(chunks));
    std::vector<std::uint64_t> reference(kBands * static_cast<std::size_t>(chunks));
    context.parallel(chunks, [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      Chunk chunk{};
      chunk.scale = s;
      chunk.bit_depth = format.bit_depth;
      chunk.columns = &columns[s];
      chunk.lines = &lines[s];
      chunk.rows = {rows.begin + rows.size() * i / chunks,
                    rows.begin + rows.size() * (i + 1) / chunks};
      for (int side = 0; side < 2; ++side) {
        const auto index = static_cast<std::size_t>(side);
        chunk.pictures[side] = &pictures[side]->plane(0);
        chunk.inputs[side] = s > 0 ? &previous[index] : nullptr;
        chunk.low[side] = s + 1 < kScales ? &low[index] : nullptr;
      }
      chunk.jobs = plan.jobs;
      chunk.scratch = &context.scratch();
      chunk.sums = job_sums.data() + at * jobs;
      chunk.reference = reference.data() + at * kBands;
      HWY_DYNAMIC_DISPATCH(MeasureChunk)(chunk);
    });

    for (int i = 1; i < chunks; ++i) {
      for (std::size_t j = 0; j < jobs; ++j)
        for (int b = 0; b < kBands; ++b) {
          const JobSums& part = job_sums[static_cast<std::size_t>(i) * jobs + j];
          job_sums[j].restored[b] += part.restored[b];
          job_sums[j].additive[b] += part.additive[b];
        }
      for (std::size_t b = 0; b < kBands; ++b)
        reference[b] += reference[static_cast<std::size_t>(i) * kBands + b];
    }
    for (std::size_t set = 0; set < sets.size(); ++set)
      if (plan.job_of_set[set] >= 0)
        store(sets[set], s, job_sums[static_cast<std::size_t>(plan.job_of_set[set])],
              reference.data(), sums[set]);
    previous = std::move(low);
  }
}

}  // namespace vqx::adm
#endif  // HWY_ONCE
