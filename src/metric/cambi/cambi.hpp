// CAMBI, the contrast-aware multiscale banding index: how visible the false contours of a picture
// are.  0 means none, about 5 is where they annoy, 24 is the worst of real sequences.
//
// Method.  The luma plane is brought to 10 bits (and to the analysis size), optionally freed of
// dither, and a mask keeps the pixels in flat surroundings.  At five scales, each half of the one
// before, every kept pixel of level v gets
//     c = max over d of  w_d * N(v) * m / (N(v) + m),    m = max(N(v + d), N(v - d)),
// where N(u) counts the kept pixels of level u in a window around it and d runs over the contrast
// steps 1..D that are visible at v.  The mean of the largest c-values of each scale is pooled over
// the scales with weights 16, 8, 4, 2, 1 and divided by the window's area.
//
// Numbers.  Levels are at most 1024; counts at most 65 * 65 = 4225; w * N * m < 2^26, rounded once
// to binary32 and multiplied by a binary32 reciprocal.  A non-zero c lies in [0.5, 2^14), so it is
// a multiple of 2^-24 and the pooled sum is an integer below 2^64 in that unit: no order shows.
//
// P. Tandon, M. Afonso, J. Sole, L. Krasula, "CAMBI: Contrast-aware Multiscale Banding Index",
// Picture Coding Symposium 2021.  The law of all numbers: spec cambi.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "metric/cambi/cambi_device_config.hpp"
#include "metric/metric.hpp"
#include "metric/options.hpp"
#include "vqx/picture.hpp"
#include "vqx/status.hpp"

namespace vqx {
extern const MetricInfo kCambiInfo;
}  // namespace vqx

namespace vqx::cambi {

inline constexpr int kUnitExponent = 24;  // c-values are multiples of 2^-24

struct Size {
  int width = 0;
  int height = 0;
  std::int64_t pixels() const { return std::int64_t{width} * height; }
  Size halved() const { return {(width + 1) >> 1, (height + 1) >> 1}; }
  friend bool operator==(const Size&, const Size&) = default;
};

// How one picture is analysed: all that its pooled sums depend on.
struct Analysis {
  Size input;
  int bit_depth = 8;
  Size size;  // analysed; may differ from the input
  bool antidither = false;
  bool halve_first = false;  // the high-resolution speed-up
  int window = 1;            // odd side
  double topk = 1;
  bool upstream_pooling = false;
  std::vector<int> limits;  // limits[d - 1]: highest level at which a step of d codes is visible
  int dark = 0;             // darkest visible level

  int steps() const { return static_cast<int>(limits.size()); }
  int radius() const { return window >> 1; }
  Size scale_size(int scale) const;
  std::int64_t pool_count(int scale) const;  // pixels whose c-values are pooled
  int mask_threshold() const;                // a pixel is kept above that many flat neighbours
  bool visible(int level, int step) const {
    return level <= limits[static_cast<std::size_t>(step - 1)] && level + steps() + step > dark;
  }
  friend bool operator==(const Analysis&, const Analysis&) = default;
};

// What the options ask for.
struct Plan {
  Analysis distorted;
  Analysis reference;
  bool full_reference = false;
  double max_value = 0;
};
// kInvalidArgument or kUnsupportedSize when the picture cannot be analysed that way.
Result<Plan> make_plan(const VideoFormat& format, const Options& options);

// The levels that can matter, for implementations that count them.  Where all samples are multiples
// of 4 codes (8-bit input, no anti-dither), levels are counted in that unit and fewer steps remain.
struct Levels {
  explicit Levels(const Analysis& analysis);

  int unit = 1;          // 10-bit codes
  int steps = 0;         // steps of one unit each that fit into the contrast range
  int first_scored = 0;  // c is 0 for every level outside first_scored .. + scored - 1
  int scored = 0;
  std::array<float, kMaxSteps> weight{};  // of the step of (index + 1) units
  std::vector<std::uint32_t> visible;     // bit i: whether step i + 1 is visible at a scored level

  // Counts are kept for `scored` levels and `steps` more on each side.
  int first_row() const { return first_scored - steps; }
  int rows() const { return scored == 0 ? 0 : scored + 2 * steps; }
};

int step_weight(int step);
const std::vector<float>& reciprocals();

// For each scale the sum of the pooled c-values in units of 2^-24, or with upstream pooling the
// bits of their binary64 sum in upstream's order.
using PooledSums = std::array<std::uint64_t, kScales>;
double score(const Analysis& analysis, const PooledSums& sums);

// The measured struct.  `reference` is zero unless full_ref is on.
struct CambiMeasured {
  PooledSums distorted;
  PooledSums reference;
};

// binary64 sum of the k largest values in the order that upstream's quick-select leaves.
double upstream_sum(std::vector<float> values, std::int64_t k);

// Takes the c-values of a scale; rows are `stride` apart.
using MapSink = std::function<Status(int scale, const float* values, std::ptrdiff_t stride)>;

// Refuses a luma plane with a sample above 2^bit_depth - 1.
Status check_samples(const Plane& luma, int bit_depth, Side side);

// Plain data for the device side.
DeviceSet device_set(const Plan& plan);

// The plain form, straight from the spec, and the fast one.  `luma` has passed check_samples.
Result<PooledSums> analyse_reference(const Analysis& analysis, const Plane& luma,
                                     const MapSink& sink);
Result<PooledSums> analyse_simd(const Analysis& analysis, const Plane& luma,
                                const MeasureContext& context, const MapSink& sink);
// Whether any sample of the (16-bit) plane exceeds `peak`.
bool any_sample_above(const Plane& luma, int peak, const MeasureContext& context);

}  // namespace vqx::cambi
