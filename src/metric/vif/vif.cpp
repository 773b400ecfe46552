#include "metric/vif/vif.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace vqx {
namespace vif {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, false, "false", 0, 0, "",
     "also output numerators, denominators and their totals"},
    {"vif_enhn_gain_limit", "egl", OptionType::kReal, true, "100", 1, 100, "",
     "largest local gain that counts; 1 gives no credit for enhancement"},
    {"vif_skip_scale0", "ssclz", OptionType::kBool, true, "false", 0, 0, "",
     "do not score the finest scale"},
};

constexpr std::string_view kModelFeatures[] = {
    "VMAF_integer_feature_vif_scale0_score",
    "VMAF_integer_feature_vif_scale1_score",
    "VMAF_integer_feature_vif_scale2_score",
    "VMAF_integer_feature_vif_scale3_score",
};

struct Settings {
  double limit;
  bool skip_scale0;
  bool debug;
};

struct Ratio {
  float num;
  float den;
};

Ratio ratio_of(const ScaleWords& w) {
  const auto flat = static_cast<double>(w.flat_count);
  const double num = static_cast<double>(w.num_log) / 2048.0 +
                     (flat - (static_cast<double>(w.flat_energy) / 16384.0) / 65025.0);
  const double den = static_cast<double>(w.den_log) / 2048.0 + flat;
  return {static_cast<float>(num), static_cast<float>(den)};
}

class Vif final : public Metric {
 public:
  explicit Vif(const MetricSetup& setup) : format_(setup.format) {
    for (const Options& options : setup.sets) {
      const Settings s{options.real("vif_enhn_gain_limit"), options.flag("vif_skip_scale0"),
                       options.flag("debug")};
      sets_.push_back(s);
      auto limit = std::find(limits_.begin(), limits_.end(), s.limit);
      if (limit == limits_.end()) limit = limits_.insert(limit, s.limit);
      limit_of_.push_back(static_cast<std::size_t>(limit - limits_.begin()));
      score_scale0_ = score_scale0_ || !s.skip_scale0;
    }
  }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> out;
    for (const std::string_view name : kModelFeatures) out.push_back({std::string(name)});
    if (!sets_[set].debug) return out;
    for (const char* name : {"integer_vif", "integer_vif_num", "integer_vif_den"})
      out.push_back({name});
    for (int scale = 0; scale < kScales; ++scale) {
      out.push_back({fmt::format("integer_vif_num_scale{}", scale)});
      out.push_back({fmt::format("integer_vif_den_scale{}", scale)});
    }
    return out;
  }

  // All sets share the filters; those with equal gain limits share everything.
  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const Request request{context.frame().reference().plane(0),
                          context.frame().distorted().plane(0), format_.bit_depth, limits_,
                          score_scale0_};
    std::vector<Words> words(limits_.size());
    const bool tiny = std::min(format_.width, format_.height) < kSmallestStrict;
    if (tiny || simd_is_scalar())
      measure_reference(request, words);
    else
      measure_simd(request, context, words);
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      Words mine = words[limit_of_[set]];
      if (sets_[set].skip_scale0) mine.scale[0] = {};
      out[set] = Measured::of(mine);
    }
    return {};
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Words words = window.here().as<Words>();
    const bool skip = sets_[set].skip_scale0;
    std::array<Ratio, kScales> ratios;
    double num = 0.0;
    double den = 0.0;
    for (int scale = 0; scale < kScales; ++scale) {
      const bool skipped = scale == 0 && skip;
      Ratio& ratio = ratios[static_cast<std::size_t>(scale)];
      ratio = skipped ? Ratio{0.0f, -1.0f} : ratio_of(words.scale[scale]);
      scores[static_cast<std::size_t>(scale)] =
          skipped ? 0.0 : static_cast<double>(ratio.num / ratio.den);
      if (skipped) continue;
      num += static_cast<double>(ratio.num);
      den += static_cast<double>(ratio.den);
    }
    if (!sets_[set].debug) return {};
    std::size_t next = kScales;
    scores[next++] = den == 0.0 ? 1.0 : num / den;
    scores[next++] = num;
    scores[next++] = den;
    for (const Ratio& ratio : ratios) {
      scores[next++] = static_cast<double>(ratio.num);
      scores[next++] = static_cast<double>(ratio.den);
    }
    return {};
  }

 private:
  VideoFormat format_;
  std::vector<Settings> sets_;
  std::vector<double> limits_;         // distinct
  std::vector<std::size_t> limit_of_;  // by set
  bool score_scale0_ = false;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  const VideoFormat& f = setup.format;
  const int smallest = setup.strict ? kSmallestStrict : kSmallestSide;
  if (f.width < smallest || f.height < smallest)
    return Status(ErrorCode::kUnsupportedSize,
                  fmt::format("vif needs at least {0}x{0} luma samples, not {1}x{2}", smallest,
                              f.width, f.height));
  return std::unique_ptr<Metric>(std::make_unique<Vif>(setup));
}

std::array<std::uint8_t, kLogTableSize> make_log_table() {
  std::array<std::uint8_t, kLogTableSize> table{};
  for (int m = 0; m < kLogTableSize; ++m) {
    // The offset is 1/2 + 2^-10; no value is nearer than 1.5e-5 to the step of the floor, so that
    // any library's log2 will do.
    const double rounded = std::floor(2048.0 * std::log2(32768.0 + m) + 0.5009765625);
    table[static_cast<std::size_t>(m)] =
        static_cast<std::uint8_t>(static_cast<int>(rounded) - 30720 - (m >> 4));
  }
  return table;
}

}  // namespace

const std::uint8_t* log_table() {
  static const std::array<std::uint8_t, kLogTableSize> table = make_log_table();
  return table.data();
}

}  // namespace vif

extern const MetricInfo kVifInfo;
const MetricInfo kVifInfo = {"vif", "visual information fidelity at four scales", vif::kOptions,
                             vif::kModelFeatures, vif::create};

}  // namespace vqx
