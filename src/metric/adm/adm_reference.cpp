// Plain loops straight from the law, on whole planes: the oracle of the tests.
#include <vector>

#include "metric/adm/adm.hpp"
#include "metric/adm/adm_math.hpp"

namespace vqx::adm {
namespace {

struct Grid {
  int width = 0;
  int height = 0;
  std::vector<std::int32_t> values;

  Grid() = default;
  Grid(int w, int h) : width(w), height(h), values(static_cast<std::size_t>(w) * h) {}
  std::int32_t& at(int x, int y) { return values[static_cast<std::size_t>(y) * width + x]; }
  std::int32_t at(int x, int y) const { return values[static_cast<std::size_t>(y) * width + x]; }
};

// NOLINTNEXTLINE(bugprone-reserved-identifier): of the constructor that the compiler makes
struct Wavelet {
  Grid a;
  Grid band[kBands];  // h, v, d
};

Grid samples(const Plane& plane, int bit_depth) {
  Grid out(plane.width, plane.height);
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      out.at(x, y) =
          bit_depth == 8 ? plane.row<std::uint8_t>(y)[x] : plane.row<std::uint16_t>(y)[x];
  return out;
}

Grid vertical(const Grid& in, const int (&taps)[4], std::int64_t offset, int shift) {
  Grid out(in.width, (in.height + 1) / 2);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      std::int64_t sum = offset;
      for (int t = 0; t < 4; ++t)
        sum += std::int64_t{taps[t]} * in.at(x, transform_index(2 * y - 1 + t, in.height));
      out.at(x, y) = static_cast<std::int32_t>(sum >> shift);
    }
  return out;
}

Grid horizontal(const Grid& in, const int (&taps)[4], int shift) {
  Grid out((in.width + 1) / 2, in.height);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      std::int64_t sum = half_of(shift);
      for (int t = 0; t < 4; ++t)
        sum += std::int64_t{taps[t]} * in.at(transform_index(2 * x - 1 + t, in.width), y);
      out.at(x, y) = static_cast<std::int32_t>(sum >> shift);
    }
  return out;
}

Wavelet transform(const Grid& in, int scale, int bit_depth) {
  const TransformShifts shifts = transform_shifts(scale, bit_depth);
  // The first low pass centres the codes on zero.
  const std::int64_t centre =
      scale == 0 ? std::int64_t{kLowSum} * (std::int64_t{1} << (bit_depth - 1)) : 0;
  const std::int64_t round = half_of(shifts.vertical);
  const Grid low = vertical(in, kLow, round - centre, shifts.vertical);
  const Grid high = vertical(in, kHigh, round, shifts.vertical);
  Wavelet out;
  out.a = horizontal(low, kLow, shifts.horizontal);
  out.band[0] = horizontal(high, kLow, shifts.horizontal);
  out.band[1] = horizontal(low, kHigh, shifts.horizontal);
  out.band[2] = horizontal(high, kHigh, shifts.horizontal);
  return out;
}

struct Parts {
  Grid restored[kBands];
  Grid additive[kBands];
};

Parts decouple(const Wavelet& o, const Wavelet& t, double gain_limit) {
  const int w = o.a.width;
  const int h = o.a.height;
  Parts parts;
  for (int b = 0; b < kBands; ++b) {
    parts.restored[b] = Grid(w, h);
    parts.additive[b] = Grid(w, h);
  }
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const bool near = within_one_degree(o.band[0].at(x, y), o.band[1].at(x, y),
                                          t.band[0].at(x, y), t.band[1].at(x, y));
      for (int b = 0; b < kBands; ++b) {
        const std::int32_t original = o.band[b].at(x, y);
        const std::int32_t test = t.band[b].at(x, y);
        const std::int32_t k = ratio_q15(original, test);
        std::int32_t r = scale_q15(k, original);
        if (near && k > 0 && original != 0) r = enhance(r, original, test, gain_limit);
        parts.restored[b].at(x, y) = r;
        parts.additive[b].at(x, y) = test - r;
      }
    }
  return parts;
}

class Masking {
 public:
  Masking(int scale, const FixedWeights& weights) : scale_(scale), weights_(weights) {}

  std::int32_t signal(std::int32_t x, int band) const {
    return scale_ == 0 ? weigh_fine(x, weight(band)) : weigh_coarse(x, weight(band));
  }
  MaskerTerms terms(std::int32_t x, int band) const {
    if (scale_ == 0) return masker_terms_fine(masker_fine(signal(x, band), band == 2));
    return masker_terms_coarse(signal(x, band));
  }
  Grid threshold(const Grid (&masker)[kBands]) const {
    const int w = masker[0].width;
    const int h = masker[0].height;
    Grid out(w, h);
    for (const int b : {0, 1, 2}) {
      Grid neighbour(w, h);
      Grid centre(w, h);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          const MaskerTerms both = terms(masker[b].at(x, y), b);
          neighbour.at(x, y) = both.neighbour;
          centre.at(x, y) = both.centre;
        }
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          auto sum = static_cast<std::uint32_t>(out.at(x, y) + std::int64_t{centre.at(x, y)});
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
              if (dx != 0 || dy != 0)
                sum += static_cast<std::uint32_t>(
                    neighbour.at(window_index(x + dx, w), window_index(y + dy, h)));
          out.at(x, y) = static_cast<std::int32_t>(sum);
        }
    }
    return out;
  }
  void energies(const Grid (&signals)[kBands], const Grid (&masker)[kBands],
                std::int64_t (&sums)[kBands]) const {
    const Grid limit = threshold(masker);
    const Range columns = scored_range(limit.width);
    const Range rows = scored_range(limit.height);
    for (int b = 0; b < kBands; ++b) {
      const EnergyShifts shifts = energy_shifts(scale_, b == 2, limit.width);
      const int row_shift = ceil_log2(static_cast<std::uint64_t>(limit.height));
      std::uint64_t total = 0;
      for (int y = rows.begin; y < rows.end; ++y) {
        std::uint64_t sum = 0;
        for (int x = columns.begin; x < columns.end; ++x)
          sum += static_cast<std::uint64_t>(
              masked_cube(signal(signals[b].at(x, y), b), limit.at(x, y), shifts));
        total += static_cast<std::uint64_t>(round_shift(static_cast<std::int64_t>(sum), row_shift));
      }
      sums[b] = static_cast<std::int64_t>(total);
    }
  }

 private:
  std::uint32_t weight(int band) const { return band == 2 ? weights_.d : weights_.hv; }

  int scale_;
  FixedWeights weights_;
};

std::uint64_t reference_energy(const Grid& band, int scale) {
  const Range columns = scored_range(band.width);
  const Range rows = scored_range(band.height);
  const ReferenceShifts shifts = reference_shifts(scale, columns.size(), rows.size());
  std::uint64_t total = 0;
  for (int y = rows.begin; y < rows.end; ++y) {
    std::uint64_t sum = 0;
    for (int x = columns.begin; x < columns.end; ++x) sum += reference_cube(band.at(x, y), shifts);
    total += round_shift_unsigned(sum, shifts.row);
  }
  return total;
}

}  // namespace

Sums measure_reference(const Picture& reference, const Picture& distorted, const Params& params) {
  const int depth = reference.format().bit_depth;
  Sums sums{};
  Wavelet o;
  Wavelet t;
  for (int s = 0; s < kScales; ++s) {
    o = transform(s == 0 ? samples(reference.plane(0), depth) : o.a, s, depth);
    t = transform(s == 0 ? samples(distorted.plane(0), depth) : t.a, s, depth);
    if (s == 0 && params.skip_scale0) continue;
    const Parts parts = decouple(o, t, params.gain_limit);
    const Masking masking(s, params.weights[s]);
    masking.energies(parts.restored, parts.additive, sums.restored[s]);
    if (!params.skip_aim) masking.energies(parts.additive, parts.restored, sums.additive[s]);
    for (int b = 0; b < kBands; ++b) sums.reference[s][b] = reference_energy(o.band[b], s);
  }
  return sums;
}

}  // namespace vqx::adm
