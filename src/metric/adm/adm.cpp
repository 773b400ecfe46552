#include "metric/adm/adm.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "metric/adm/adm_math.hpp"
#include "metric/adm/adm_powf.hpp"

namespace vqx {
namespace adm {
namespace {

constexpr OptionSpec kOptions[] = {
    {"adm_csf_diag_scale", "scfd", OptionType::kReal, true, "1", 0, 50, "",
     "factor on the diagonal weights (adm_csf_mode 1)"},
    {"adm_csf_mode", "csf", OptionType::kInt, true, "0", 0, 3, "",
     "contrast sensitivity: 0 Watson, 1 Barten, 2 blended, 3 blended (second fit)"},
    {"adm_csf_scale", "scf", OptionType::kReal, true, "1", 0, 50, "",
     "factor on the horizontal and vertical weights (adm_csf_mode 1)"},
    {"adm_dlm_weight", "dlmw", OptionType::kReal, true, "0.5", 0, 1, "", "share of adm2 in adm3"},
    {"adm_enhn_gain_limit", "egl", OptionType::kReal, true, "100", 1, 100, "",
     "largest rise of restored detail; 1 forbids enhancement"},
    {"adm_min_val", "min", OptionType::kReal, true, "0", 0, 1, "", "lower limit of adm3"},
    {"adm_noise_weight", "nw", OptionType::kReal, true, "0.03125", 0, 1500, "",
     "noise floor per scored coefficient"},
    {"adm_norm_view_dist", "nvd", OptionType::kReal, true, "3", 0.75, 24, "",
     "viewing distance in display heights"},
    {"adm_ref_display_height", "rdh", OptionType::kInt, true, "1080", 1, 4320, "",
     "display height in pixels"},
    {"adm_skip_aim", "", OptionType::kBool, false, "false", 0, 0, "", "leave aim at 0"},
    {"adm_skip_scale0", "ssz", OptionType::kBool, true, "false", 0, 0, "",
     "do not score the finest scale"},
    {"debug", "", OptionType::kBool, false, "false", 0, 0, "",
     "also report numerators and denominators"},
};

constexpr std::string_view kModelFeatures[] = {"VMAF_integer_feature_adm2_score",
                                               "VMAF_integer_feature_aim_score",
                                               "VMAF_integer_feature_adm3_score",
                                               "integer_adm_scale0",
                                               "integer_adm_scale1",
                                               "integer_adm_scale2",
                                               "integer_adm_scale3"};

// What finish_frame needs of an option set besides the sums.
struct Config {
  Params params;
  ScaleWeights weights[kScales];
  double noise_weight = 0;
  double dlm_weight = 0;
  double min_val = 0;
  bool debug = false;
};

Result<Config> configure(const Options& options) {
  CsfOptions csf;
  csf.mode = static_cast<CsfMode>(options.integer("adm_csf_mode"));
  csf.viewing = {options.real("adm_norm_view_dist"), options.integer("adm_ref_display_height")};
  csf.scale = options.real("adm_csf_scale");
  csf.diagonal_scale = options.real("adm_csf_diag_scale");
  if (csf.viewing.distance * csf.viewing.display_height < 3240.0)
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("adm: adm_norm_view_dist {:g} times adm_ref_display_height {} is "
                              "below 3240 (3 heights of 1080 lines), the least that it takes",
                              csf.viewing.distance, csf.viewing.display_height));
  Config config;
  VQX_RETURN_IF_ERROR(csf_weights(csf, config.weights));
  config.params.gain_limit = options.real("adm_enhn_gain_limit");
  config.params.skip_scale0 = options.flag("adm_skip_scale0");
  config.params.skip_aim = options.flag("adm_skip_aim");
  for (int s = 0; s < kScales; ++s)
    config.params.weights[s] = fixed_weights(csf, s, config.weights[s]);
  config.noise_weight = options.real("adm_noise_weight");
  config.dlm_weight = options.real("adm_dlm_weight");
  config.min_val = options.real("adm_min_val");
  config.debug = options.flag("debug");
  return config;
}

// Geometry of one scale's bands.
struct ScaleSize {
  int width;
  int height;
  Range columns() const { return scored_range(width); }
  Range rows() const { return scored_range(height); }
  int area() const { return columns().size() * rows().size(); }
};

// Single-precision score of one scale: cube roots of the bands' energies above a noise floor.
template <class BandEnergy>
float scale_score(const BandEnergy& energy, double noise) {
  const float floor = cube_root(static_cast<float>(noise));
  const auto band = [&](int b) { return cube_root(energy(b)) + floor; };
  const float hv = band(0) + band(1);
  return hv + band(2);
}

float masked_score(const std::int64_t (&sums)[kBands], int scale, const ScaleSize& size,
                   double noise_weight) {
  const int row_shift = ceil_log2(static_cast<std::uint64_t>(size.height));
  const auto energy = [&](int b) {
    constexpr int kExponents[] = {0, 45, 39, 36};
    const int exponent = scale > 0 ? kExponents[scale] : b == 2 ? 57 : 52;
    const int shift = exponent - energy_shifts(scale, b == 2, size.width).cube - row_shift;
    // The law rounds twice at scale 0, once at the others.
    if (scale == 0) return static_cast<float>(std::ldexp(static_cast<double>(sums[b]), -shift));
    return std::ldexp(static_cast<float>(sums[b]), -shift);
  };
  return scale_score(energy, size.area() * noise_weight);
}

float reference_score(const std::uint64_t (&sums)[kBands], int scale, const ScaleSize& size,
                      const ScaleWeights& weights, double noise_weight) {
  const ReferenceShifts shifts = reference_shifts(scale, size.columns().size(), size.rows().size());
  constexpr int kExponents[] = {18, 32, 27, 23};
  const int shift = kExponents[scale] - shifts.row - shifts.cube;
  const auto energy = [&](int b) {
    const double w = b == 2 ? weights.d : weights.hv;
    const double cubed = (w * w) * w;  // correctly rounded: the square of a single is exact
    return static_cast<float>(std::ldexp(static_cast<double>(sums[b]), -shift) * cubed);
  };
  return scale_score(energy, size.area() * noise_weight);
}

class AdmMetric final : public Metric {
 public:
  AdmMetric(const VideoFormat& format, std::vector<Config> configs)
      : width_(format.width), height_(format.height), configs_(std::move(configs)) {}

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> outputs;
    for (const std::string_view name : kModelFeatures) outputs.push_back({std::string(name)});
    if (configs_[set].debug) {
      for (const char* name : {"", "_num", "_den"})
        outputs.push_back({std::string("integer_adm") + name});
      for (int s = 0; s < kScales; ++s)
        for (const char* name : {"num", "den"})
          outputs.push_back({fmt::format("integer_adm_{}_scale{}", name, s)});
    }
    return outputs;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const Frame& frame = context.frame();
    std::vector<Params> fast;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < configs_.size(); ++i) {
      const Params& params = configs_[i].params;
      if (simd_is_scalar() || !simd_widths_hold(params)) {
        out[i] = Measured::of(measure_reference(frame.reference(), frame.distorted(), params));
      } else {
        fast.push_back(params);
        owners.push_back(i);
      }
    }
    std::vector<Sums> sums(fast.size());
    if (!fast.empty()) measure_simd(context, fast, sums);
    for (std::size_t i = 0; i < fast.size(); ++i) out[owners[i]] = Measured::of(sums[i]);
    return {};
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Config& config = configs_[set];
    const Sums sums = window.here().as<Sums>();
    double num = 0, den = 0, aim = 0;
    double scale_num[kScales], scale_den[kScales];
    ScaleSize size{width_, height_};
    for (int s = 0; s < kScales; ++s) {
      size = {(size.width + 1) / 2, (size.height + 1) / 2};
      const bool skipped = s == 0 && config.params.skip_scale0;
      const float n = skipped ? 0.0f : masked_score(sums.restored[s], s, size, config.noise_weight);
      const float a =
          skipped || config.params.skip_aim ? 0.0f : masked_score(sums.additive[s], s, size, 0.0);
      const float d = skipped ? 1e-10f
                              : reference_score(sums.reference[s], s, size, config.weights[s],
                                                config.noise_weight);
      scale_num[s] = n;
      scale_den[s] = d;
      num += n;
      den += d;
      aim += a;
    }
    const double limit = 1e-10 * (static_cast<double>(width_) * height_) / (1920.0 * 1080.0);
    if (num < limit) num = 0;
    if (den < limit) den = 0;
    // Without any reference detail nothing was lost; the law leaves aim to us.
    const double adm2 = den == 0 ? 1.0 : num / den;
    const double aim_score = den == 0 ? 0.0 : aim / den;
    double adm3 = adm2 * config.dlm_weight + (1 - aim_score) * (1 - config.dlm_weight);
    if (!(adm3 > config.min_val)) adm3 = config.min_val;

    std::size_t next = 0;
    const auto put = [&](double value) { scores[next++] = value; };
    put(adm2);
    put(aim_score);
    put(adm3);
    for (int s = 0; s < kScales; ++s)
      put(scale_den[s] != 0 ? scale_num[s] / scale_den[s]
                            : std::numeric_limits<double>::quiet_NaN());
    if (config.debug) {
      put(adm2);
      put(num);
      put(den);
      for (int s = 0; s < kScales; ++s) {
        put(scale_num[s]);
        put(scale_den[s]);
      }
    }
    return {};
  }

 private:
  int width_;
  int height_;
  std::vector<Config> configs_;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  const VideoFormat& format = setup.format;
  if (format.width < kMinSide || format.height < kMinSide)
    return Status(ErrorCode::kUnsupportedSize,
                  fmt::format("adm: pictures of {}x{} are too small; it takes {}x{} and larger",
                              format.width, format.height, kMinSide, kMinSide));
  std::vector<Config> configs;
  for (const Options& options : setup.sets) {
    VQX_ASSIGN_OR_RETURN(Config config, configure(options));
    configs.push_back(config);
  }
  return std::unique_ptr<Metric>(std::make_unique<AdmMetric>(format, std::move(configs)));
}

}  // namespace
}  // namespace adm

const MetricInfo kAdmInfo = {"adm", "detail loss and additive impairment (VMAF's ADM)",
                             adm::kOptions, adm::kModelFeatures, adm::create};

}  // namespace vqx
