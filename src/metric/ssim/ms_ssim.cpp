// The metric `float_ms_ssim`.
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "exact/functions.hpp"
#include "metric/ssim/ssim.hpp"

namespace vqx {
namespace ssim {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "enable_lcs",
     .alias = "",
     .type = OptionType::kBool,
     .in_key = false,
     .initial = "false",
     .choices = "",
     .help = "also the means of luminance, contrast and structure of every level"},
    {.name = "enable_db",
     .alias = "",
     .type = OptionType::kBool,
     .in_key = false,
     .initial = "false",
     .choices = "",
     .help = "the score in decibels"},
    {.name = "clip_db",
     .alias = "",
     .type = OptionType::kBool,
     .in_key = false,
     .initial = "false",
     .choices = "",
     .help = "limits the decibels to what the picture size and depth can show"},
    {.name = "enable_chroma",
     .alias = "",
     .type = OptionType::kBool,
     .in_key = false,
     .initial = "false",
     .choices = "",
     .help = "also Cb and Cr"},
    {.name = "variant",
     .alias = "",
     .type = OptionType::kText,
     .in_key = false,
     .initial = "table",
     .choices = "table|separable",
     .help = "low-pass between levels: the reference's table, or separable as in GPU forks of it"},
};
constexpr std::string_view kModelFeatures[] = {"float_ms_ssim"};

// Exponents of L, and of C and S, fp32 numbers of each level.
constexpr float kLuminancePower[kLevels] = {0, 0, 0, 0, 0.1333f};
constexpr float kContrastPower[kLevels] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};

// The window fits the last level, whose sides are halved (rounding down) four times.
constexpr int kSmallestSide = kTaps << (kLevels - 1);

struct Config {
  int planes = 1;
  Variant variant = Variant::kTable;
  bool lcs = false;
  bool decibel = false;
  bool clip = false;
};

Config resolve(const Options& options, const VideoFormat& format) {
  return {scored_planes(options, format),
          options.text("variant") == "separable" ? Variant::kSeparable : Variant::kTable,
          options.flag("enable_lcs"), options.flag("enable_db"), options.flag("clip_db")};
}

struct LevelMeans {
  double luminance, contrast, structure;
};

using LevelSums = std::array<TermSums, kLevels>;

LevelSums measure_plane(const MeasureContext& context, int plane, Variant variant) {
  const Frame& frame = context.frame();
  const int depth = frame.reference().format().bit_depth;
  Samples level[2] = {samples_of(frame.reference().plane(plane), depth),
                      samples_of(frame.distorted().plane(plane), depth)};
  LevelSums sums;
  sums[0] = sum_terms(context, level[0], level[1]);
  std::vector<ScratchArray<float>> planes;
  for (std::size_t n = 1; n < kLevels; ++n) {
    const Size size = next_level({level[0].width, level[0].height});
    float* out[2];
    for (float*& side : out) {
      planes.emplace_back(context.scratch(), static_cast<std::size_t>(size.area()));
      side = planes.back().data();
    }
    pyramid_step(context, variant, level, out);
    for (int side = 0; side < 2; ++side)
      level[side] = samples_of(out[side], size.width, size.height);
    sums[n] = sum_terms(context, level[0], level[1]);
  }
  return sums;
}

double combine(const std::array<LevelMeans, kLevels>& means, Variant variant) {
  const auto base = [variant](double value) {
    return variant == Variant::kSeparable ? std::fabs(value) : value;
  };
  double score = 1;
  for (std::size_t n = 0; n < kLevels; ++n)
    score *= (exact::pow(base(means[n].luminance), double{kLuminancePower[n]}) *
              exact::pow(base(means[n].contrast), double{kContrastPower[n]})) *
             exact::pow(base(means[n].structure), double{kContrastPower[n]});
  return score;
}

// Measured words: for each scored plane and level the totals of L, C and S.
class FloatMsSsim final : public Metric {
 public:
  explicit FloatMsSsim(const MetricSetup& setup) : format_(setup.format) {
    for (const Options& options : setup.sets) configs_.push_back(resolve(options, format_));
  }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> list = {{"float_ms_ssim"}};
    if (configs_[set].lcs)
      for (const char term : {'l', 'c', 's'})
        for (int level = 0; level < kLevels; ++level)
          list.push_back({fmt::format("float_ms_ssim_{}_scale{}", term, level)});
    for (int p = 1; p < configs_[set].planes; ++p)
      list.push_back({"float_ms_ssim" + std::string(kKeySuffixes[p])});
    return list;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    std::vector<std::pair<std::pair<int, Variant>, LevelSums>> done;
    const auto sums_of = [&](int plane, Variant variant) -> LevelSums {
      for (const auto& [key, sums] : done)
        if (key == std::pair(plane, variant)) return sums;
      done.emplace_back(std::pair(plane, variant), measure_plane(context, plane, variant));
      return done.back().second;
    };
    for (std::size_t set = 0; set < out.size(); ++set) {
      out[set] = {};
      for (int p = 0; p < configs_[set].planes; ++p)
        for (const TermSums& level : sums_of(p, configs_[set].variant))
          for (const WideSum& total : {level.luminance, level.contrast, level.structure})
            append_total(total, out[set]);
    }
    return {};
  }

  std::vector<std::byte> device_config(std::size_t set) const override {
    DeviceOptions options;
    options.planes = configs_[set].planes;
    options.separable = configs_[set].variant == Variant::kSeparable ? 1 : 0;
    return plain_bytes(options);
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Config& config = configs_[set];
    std::size_t next = 0;
    for (int p = 0; p < config.planes; ++p) {
      const std::array<LevelMeans, kLevels> means = level_means(window.here(), p);
      const double score = combine(means, config.variant);
      if (score == std::numeric_limits<double>::infinity())
        return Status(ErrorCode::kInternal, "float_ms_ssim: the score is infinite");
      scores[next++] = config.decibel
                           ? to_decibel(score, decibel_cap(plane_size(format_, p),
                                                           format_.bit_depth, config.clip))
                           : score;
      if (p > 0 || !config.lcs) continue;
      for (const LevelMeans& level : means) scores[next++] = level.luminance;
      for (const LevelMeans& level : means) scores[next++] = level.contrast;
      for (const LevelMeans& level : means) scores[next++] = level.structure;
    }
    return {};
  }

 private:
  std::array<LevelMeans, kLevels> level_means(const Measured& measured, int plane) const {
    std::array<LevelMeans, kLevels> means{};
    std::size_t total = static_cast<std::size_t>(plane) * kLevels * 3;
    Size size = plane_size(format_, plane);
    for (LevelMeans& level : means) {
      level.luminance = mean(read_total(measured, total++), positions(size));
      level.contrast = mean(read_total(measured, total++), positions(size));
      level.structure = mean(read_total(measured, total++), positions(size));
      size = next_level(size);
    }
    return means;
  }

  VideoFormat format_;
  std::vector<Config> configs_;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  VQX_RETURN_IF_ERROR(check_bit_depth("float_ms_ssim", setup.format));
  for (const Options& options : setup.sets)
    for (int p = 0; p < scored_planes(options, setup.format); ++p) {
      const Size size = plane_size(setup.format, p);
      if (std::min(size.width, size.height) >= kSmallestSide) continue;
      return Status(
          ErrorCode::kUnsupportedSize,
          fmt::format("float_ms_ssim: the {} plane is {}x{}; at least {}x{} is needed",
                      kPlaneNames[p], size.width, size.height, kSmallestSide, kSmallestSide));
    }
  return std::unique_ptr<Metric>(std::make_unique<FloatMsSsim>(setup));
}

}  // namespace
}  // namespace ssim

extern const MetricInfo kFloatMsSsimInfo;
const MetricInfo kFloatMsSsimInfo = {"float_ms_ssim", "Structural similarity over five scales",
                                     ssim::kOptions, ssim::kModelFeatures, ssim::create};

}  // namespace vqx
