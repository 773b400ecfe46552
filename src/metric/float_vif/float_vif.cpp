// The metric `float_vif`: options, outputs, the passes over a frame, finish steps.
#include "metric/float_vif/float_vif.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "base/simd.hpp"

namespace vqx {
namespace float_vif {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, false, "false", 0, 0, "",
     "also the total score, and numerators and denominators"},
    {"vif_enhn_gain_limit", "egl", OptionType::kReal, true, "100", 1, 100, "",
     "upper limit of the local gain; 1 gives no credit for enhancement"},
    {"vif_kernelscale", "ks", OptionType::kReal, true, "1", 0.1, 4, "",
     "scales the windows; one of a list of values"},
    {"vif_prescale", "ps", OptionType::kReal, true, "1", 0.1, 4, "",
     "resizes both pictures by this factor first"},
    {"vif_prescale_method", "pm", OptionType::kText, true, "nearest", 0, 0,
     "nearest|bilinear|bicubic|lanczos4", "how to resize"},
    {"vif_scale1_min_val", "s1miv", OptionType::kReal, true, "0", 0, 1, "",
     "floor of the score of scale 1"},
    {"vif_scale2_min_val", "s2miv", OptionType::kReal, true, "0", 0, 1, "",
     "floor of the score of scale 2"},
    {"vif_scale3_min_val", "s3miv", OptionType::kReal, true, "0", 0, 1, "",
     "floor of the score of scale 3"},
    {"vif_sigma_nsq", "snsq", OptionType::kReal, true, "2", 0, 5, "",
     "variance of the neural noise"},
    {"vif_skip_scale0", "ssclz", OptionType::kBool, true, "false", 0, 0, "",
     "does not score the full size; its score is 0"},
};
constexpr std::string_view kModelFeatures[] = {
    "VMAF_feature_vif_scale0_score", "VMAF_feature_vif_scale1_score",
    "VMAF_feature_vif_scale2_score", "VMAF_feature_vif_scale3_score"};

constexpr int kWidestBilinear = 7680;  // a limit of the law
constexpr int kBandRows = 32;

Resampling method_of(const std::string& text) {
  if (text == "bilinear") return Resampling::kBilinear;
  if (text == "bicubic") return Resampling::kBicubic;
  return text == "lanczos4" ? Resampling::kLanczos4 : Resampling::kNearest;
}

Channel channel_of(const Options& options) {
  const double noise = options.real("vif_sigma_nsq");
  const auto single = static_cast<float>(noise);
  const float square = single * single;
  return {static_cast<float>(options.real("vif_enhn_gain_limit")), noise,
          static_cast<double>(single) < noise
              ? std::nextafter(single, std::numeric_limits<float>::infinity())
              : single,
          static_cast<float>(static_cast<double>(square) / (255.0 * 255.0))};
}

// Which passes an option set needs; sets with equal ones share them.
struct GeometryKey {
  double kernel_scale;
  double prescale;
  Resampling method;
  friend bool operator==(const GeometryKey&, const GeometryKey&) = default;
};

struct Settings {
  explicit Settings(const Options& options)
      : debug(options.flag("debug")),
        skip_scale0(options.flag("vif_skip_scale0")),
        floors{0, options.real("vif_scale1_min_val"), options.real("vif_scale2_min_val"),
               options.real("vif_scale3_min_val")},
        channel(channel_of(options)),
        geometry{options.real("vif_kernelscale"), options.real("vif_prescale"),
                 method_of(options.text("vif_prescale_method"))} {}

  int first_scale() const { return skip_scale0 ? 1 : 0; }

  bool debug;
  bool skip_scale0;
  double floors[kScales];
  Channel channel;
  GeometryKey geometry;
};

int rescaled(int length, double factor) {
  return static_cast<int>(std::floor(length * factor + 0.5));
}

// Sets that share all filtering.
struct Group {
  GeometryKey key;
  Geometry geometry;
  std::vector<Channel> channels;  // one for each set
  std::vector<std::size_t> sets;
};

Geometry make_geometry(const VideoFormat& format, const GeometryKey& key) {
  Geometry g;
  g.width = rescaled(format.width, key.prescale);
  g.height = rescaled(format.height, key.prescale);
  g.resized = g.width != format.width || g.height != format.height;
  g.method = key.method;
  if (g.resized) {
    g.columns = resampled_axis(key.method, format.width, g.width);
    g.rows = resampled_axis(key.method, format.height, g.height);
  }
  for (int s = 0; s < kScales; ++s)
    g.windows[static_cast<std::size_t>(s)] = window(s, key.kernel_scale);
  g.scale0 = false;
  return g;
}

void for_bands(const MeasureContext& context, int height,
               const std::function<void(int first, int last)>& band) {
  context.parallel((height + kBandRows - 1) / kBandRows,
                   [&](int i) { band(i * kBandRows, std::min((i + 1) * kBandRows, height)); });
}

// A plane that a pass made, and its description for the next one.
struct FloatPlaneBuffer {
  FloatPlaneBuffer(ScratchPool& pool, int width, int height)
      : stride((width + 32 + 15) / 16 * 16),  // room for vectors that overrun a row
        data(pool, static_cast<std::size_t>(stride) * static_cast<std::size_t>(height)),
        samples(float_rows::samples_of(data.data(), stride, width, height)) {}
  std::ptrdiff_t stride;
  ScratchArray<float> data;
  float_rows::Samples samples;
};
using Buffer = std::unique_ptr<FloatPlaneBuffer>;

Buffer resize(const MeasureContext& context, const float_rows::Samples& in, const Geometry& g) {
  auto out = std::make_unique<FloatPlaneBuffer>(context.scratch(), g.width, g.height);
  for_bands(context, g.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      resample_row(in, g.method, g.columns, g.rows, y, out->data.data() + y * out->stride);
  });
  return out;
}

Buffer halve(const MeasureContext& context, const float_rows::Samples& in, const Geometry& g,
             int scale) {
  const int width = g.width_of(scale), height = g.height_of(scale);
  auto out = std::make_unique<FloatPlaneBuffer>(context.scratch(), width, height);
  for_bands(context, height, [&](int first, int last) {
    halve_rows(in, g.window_of(scale), width, first, last, context.scratch(), out->data.data(),
               out->stride);
  });
  return out;
}

void score_scale(const MeasureContext& context, const float_rows::Samples& reference,
                 const float_rows::Samples& distorted, int scale, const Group& group,
                 std::vector<Words>& words) {
  const int height = reference.height;
  const auto count = static_cast<std::size_t>(height) * group.channels.size() * 2;
  ScratchArray<float> row_sums(context.scratch(), count);
  std::fill_n(row_sums.data(), count, 0.0f);
  std::vector<RowSums> sums;
  for (std::size_t c = 0; c < group.channels.size(); ++c) {
    float* num = row_sums.data() + 2 * c * static_cast<std::size_t>(height);
    sums.push_back({num, num + height});
  }
  for_bands(context, height, [&](int first, int last) {
    score_rows(reference, distorted, group.geometry.window_of(scale), group.channels, first, last,
               context.scratch(), sums);
  });
  for (std::size_t c = 0; c < sums.size(); ++c) {
    words[c].num[scale] = float_rows::running_sum(sums[c].num, height);
    words[c].den[scale] = float_rows::running_sum(sums[c].den, height);
  }
}

std::vector<Words> measure_group(const MeasureContext& context, float_rows::Samples reference,
                                 float_rows::Samples distorted, const Group& group) {
  std::vector<Words> words(group.channels.size());
  const Geometry& g = group.geometry;
  if (simd_is_scalar()) {
    for (std::size_t c = 0; c < words.size(); ++c)
      words[c] = measure_reference(reference, distorted, g, group.channels[c]);
    return words;
  }
  Buffer a, b;
  if (g.resized) {
    a = resize(context, reference, g);
    b = resize(context, distorted, g);
    reference = a->samples;
    distorted = b->samples;
  }
  for (int s = 0; s < kScales; ++s) {
    if (s > 0) {
      Buffer half_a = halve(context, reference, g, s);
      Buffer half_b = halve(context, distorted, g, s);
      a = std::move(half_a);
      b = std::move(half_b);
      reference = a->samples;
      distorted = b->samples;
    }
    if (s > 0 || g.scale0) score_scale(context, reference, distorted, s, group, words);
  }
  return words;
}

class FloatVif final : public Metric {
 public:
  explicit FloatVif(const MetricSetup& setup) : format_(setup.format) {
    for (const Options& options : setup.sets) sets_.emplace_back(options);
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      const Settings& set = sets_[i];
      auto group = std::find_if(groups_.begin(), groups_.end(),
                                [&](const Group& g) { return g.key == set.geometry; });
      if (group == groups_.end())
        group = groups_.insert(group,
                               Group{set.geometry, make_geometry(format_, set.geometry), {}, {}});
      group->geometry.scale0 |= !set.skip_scale0;
      group->channels.push_back(set.channel);
      group->sets.push_back(i);
    }
  }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> list;
    list.reserve(kScales);
    for (int s = 0; s < kScales; ++s)
      list.push_back({fmt::format("VMAF_feature_vif_scale{}_score", s)});
    if (!sets_[set].debug) return list;
    for (const char* total : {"vif", "vif_num", "vif_den"}) list.push_back({total});
    for (int s = 0; s < kScales; ++s) {
      list.push_back({fmt::format("vif_num_scale{}", s)});
      list.push_back({fmt::format("vif_den_scale{}", s)});
    }
    return list;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const Frame& frame = context.frame();
    const auto samples = [&](const Picture& picture) {
      return float_rows::samples_of(picture.plane(0), format_.bit_depth, -128);
    };
    for (const Group& group : groups_) {
      std::vector<Words> words =
          measure_group(context, samples(frame.reference()), samples(frame.distorted()), group);
      for (std::size_t c = 0; c < words.size(); ++c) {
        if (sets_[group.sets[c]].skip_scale0) words[c].num[0] = words[c].den[0] = 0;
        out[group.sets[c]] = Measured::of(words[c]);
      }
    }
    return {};
  }

  Status finish_frame(std::size_t index, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Settings& set = sets_[index];
    const auto words = window.here().as<Words>();
    double num = 0, den = 0;
    scores[0] = 0;
    for (int s = set.first_scale(); s < kScales; ++s) {
      const double score = words.num[s] / words.den[s];
      // Written so that the floor wins over a NaN, as in the law.
      scores[static_cast<std::size_t>(s)] = s == 0 || score > set.floors[s] ? score : set.floors[s];
      num += words.num[s];
      den += words.den[s];
    }
    if (!set.debug) return {};
    std::size_t next = kScales;
    scores[next++] = den == 0 ? 1 : num / den;
    scores[next++] = num;
    scores[next++] = den;
    for (int s = 0; s < kScales; ++s) {
      const bool skipped = s < set.first_scale();
      scores[next++] = words.num[s];
      scores[next++] = skipped ? -1 : words.den[s];
    }
    return {};
  }

 private:
  VideoFormat format_;
  std::vector<Settings> sets_;
  std::vector<Group> groups_;
};

// Every window must reach no further than one reflection.
Status check_geometry(const VideoFormat& format, const Settings& set) {
  const GeometryKey& key = set.geometry;
  const int width = rescaled(format.width, key.prescale);
  const int height = rescaled(format.height, key.prescale);
  const bool resized = width != format.width || height != format.height;
  if (resized)
    VQX_RETURN_IF_ERROR(float_rows::check_size("float_vif: vif_prescale", format.width,
                                               format.height, shortest_axis(key.method)));
  if (resized && key.method == Resampling::kBilinear && width > kWidestBilinear)
    return Status(ErrorCode::kUnsupportedSize,
                  fmt::format("float_vif: bilinear prescaling to {}x{} is not supported; up to {} "
                              "columns are",
                              width, height, kWidestBilinear));
  int smallest = 1;
  for (int s = set.first_scale(); s < kScales; ++s) {
    const int radius = static_cast<int>(window(s, key.kernel_scale).size()) / 2;
    smallest = std::max(smallest, (radius + 1) << s);
    // A scale is made from the one before with its own window.
    if (s > 0) smallest = std::max(smallest, (radius + 1) << (s - 1));
  }
  return float_rows::check_size(resized ? "float_vif: after vif_prescale" : "float_vif", width,
                                height, smallest);
}

Status check(const VideoFormat& format, const Settings& set) {
  if (!is_supported_kernel_scale(set.geometry.kernel_scale))
    return Status(
        ErrorCode::kInvalidArgument,
        fmt::format("float_vif: vif_kernelscale={:g} is not supported; 1/2.25, 1/2, 2/3, 0.711111, "
                    "0.74074, 1, 1.06667, 1.111111, 3.5/3, 3.75/3, 4/3, 4.25/3, 1.4746, 1.5, 1.54, "
                    "1.6, 5/3, 2, 2.4, 3 and 360/97 are",
                    set.geometry.kernel_scale));
  return check_geometry(format, set);
}

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  VQX_RETURN_IF_ERROR(float_rows::check_bit_depth("float_vif", setup.format));
  for (const Options& options : setup.sets)
    VQX_RETURN_IF_ERROR(check(setup.format, Settings(options)));
  return std::unique_ptr<Metric>(std::make_unique<FloatVif>(setup));
}

}  // namespace
}  // namespace float_vif

extern const MetricInfo kFloatVifInfo;
const MetricInfo kFloatVifInfo = {"float_vif", "Visual information fidelity in single precision",
                                  float_vif::kOptions, float_vif::kModelFeatures,
                                  float_vif::create};

}  // namespace vqx
