// The metric `float_motion`: options, outputs, the passes over a frame, finish steps.
#include "metric/float_motion/float_motion.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/simd.hpp"

namespace vqx {
namespace float_motion {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, false, "true", 0, 0, "", "also motion"},
    {"motion_force_zero", "force_0", OptionType::kBool, true, "false", 0, 0, "",
     "every score is 0; pictures are not read"},
    {"motion_fps_weight", "mfw", OptionType::kReal, true, "1", 0, 5, "",
     "factor on the frame score"},
    {"motion_blend_factor", "mbf", OptionType::kReal, true, "1", 0, 1, "",
     "slope of motion3 above the knee"},
    {"motion_blend_offset", "mbo", OptionType::kReal, true, "40", 0, 1000, "", "knee of motion3"},
    {"motion_add_scale1", "mdc", OptionType::kBool, true, "false", 0, 0, "",
     "adds the score of the pictures at half size"},
    {"motion_filter_size", "mfs", OptionType::kInt, true, "5", 0, 9, "",
     "1: no blur, 3: three taps, others: five taps"},
    {"motion_add_uv", "mau", OptionType::kBool, true, "false", 0, 0, "",
     "adds the scores of Cb and Cr"},
    {"motion_max_val", "mmxv", OptionType::kReal, true, "10000", 0, 10000, "", "cap of the scores"},
};
constexpr std::string_view kModelFeatures[] = {
    "VMAF_feature_motion_score", "VMAF_feature_motion2_score", "VMAF_feature_motion3_score"};

struct Settings {
  explicit Settings(const Options& options)
      : debug(options.flag("debug")),
        force_zero(options.flag("motion_force_zero")),
        half(options.flag("motion_add_scale1")),
        planes(options.flag("motion_add_uv") ? kPlanes : 1),
        taps(taps_of(options.integer("motion_filter_size"))),
        weight(options.real("motion_fps_weight")),
        blend_factor(options.real("motion_blend_factor")),
        blend_offset(options.real("motion_blend_offset")),
        cap(options.real("motion_max_val")) {}

  double capped(double score) const { return std::min(score * weight, cap); }
  double blended(double score) const {
    const double x = score * weight;
    return std::min(x * blend_factor + (1 - blend_factor) * std::min(blend_offset, x), cap);
  }

  bool debug;
  bool force_zero;
  bool half;
  int planes;
  Taps taps;
  double weight;
  double blend_factor;
  double blend_offset;
  double cap;
};

constexpr int kBandRows = 32;

void for_bands(const MeasureContext& context, int height,
               const std::function<void(int first, int last)>& band) {
  context.parallel((height + kBandRows - 1) / kBandRows,
                   [&](int i) { band(i * kBandRows, std::min((i + 1) * kBandRows, height)); });
}

float_rows::Samples centred(const Frame& frame, int plane) {
  const Picture& picture = frame.reference();
  return float_rows::samples_of(picture.plane(plane), picture.format().bit_depth, -128);
}

std::string derived_key(const char* what, int plane, const Taps& taps) {
  return fmt::format("float_motion:{}:{}:{}", what, plane, taps.count);
}

std::shared_ptr<const FloatImage> blurred(const MeasureContext& context, const Frame& frame,
                                          int plane, const Taps& taps) {
  return frame.derived<FloatImage>(derived_key("blurred", plane, taps), [&] {
    const float_rows::Samples in = centred(frame, plane);
    auto out = std::make_shared<FloatImage>(context.scratch(), in.width, in.height);
    for_bands(context, in.height, [&](int first, int last) {
      blur_rows(in, taps, first, last, context.scratch(), *out);
    });
    return std::shared_ptr<const FloatImage>(std::move(out));
  });
}

void halve_row(const float* upper, const float* lower, float weight,
               std::span<const HalvedPosition> columns, float* out) {
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const HalvedPosition& c = columns[x];
    float sum = (1 - weight) * (1 - c.weight) * upper[c.before];
    sum += (1 - weight) * c.weight * upper[c.after];
    sum += weight * (1 - c.weight) * lower[c.before];
    sum += weight * c.weight * lower[c.after];
    out[x] = sum;
  }
}

std::shared_ptr<const FloatImage> halved_plane(const MeasureContext& context, const Frame& frame,
                                               int plane, const Taps& taps) {
  const std::shared_ptr<const FloatImage> in = blurred(context, frame, plane, taps);
  return frame.derived<FloatImage>(derived_key("halved", plane, taps), [&] {
    auto out =
        std::make_shared<FloatImage>(context.scratch(), halved(in->width), halved(in->height));
    std::vector<HalvedPosition> columns;
    columns.reserve(static_cast<std::size_t>(out->width));
    for (int x = 0; x < out->width; ++x)
      columns.push_back(halved_position(x, in->width, out->width));
    for_bands(context, out->height, [&](int first, int last) {
      for (int y = first; y < last; ++y) {
        const HalvedPosition v = halved_position(y, in->height, out->height);
        halve_row(in->row(v.before), in->row(v.after), v.weight, columns, out->row(y));
      }
    });
    return std::shared_ptr<const FloatImage>(std::move(out));
  });
}

float difference(const MeasureContext& context, const FloatImage& a, const FloatImage& b) {
  std::vector<float> sums(static_cast<std::size_t>(a.height));
  for_bands(context, a.height,
            [&](int first, int last) { difference_rows(a, b, first, last, sums.data() + first); });
  return float_rows::running_sum(sums.data(), a.height);
}

PlaneSums plane_sums(const MeasureContext& context, const Frame& before, int plane,
                     const Settings& set) {
  const Frame& now = context.frame();
  if (simd_is_scalar())
    return plane_sums_reference(centred(before, plane), centred(now, plane), set.taps, set.half);
  PlaneSums sums;
  sums.full = difference(context, *blurred(context, before, plane, set.taps),
                         *blurred(context, now, plane, set.taps));
  if (set.half)
    sums.half = difference(context, *halved_plane(context, before, plane, set.taps),
                           *halved_plane(context, now, plane, set.taps));
  return sums;
}

class FloatMotion final : public Metric {
 public:
  explicit FloatMotion(const MetricSetup& setup) : format_(setup.format) {
    for (const Options& options : setup.sets) sets_.emplace_back(options);
  }

  Needs needs(std::size_t) const override {
    return {.pictures_before = 1, .measured_after = 1, .contiguous = true};
  }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> list = {{"VMAF_feature_motion2_score"}};
    if (sets_[set].debug) list.push_back({"VMAF_feature_motion_score"});
    // Forced zeros are complete with their own frame.
    list.push_back({"VMAF_feature_motion3_score", true,
                    sets_[set].force_zero ? Appearance::kFirstFrame : Appearance::kSecondFrame});
    return list;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const Frame* before = context.earlier(1);
    std::map<std::tuple<int, int, bool>, PlaneSums> done;  // by plane, taps, half
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Settings& set = sets_[i];
      Words words;
      for (int p = 0; before != nullptr && !set.force_zero && p < set.planes; ++p) {
        const auto [entry, fresh] = done.try_emplace({p, set.taps.count, set.half});
        if (fresh) entry->second = plane_sums(context, *before, p, set);
        words.plane[p] = entry->second;
      }
      out[i] = Measured::of(words);
    }
    return {};
  }

  Status finish_frame(std::size_t index, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Settings& set = sets_[index];
    const Measured* next = window.at(1);
    const double here = frame_score(set, window.here());
    const double after = next == nullptr ? here : frame_score(set, *next);
    const bool first = window.index() == 0;
    const double lower = first ? here : std::min(here, after);
    std::size_t i = 0;
    scores[i++] = set.capped(lower);
    if (set.debug) scores[i++] = set.capped(here);
    scores[i++] = set.force_zero ? 0 : set.blended(first ? after : lower);
    return {};
  }

 private:
  double frame_score(const Settings& set, const Measured& measured) const {
    const auto words = measured.as<Words>();
    double score = 0;
    for (int p = 0; p < set.planes; ++p) {
      const int width = format_.plane_width(p), height = format_.plane_height(p);
      float mean = static_cast<float>(words.plane[p].full) / static_cast<float>(width * height);
      if (set.half)
        mean += static_cast<float>(words.plane[p].half) /
                static_cast<float>(halved(width) * halved(height));
      score += static_cast<double>(mean);
    }
    return score;
  }

  VideoFormat format_;
  std::vector<Settings> sets_;
};

Status check(const VideoFormat& format, const Settings& set) {
  if (set.force_zero) return {};
  if (set.planes > format.plane_count())
    return Status(ErrorCode::kInvalidArgument,
                  "float_motion: motion_add_uv needs chroma, and the pictures are 4:0:0");
  for (int p = 0; p < set.planes; ++p)
    VQX_RETURN_IF_ERROR(float_rows::check_size("float_motion", format.plane_width(p),
                                               format.plane_height(p), set.taps.count / 2 + 1));
  if (set.half && halved(format.width) > kWidestHalf)
    return Status(ErrorCode::kUnsupportedSize,
                  fmt::format("float_motion: {}x{} is too wide for motion_add_scale1; up to {} "
                              "columns are accepted",
                              format.width, format.height, 2 * kWidestHalf));
  return {};
}

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  VQX_RETURN_IF_ERROR(float_rows::check_bit_depth("float_motion", setup.format));
  for (const Options& options : setup.sets)
    VQX_RETURN_IF_ERROR(check(setup.format, Settings(options)));
  return std::unique_ptr<Metric>(std::make_unique<FloatMotion>(setup));
}

}  // namespace

// Not the taps of float_vif's third scale: two of the three differ in the last place.
Taps taps_of(int filter_size) {
  if (filter_size == 1) return {};
  if (filter_size == 3) return {3, {0x1.54be4p-3f, 0x1.55a0ep-1f, 0x1.54be4p-3f}};
  return {5, {0x1.be5f0ep-5f, 0x1.f41fd6p-3f, 0x1.9c4868p-2f, 0x1.f41fd6p-3f, 0x1.be5f0ep-5f}};
}

HalvedPosition halved_position(int index, int length, int halved_length) {
  const float ratio = static_cast<float>(length) / static_cast<float>(halved_length);
  const auto position = static_cast<float>((index + 0.5) * static_cast<double>(ratio) - 0.5);
  const float before = std::floor(position);
  return {static_cast<int>(before), static_cast<int>(std::ceil(position)), position - before};
}

}  // namespace float_motion

extern const MetricInfo kFloatMotionInfo;
const MetricInfo kFloatMotionInfo = {"float_motion", "Motion of the reference in single precision",
                                     float_motion::kOptions, float_motion::kModelFeatures,
                                     float_motion::create};

}  // namespace vqx
