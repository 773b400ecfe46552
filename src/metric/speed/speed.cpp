#include "metric/speed/speed.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "exact/functions.hpp"

namespace vqx {
namespace speed {
namespace {

#define VQX_SPEED_COMMON_OPTIONS                                                                     \
  {"speed_kernelscale", "ks", OptionType::kReal, true, "1", 0.1, 4, "", "widens both Gaussians"},    \
      {"speed_max_val",                                                                              \
       "mxv",                                                                                        \
       OptionType::kReal,                                                                            \
       true,                                                                                         \
       "1000",                                                                                       \
       0,                                                                                            \
       1000,                                                                                         \
       "",                                                                                           \
       "cap of the score (speed_chroma only)"},                                                      \
      {"speed_nn_floor",                                                                             \
       "nnf",                                                                                        \
       OptionType::kReal,                                                                            \
       true,                                                                                         \
       "0",                                                                                          \
       0,                                                                                            \
       1,                                                                                            \
       "",                                                                                           \
       "raises the entropy below which a block counts as invisible"},                                \
      {"speed_prescale", "ps", OptionType::kReal, true, "1", 0.1, 4, "", "resizes the plane first"}, \
      {"speed_prescale_method",                                                                      \
       "psm",                                                                                        \
       OptionType::kText,                                                                            \
       true,                                                                                         \
       "nearest",                                                                                    \
       0,                                                                                            \
       0,                                                                                            \
       "nearest|bilinear|bicubic|lanczos4",                                                          \
       "how to resize"},                                                                             \
  {                                                                                                  \
    "speed_sigma_nn", "snn", OptionType::kReal, true, "0.29", 0.1, 2, "", "neural noise"             \
  }

constexpr OptionSpec kChromaOptions[] = {
    VQX_SPEED_COMMON_OPTIONS,
    {"speed_weight_var_mode", "wvm", OptionType::kInt, true, "0", 0, 6, "",
     "how reference and distorted variance weigh a block"},
};
constexpr OptionSpec kTemporalOptions[] = {
    VQX_SPEED_COMMON_OPTIONS,
    {"speed_use_ref_diff", "urd", OptionType::kBool, true, "false", 0, 0, "",
     "take the distorted difference against the current reference"},
};
#undef VQX_SPEED_COMMON_OPTIONS

constexpr std::string_view kChromaFeatures[] = {"Speed_chroma_feature_speed_chroma_u_score",
                                                "Speed_chroma_feature_speed_chroma_v_score",
                                                "Speed_chroma_feature_speed_chroma_uv_score"};
constexpr std::string_view kTemporalFeatures[] = {"Speed_temporal_feature_speed_temporal_score"};

// ---- measured words: for each plane whether it is regular, the number of its blocks, and the
// entropy and variance of each block.

struct Blocks {
  bool regular = false;
  std::vector<float> entropy;
  std::vector<float> variance;
};

void append(const Mixture& mixture, const std::vector<float>& entropy,
            std::vector<std::uint64_t>& words) {
  words.push_back(mixture.regular ? 1 : 0);
  words.push_back(entropy.size());
  for (std::size_t i = 0; i < entropy.size(); ++i)
    words.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(mixture.variance[i])} << 32 |
                    std::bit_cast<std::uint32_t>(entropy[i]));
}

std::vector<Blocks> read(const Measured& measured) {
  std::vector<Blocks> planes;
  const std::vector<std::uint64_t>& words = measured.words;
  for (std::size_t at = 0; at + 1 < words.size();) {
    Blocks plane;
    plane.regular = words[at] != 0;
    const std::size_t end = at + 2 + words[at + 1];
    for (at += 2; at < end; ++at) {
      plane.entropy.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(words[at])));
      plane.variance.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(words[at] >> 32)));
    }
    planes.push_back(std::move(plane));
  }
  return planes;
}

// ---- score of a pair of planes

struct Weights {
  double reference;
  double distorted;
};
Weights block_weights(int mode, float s1, float s2) {
  const auto own = [](float s) { return exact::log2(static_cast<double>(1.0f + s)); };
  const auto mixed = [](double s) { return exact::log2(1.0 + s); };
  const auto half = [&] { return mixed(static_cast<double>(s1 + s2) / 2.0); };
  const double d1 = s1, d2 = s2;
  switch (mode) {
    case 0:
      return {own(s1), own(s2)};
    case 1:
      return {own(s1), own(s1)};
    case 2:
      return {own(s2), own(s2)};
    case 3:
      return {half(), half()};
    case 4:
      return {own(s1), half()};
    case 5:
      return {own(s1), mixed(0.75 * d1 + 0.25 * d2)};
    default:
      return {own(s1), mixed(0.25 * d1 + 0.75 * d2)};
  }
}

struct PairScore {
  float score = 0;
  bool valid = false;
};
PairScore compare(const Blocks& reference, const Blocks& distorted, float sigma, float floor,
                  int mode) {
  PairScore result;
  result.valid = reference.regular && distorted.regular;
  if (reference.regular != distorted.regular) return result;
  const float argument = (1.0f + floor) * sigma;
  const float base = static_cast<float>(
      kSize * (exact::log2(static_cast<double>(argument)) + 0x1.06073a671183dp+2));
  float sum = 0;
  const std::size_t blocks = reference.entropy.size();
  for (std::size_t i = 0; i < blocks; ++i) {
    const float e1 = reference.entropy[i], e2 = distorted.entropy[i];
    if (e1 < base && e2 < base) continue;
    const Weights w = block_weights(mode, reference.variance[i], distorted.variance[i]);
    sum += std::abs(static_cast<float>(static_cast<double>(e1) * w.reference) -
                    static_cast<float>(static_cast<double>(e2) * w.distorted));
  }
  result.score = sum / static_cast<float>(blocks);
  return result;
}

struct Config {
  FilterOptions filter;
  std::size_t filters = 0;  // index of the shared filters
  float sigma = 0;
  float floor = 0;
  double max_val = 0;
  int weight_mode = 0;
  bool use_reference = false;
};

Config configure(const Options& options) {
  Config config;
  config.filter.kernel_scale = options.real("speed_kernelscale");
  config.filter.prescale = options.real("speed_prescale");
  const std::string& method = options.text("speed_prescale_method");
  config.filter.method = method == "bilinear"   ? Resampling::kBilinear
                         : method == "bicubic"  ? Resampling::kBicubic
                         : method == "lanczos4" ? Resampling::kLanczos4
                                                : Resampling::kNearest;
  config.sigma = static_cast<float>(options.real("speed_sigma_nn"));
  config.floor = static_cast<float>(options.real("speed_nn_floor"));
  config.max_val = options.real("speed_max_val");
  return config;
}

// Option sets of one run and the filters they share.
struct Plan {
  std::vector<Config> configs;
  std::vector<Filters> filters;

  Status add(std::string_view metric, int width, int height, Config config) {
    for (const Config& other : configs)
      if (other.filter == config.filter) {
        config.filters = other.filters;
        configs.push_back(config);
        return {};
      }
    VQX_ASSIGN_OR_RETURN(Filters made, make_filters(metric, width, height, config.filter));
    config.filters = filters.size();
    filters.push_back(std::move(made));
    configs.push_back(config);
    return {};
  }
};

Mixture fit(const Source& source, const Filters& filters) {
  if (simd_is_scalar()) return fit_reference(decimate_reference(source, filters));
  return fit_simd(decimate_simd(source, filters));
}

// Fits each source with each of the filters, all in parallel: mixtures[filter][source].
std::vector<std::vector<Mixture>> fit_all(const MeasureContext& context, const Plan& plan,
                                          const std::vector<Source>& sources) {
  std::vector<std::vector<Mixture>> mixtures(plan.filters.size(),
                                             std::vector<Mixture>(sources.size()));
  const int count = static_cast<int>(sources.size());
  context.parallel(static_cast<int>(plan.filters.size()) * count, [&](int i) {
    const auto filter = static_cast<std::size_t>(i / count);
    const auto source = static_cast<std::size_t>(i % count);
    mixtures[filter][source] = fit(sources[source], plan.filters[filter]);
  });
  return mixtures;
}

// The words of a set: the given planes of its filters, with entropies at its noise level.
Measured describe(const MeasureContext& context, const std::vector<Mixture>& mixtures,
                  const std::vector<std::size_t>& planes, float sigma) {
  std::vector<std::vector<float>> entropy(planes.size());
  context.parallel(static_cast<int>(planes.size()), [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    entropy[at] = entropies(mixtures[planes[at]], sigma);
  });
  Measured out;
  for (std::size_t i = 0; i < planes.size(); ++i)
    append(mixtures[planes[i]], entropy[i], out.words);
  return out;
}

class SpeedChroma final : public Metric {
 public:
  explicit SpeedChroma(Plan plan) : plan_(std::move(plan)) {}

  std::vector<Output> outputs(std::size_t /*set*/) const override {
    std::vector<Output> outputs;
    for (const std::string_view name : kChromaFeatures) outputs.push_back({std::string(name)});
    return outputs;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const Frame& frame = context.frame();
    std::vector<Source> sources;
    for (const int plane : {1, 2})
      for (const Side side : {Side::kReference, Side::kDistorted})
        sources.push_back(
            {&frame.picture(side).plane(plane), nullptr, frame.reference().format().bit_depth});
    const auto mixtures = fit_all(context, plan_, sources);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Config& config = plan_.configs[i];
      out[i] = describe(context, mixtures[config.filters], {0, 1, 2, 3}, config.sigma);
    }
    return {};
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Config& config = plan_.configs[set];
    const std::vector<Blocks> planes = read(window.here());
    const auto pair = [&](std::size_t first) {
      return compare(planes[first], planes[first + 1], config.sigma, config.floor,
                     config.weight_mode);
    };
    const PairScore u = pair(0);
    const PairScore v = pair(2);
    float uv = u.valid ? u.score : v.score;
    if (u.valid == v.valid) uv = static_cast<float>(static_cast<double>(u.score + v.score) / 2.0);
    const auto capped = [&](float score) {
      return static_cast<double>(score) < config.max_val ? static_cast<double>(score)
                                                         : config.max_val;
    };
    scores[0] = capped(u.score);
    scores[1] = capped(v.score);
    scores[2] = capped(uv);
    return {};
  }

 private:
  Plan plan_;
};

class SpeedTemporal final : public Metric {
 public:
  explicit SpeedTemporal(Plan plan) : plan_(std::move(plan)) {}

  Needs needs(std::size_t /*set*/) const override {
    Needs needs;
    needs.pictures_before = 1;
    needs.contiguous = true;
    return needs;
  }

  std::vector<Output> outputs(std::size_t /*set*/) const override {
    return {{std::string(kTemporalFeatures[0])}};
  }

  // Nothing for the first frame.
  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    std::fill(out.begin(), out.end(), Measured());
    const Frame* before = context.earlier(1);
    if (before == nullptr) return {};
    const Frame& frame = context.frame();
    const int depth = frame.reference().format().bit_depth;
    std::vector<Source> sources = {
        {&frame.reference().plane(0), &before->reference().plane(0), depth}};
    // Which source is the distorted one of a set: its plain or its reference difference.
    std::size_t position[2] = {0, 0};
    for (const bool use_reference : {false, true}) {
      const bool wanted =
          std::any_of(plan_.configs.begin(), plan_.configs.end(),
                      [&](const Config& c) { return c.use_reference == use_reference; });
      if (!wanted) continue;
      position[use_reference ? 1 : 0] = sources.size();
      const Picture& current = use_reference ? frame.reference() : frame.distorted();
      sources.push_back({&current.plane(0), &before->distorted().plane(0), depth});
    }
    const auto mixtures = fit_all(context, plan_, sources);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Config& config = plan_.configs[i];
      out[i] = describe(context, mixtures[config.filters],
                        {0, position[config.use_reference ? 1 : 0]}, config.sigma);
    }
    return {};
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Config& config = plan_.configs[set];
    const std::vector<Blocks> planes = read(window.here());
    scores[0] =
        planes.empty() ? 0.0 : compare(planes[0], planes[1], config.sigma, config.floor, 0).score;
    return {};
  }

 private:
  Plan plan_;
};

Result<std::unique_ptr<Metric>> create_chroma(const MetricSetup& setup) {
  const VideoFormat& format = setup.format;
  if (format.chroma == ChromaFormat::k400)
    return Status(ErrorCode::kInvalidArgument,
                  "speed_chroma: 4:0:0 pictures have no chroma; it takes 4:2:0, 4:2:2 and 4:4:4");
  Plan plan;
  for (const Options& options : setup.sets) {
    Config config = configure(options);
    config.weight_mode = options.integer("speed_weight_var_mode");
    VQX_RETURN_IF_ERROR(
        plan.add("speed_chroma", format.plane_width(1), format.plane_height(1), config));
  }
  return std::unique_ptr<Metric>(std::make_unique<SpeedChroma>(std::move(plan)));
}

Result<std::unique_ptr<Metric>> create_temporal(const MetricSetup& setup) {
  Plan plan;
  for (const Options& options : setup.sets) {
    Config config = configure(options);
    config.use_reference = options.flag("speed_use_ref_diff");
    VQX_RETURN_IF_ERROR(
        plan.add("speed_temporal", setup.format.width, setup.format.height, config));
  }
  return std::unique_ptr<Metric>(std::make_unique<SpeedTemporal>(std::move(plan)));
}

}  // namespace
}  // namespace speed

const MetricInfo kSpeedChromaInfo = {
    "speed_chroma", "entropic differencing of the chroma planes (SpEED)", speed::kChromaOptions,
    speed::kChromaFeatures, speed::create_chroma};
const MetricInfo kSpeedTemporalInfo = {
    "speed_temporal", "entropic differencing of luma frame differences (SpEED)",
    speed::kTemporalOptions, speed::kTemporalFeatures, speed::create_temporal};

}  // namespace vqx
