// float_adm: plain loops straight from the law.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

#include "metric/adm/adm_math.hpp"
#include "metric/adm/adm_powf.hpp"
#include "metric/float_adm/float_adm.hpp"

namespace vqx::float_adm {
namespace {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<float> samples;

  Image() = default;
  Image(int w, int h) : width(w), height(h), samples(static_cast<std::size_t>(w) * h) {}
  float* row(int y) { return samples.data() + static_cast<std::ptrdiff_t>(y) * width; }
  const float* row(int y) const { return samples.data() + static_cast<std::ptrdiff_t>(y) * width; }
};

struct Bands {
  Image approximation;
  Image detail[kBands];  // h, v, d
};

// Sources of the four taps of output `i` on an axis of n: reflected at both ends.
std::array<int, 4> tap_positions(int i, int n) {
  std::array<int, 4> taps{};
  for (int t = 0; t < 4; ++t) {
    int position = 2 * i - 1 + t;
    if (position < 0) position = -position;
    if (position >= n) position = 2 * n - 1 - position;
    taps[static_cast<std::size_t>(t)] = position;
  }
  return taps;
}

template <class Get>
float filter(const float (&taps)[4], Get&& sample) {
  return ((taps[0] * sample(0) + taps[1] * sample(1)) + taps[2] * sample(2)) + taps[3] * sample(3);
}

Bands transform(const Image& in) {
  const int width = (in.width + 1) / 2;
  const int height = (in.height + 1) / 2;
  Bands out;
  out.approximation = Image(width, height);
  for (Image& band : out.detail) band = Image(width, height);
  std::vector<float> low(static_cast<std::size_t>(in.width));
  std::vector<float> high(low.size());
  for (int y = 0; y < height; ++y) {
    const auto rows = tap_positions(y, in.height);
    const float* sources[4] = {in.row(rows[0]), in.row(rows[1]), in.row(rows[2]), in.row(rows[3])};
    for (int x = 0; x < in.width; ++x) {
      const auto sample = [&](int t) { return sources[t][x]; };
      low[static_cast<std::size_t>(x)] = filter(kLow, sample);
      high[static_cast<std::size_t>(x)] = filter(kHigh, sample);
    }
    for (int x = 0; x < width; ++x) {
      const auto columns = tap_positions(x, in.width);
      const auto of = [&](const std::vector<float>& line) {
        return [&](int t) {
          return line[static_cast<std::size_t>(columns[static_cast<std::size_t>(t)])];
        };
      };
      out.approximation.row(y)[x] = filter(kLow, of(low));
      out.detail[0].row(y)[x] = filter(kLow, of(high));
      out.detail[1].row(y)[x] = filter(kHigh, of(low));
      out.detail[2].row(y)[x] = filter(kHigh, of(high));
    }
  }
  return out;
}

float reciprocal(float x, const float* table) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const int exponent = static_cast<int>(bits >> 23 & 255) - 127;
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(127 - exponent) << 23);
  const float magnitude = table[bits >> 12 & 2047] * scale;
  const float estimate = (bits >> 31) != 0 ? -magnitude : magnitude;
  return estimate + estimate * (1.0f - x * estimate);
}

// Splits the distorted bands into restored detail and additive impairment.
void decouple(const Bands& o, const Bands& t, double gain_limit, Image (&restored)[kBands],
              Image (&additive)[kBands]) {
  const float* table = reciprocal_table();
  const std::size_t count = o.detail[0].samples.size();
  for (int b = 0; b < kBands; ++b)
    restored[b] = additive[b] = Image(o.detail[b].width, o.detail[b].height);
  for (std::size_t i = 0; i < count; ++i) {
    const float oh = o.detail[0].samples[i];
    const float ov = o.detail[1].samples[i];
    const float th = t.detail[0].samples[i];
    const float tv = t.detail[1].samples[i];
    const float dot = oh * th + ov * tv;
    const bool near =
        dot >= 0 && dot * dot >= (adm::kCosSquared * (oh * oh + ov * ov)) * (th * th + tv * tv);
    for (int b = 0; b < kBands; ++b) {
      const float original = o.detail[b].samples[i];
      const float test = t.detail[b].samples[i];
      const float share = std::clamp(test * reciprocal(original + 1e-30f, table), 0.0f, 1.0f);
      float kept = share * original;
      const double boosted = static_cast<double>(kept) * gain_limit;
      if (near && kept > 0)
        kept = static_cast<float>(std::min(boosted, static_cast<double>(test)));
      else if (near && kept < 0)
        kept = static_cast<float>(std::max(boosted, static_cast<double>(test)));
      restored[b].samples[i] = kept;
      additive[b].samples[i] = test - kept;
    }
  }
}

// |weight * masker| with a border as the law has it: row -1 is row 1, row n is row n - 1.
float masking_threshold(const Image& masker, float weight, int x, int y) {
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    const int source =
        y + dy < 0 ? std::min(1, masker.height - 1) : std::min(y + dy, masker.height - 1);
    const float* row = masker.row(source);
    for (int dx = -1; dx <= 1; ++dx) {
      const int column =
          x + dx < 0 ? std::min(1, masker.width - 1) : std::min(x + dx, masker.width - 1);
      const auto c = static_cast<double>(std::fabs(weight * row[column]));
      if (dx == 0 && dy == 0)
        sum = static_cast<float>(static_cast<double>(sum) + kCentreShare * c);
      else
        sum = sum + static_cast<float>(kNeighbourShare * c);
    }
  }
  return sum;
}

// Sums of the bands' powers above the threshold that `masker` (none: null) raises.
void energies(const Image* signal, const Image* masker, const float (&weights)[kBands],
              const Params& params, double (&sums)[kBands]) {
  const Range columns = scored(signal[0].width);
  const Range rows = scored(signal[0].height);
  float totals[kBands] = {};
  for (int y = rows.first; y < rows.last; ++y) {
    float row_sums[kBands] = {};
    for (int x = columns.first; x < columns.last; ++x) {
      float threshold = 0;
      if (masker != nullptr && !params.bypass_masking)
        threshold = (masking_threshold(masker[0], weights[0], x, y) +
                     masking_threshold(masker[1], weights[1], x, y)) +
                    masking_threshold(masker[2], weights[2], x, y);
      for (int b = 0; b < kBands; ++b) {
        float value = std::fabs(signal[b].row(y)[x] * weights[b]);
        if (masker != nullptr) value = std::max(value - threshold, 0.0f);
        row_sums[b] += power(value, params.exponent);
      }
    }
    for (int b = 0; b < kBands; ++b) totals[b] += row_sums[b];
  }
  for (int b = 0; b < kBands; ++b) sums[b] = static_cast<double>(totals[b]);
}

template <class Sample>
Image to_float(const Plane& plane, int bit_depth) {
  Image image(plane.width, plane.height);
  const float scale = 1.0f / static_cast<float>(1 << (bit_depth - 8));
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      image.row(y)[x] = static_cast<float>(plane.row<Sample>(y)[x]) * scale - 128.0f;
  return image;
}

Image to_float(const Plane& plane, int bit_depth, bool wide) {
  return wide ? to_float<std::uint16_t>(plane, bit_depth)
              : to_float<std::uint8_t>(plane, bit_depth);
}

}  // namespace

const float* reciprocal_table() {
  static const std::array<float, kReciprocals> table = [] {
    std::array<float, kReciprocals> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<float>(
          std::nearbyint(8192.0 / (1.0 + (static_cast<double>(i) + 0.5) / 2048.0)) / 8192.0);
    return made;
  }();
  return table.data();
}

float power(float x, float exponent) {
  return exponent == 3.0f ? x * x * x : adm::powf(x, exponent);
}

Range scored(int n) {
  const int first = static_cast<int>(n * 0.1 - 0.5);
  return {first, n - first};
}

void measure_reference(const Plane& reference, const Plane& distorted, int bit_depth,
                       std::span<const Params* const> sets, std::span<Sums> out) {
  const bool wide = bit_depth > 8;
  Image o = to_float(reference, bit_depth, wide);
  Image t = to_float(distorted, bit_depth, wide);
  for (int scale = 0; scale < kScales; ++scale) {
    Bands ob = transform(o);
    Bands tb = transform(t);
    const Range columns = scored(ob.detail[0].width);
    const Range rows = scored(ob.detail[0].height);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const Params& params = *sets[s];
      out[s].area[scale] = std::int64_t{rows.last - rows.first} * (columns.last - columns.first);
      if (scale == 0 && params.skip_scale0) continue;
      Image restored[kBands];
      Image additive[kBands];
      decouple(ob, tb, params.gain_limit, restored, additive);
      energies(ob.detail, nullptr, params.weights[scale], params, out[s].reference[scale]);
      energies(restored, additive, params.weights[scale], params, out[s].detail[scale]);
      energies(additive, restored, params.weights[scale], params, out[s].impairment[scale]);
    }
    o = std::move(ob.approximation);
    t = std::move(tb.approximation);
  }
}

}  // namespace vqx::float_adm
