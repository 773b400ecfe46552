#include "metric/float_adm/float_adm.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exact/functions.hpp"
#include "metric/adm/adm_csf.hpp"
#include "metric/adm/adm_powf.hpp"
#include "metric/metric.hpp"

namespace vqx {
namespace float_adm {
namespace {

constexpr OptionSpec force_weight(const char* name, const char* alias) {
  return {name, alias, OptionType::kReal,
          true, "-1",  -1,
          10,   "",    "replaces a weight of that scale (f1: h and v, f2: d) when not negative"};
}

constexpr OptionSpec kOptions[] = {
    {"adm_csf_scale", "scf", OptionType::kReal, true, "1", 0, 50, "",
     "factor on the horizontal and vertical weights (adm_csf_mode 1)"},
    {"adm_csf_diag_scale", "scfd", OptionType::kReal, true, "1", 0, 50, "",
     "factor on the diagonal weights (adm_csf_mode 1)"},
    {"adm_dlm_weight", "dlmw", OptionType::kReal, true, "0.5", 0, 1, "", "share of adm2 in adm3"},
    {"adm_enhn_gain_limit", "egl", OptionType::kReal, true, "100", 1, 100, "",
     "largest rise of restored detail; 1 forbids enhancement"},
    {"adm_norm_view_dist", "nvd", OptionType::kReal, true, "3", 0.75, 24, "",
     "viewing distance in display heights"},
    {"adm_ref_display_height", "rdf", OptionType::kInt, true, "1080", 1, 4320, "",
     "display height in pixels"},
    {"adm_csf_mode", "csf", OptionType::kInt, true, "0", 0, 9, "",
     "contrast sensitivity: 1 Barten, 2 that of the paper, others Watson"},
    {"adm_noise_weight", "nw", OptionType::kReal, true, "0.03125", 0, 1500, "",
     "noise floor per scored coefficient"},
    {"adm_skip_scale0", "ssz", OptionType::kBool, true, "false", 0, 0, "",
     "do not score the finest scale"},
    {"adm_min_val", "min", OptionType::kReal, true, "0", 0, 1, "", "lower limit of adm3"},
    {"adm_bypass_cm", "bcm", OptionType::kInt, true, "0", 0, 1, "", "1: no contrast masking"},
    {"adm_adm3_apply_hm", "aah", OptionType::kBool, true, "false", 0, 0, "",
     "adm3 as harmonic mean of adm2 and aim"},
    {"adm_p_norm", "apn", OptionType::kReal, true, "3", 1, 20, "", "exponent of the energies"},
    force_weight("adm_f1s0", "f1s0"),
    force_weight("adm_f1s1", "f1s1"),
    force_weight("adm_f1s2", "f1s2"),
    force_weight("adm_f1s3", "f1s3"),
    force_weight("adm_f2s0", "f2s0"),
    force_weight("adm_f2s1", "f2s1"),
    force_weight("adm_f2s2", "f2s2"),
    force_weight("adm_f2s3", "f2s3"),
    {"adm_skip_aim_scale", "sasc", OptionType::kInt, true, "-1", 0, 3, "",
     "leave this scale out of aim"},
    {"debug", "", OptionType::kBool, false, "false", 0, 0, "",
     "also report numerators and denominators"},
};

constexpr std::string_view kModelFeatures[] = {
    "VMAF_feature_adm2_score",       "VMAF_feature_aim_score",
    "VMAF_feature_adm3_score",       "VMAF_feature_adm_scale0_score",
    "VMAF_feature_adm_scale1_score", "VMAF_feature_adm_scale2_score",
    "VMAF_feature_adm_scale3_score"};

// An option set: what measuring and finishing need.
struct Config {
  Params params;
  double noise_weight = 0;
  double dlm_weight = 0;
  double min_value = 0;
  bool harmonic = false;
  int skip_aim_scale = -1;
  bool debug = false;
};

// The native curve of the paper: (0.31 + 0.69 f) exp(-0.29 f).
float paper_weight(float frequency) {
  const auto f = static_cast<double>(frequency);
  return static_cast<float>((0.31 + 0.69 * f) * exact::exp(-0.29 * f));
}

void set_weights(const Options& options, Params& params) {
  adm::Viewing viewing;
  viewing.distance = options.real("adm_norm_view_dist");
  viewing.display_height = options.integer("adm_ref_display_height");
  const float ppd = viewing.pixels_per_degree();
  const int mode = options.integer("adm_csf_mode");
  for (int scale = 0; scale < kScales; ++scale) {
    float hv = adm::watson_weight(scale, false, ppd);
    float d = adm::watson_weight(scale, true, ppd);
    if (mode == 1) {
      hv = adm::barten_weight(scale, options.real("adm_csf_scale"), ppd);
      d = adm::barten_weight(scale, options.real("adm_csf_diag_scale"), ppd);
    } else if (mode == 2) {
      const auto f = static_cast<float>(static_cast<double>(ppd) / (2 << scale));
      hv = paper_weight(f);
      d = paper_weight(static_cast<float>(static_cast<double>(f) / 0.7));
    }
    const double forced_hv = options.real("adm_f1s" + std::to_string(scale));
    const double forced_d = options.real("adm_f2s" + std::to_string(scale));
    if (forced_hv >= 0) hv = static_cast<float>(forced_hv);
    if (forced_d >= 0) d = static_cast<float>(forced_d);
    params.weights[scale][0] = params.weights[scale][1] = hv;
    params.weights[scale][2] = d;
  }
}

Config configure(const Options& options) {
  Config config;
  config.params.gain_limit = options.real("adm_enhn_gain_limit");
  config.params.exponent = static_cast<float>(options.real("adm_p_norm"));
  config.params.bypass_masking = options.integer("adm_bypass_cm") != 0;
  config.params.skip_scale0 = options.flag("adm_skip_scale0");
  set_weights(options, config.params);
  config.noise_weight = options.real("adm_noise_weight");
  config.dlm_weight = options.real("adm_dlm_weight");
  config.min_value = options.real("adm_min_val");
  config.harmonic = options.flag("adm_adm3_apply_hm");
  config.skip_aim_scale = options.integer("adm_skip_aim_scale");
  config.debug = options.flag("debug");
  return config;
}

// Roots of the band sums and of the noise, added over the bands in order.
float pooled(const double (&sums)[kBands], std::int64_t area, double noise_weight, float exponent) {
  const float root = 1.0f / exponent;
  const float noise = adm::powf(static_cast<float>(static_cast<double>(area) * noise_weight), root);
  float score = 0;
  for (int b = 0; b < kBands; ++b) {
    const float part = adm::powf(static_cast<float>(sums[b]), root) + noise;
    score = b == 0 ? part : score + part;
  }
  return score;
}

class FloatAdm final : public Metric {
 public:
  FloatAdm(const VideoFormat& format, std::vector<Config> sets)
      : format_(format), sets_(std::move(sets)) {
    for (const Config& set : sets_) params_.push_back(&set.params);
  }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> out;
    for (const std::string_view name : kModelFeatures) out.push_back({std::string(name)});
    if (!sets_[set].debug) return out;
    out.push_back({"adm", false});
    out.push_back({"adm_num"});
    out.push_back({"adm_den"});
    for (int scale = 0; scale < kScales; ++scale) {
      out.push_back({fmt::format("adm_num_scale{}", scale)});
      out.push_back({fmt::format("adm_den_scale{}", scale)});
    }
    return out;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    std::vector<Sums> sums(sets_.size());
    const Plane& reference = context.frame().reference().plane(0);
    const Plane& distorted = context.frame().distorted().plane(0);
    if (simd_is_scalar())
      measure_reference(reference, distorted, format_.bit_depth, params_, sums);
    else
      measure_simd(reference, distorted, format_.bit_depth, params_, context, sums);
    for (std::size_t set = 0; set < sums.size(); ++set) out[set] = Measured::of(sums[set]);
    return {};
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Config& config = sets_[set];
    const Sums sums = window.here().as<Sums>();
    double num = 0;
    double den = 0;
    double aim = 0;
    double aim_den = 0;
    double nums[kScales] = {};
    double dens[kScales] = {};
    for (int scale = 0; scale < kScales; ++scale) {
      float n = 0;
      float d = 1e-10f;
      float a = 0;
      if (scale > 0 || !config.params.skip_scale0) {
        const float p = config.params.exponent;
        const std::int64_t area = sums.area[scale];
        n = pooled(sums.detail[scale], area, config.noise_weight, p);
        d = pooled(sums.reference[scale], area, config.noise_weight, p);
        a = pooled(sums.impairment[scale], area, 0.0, p);
      }
      nums[scale] = static_cast<double>(n);
      dens[scale] = static_cast<double>(d);
      num += nums[scale];
      den += dens[scale];
      if (scale != config.skip_aim_scale) {
        aim += static_cast<double>(a);
        aim_den += dens[scale];
      }
    }
    const double limit = 1e-10 * (format_.width * format_.height) / (1920.0 * 1080.0);
    num = num < limit ? 0.0 : num;
    den = den < limit ? 0.0 : den;
    const double adm2 = den == 0 ? 1.0 : num / den;
    const double aim_score =
        den == 0 ? std::numeric_limits<double>::quiet_NaN() : std::min(aim / aim_den, 1.0);
    const double adm3 = config.harmonic
                            ? 2 * adm2 * aim_score / (adm2 + aim_score)
                            : adm2 * config.dlm_weight + (1 - aim_score) * (1 - config.dlm_weight);
    std::size_t next = 0;
    scores[next++] = adm2;
    scores[next++] = aim_score;
    scores[next++] = adm3 > config.min_value ? adm3 : config.min_value;
    for (int scale = 0; scale < kScales; ++scale)
      scores[next++] =
          dens[scale] != 0 ? nums[scale] / dens[scale] : std::numeric_limits<double>::quiet_NaN();
    if (!config.debug) return {};
    scores[next++] = adm2;
    scores[next++] = num;
    scores[next++] = den;
    for (int scale = 0; scale < kScales; ++scale) {
      scores[next++] = nums[scale];
      scores[next++] = dens[scale];
    }
    return {};
  }

 private:
  VideoFormat format_;
  std::vector<Config> sets_;
  std::vector<const Params*> params_;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  const VideoFormat& format = setup.format;
  if (format.width < kMinSide || format.height < kMinSide)
    return Status(
        ErrorCode::kUnsupportedSize,
        fmt::format("float_adm: pictures of {}x{} are too small; it takes {}x{} and larger",
                    format.width, format.height, kMinSide, kMinSide));
  std::vector<Config> configs;
  for (const Options& options : setup.sets) configs.push_back(configure(options));
  return std::unique_ptr<Metric>(std::make_unique<FloatAdm>(format, std::move(configs)));
}

}  // namespace
}  // namespace float_adm

extern const MetricInfo kFloatAdmInfo;
const MetricInfo kFloatAdmInfo = {
    "float_adm", "detail loss and additive impairment in single precision", float_adm::kOptions,
    float_adm::kModelFeatures, float_adm::create};

}  // namespace vqx
