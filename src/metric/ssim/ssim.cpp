// The metric `float_ssim`, and the finish steps that it shares with `float_ms_ssim`.
#include "metric/ssim/ssim.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "exact/functions.hpp"

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
     .help = "also the means of luminance, contrast and structure"},
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
    {.name = "scale",
     .alias = "",
     .type = OptionType::kInt,
     .in_key = false,
     .initial = "0",
     .min = 0,
     .max = 10,
     .choices = "",
     .help = "decimation factor; 0: by the picture size, 1: none"},
};
constexpr std::string_view kModelFeatures[] = {"float_ssim"};

// One option set, resolved for the format.
struct Config {
  int planes = 1;
  bool lcs = false;
  bool decibel = false;
  bool clip = false;
  int factor[3] = {};      // decimation of each plane
  Size positions[3] = {};  // window positions of each decimated plane
};

Config resolve(const Options& options, const VideoFormat& format) {
  Config config;
  config.planes = scored_planes(options, format);
  config.lcs = options.flag("enable_lcs");
  config.decibel = options.flag("enable_db");
  config.clip = options.flag("clip_db");
  const int scale = options.integer("scale");
  for (int p = 0; p < config.planes; ++p) {
    const Size size = plane_size(format, p);
    config.factor[p] = scale > 0 ? scale : automatic_factor(size);
    config.positions[p] = positions(decimated(size, config.factor[p]));
  }
  return config;
}

TermSums measure_plane(const MeasureContext& context, int plane, int factor) {
  const Frame& frame = context.frame();
  const int depth = frame.reference().format().bit_depth;
  const Samples a = samples_of(frame.reference().plane(plane), depth);
  const Samples b = samples_of(frame.distorted().plane(plane), depth);
  if (factor == 1) return sum_terms(context, a, b);
  const Size size = decimated({a.width, a.height}, factor);
  const Size windows = positions(size);
  if (windows.width <= 0 || windows.height <= 0) return {};
  const auto area = static_cast<std::size_t>(size.area());
  ScratchArray<float> small_a(context.scratch(), area);
  ScratchArray<float> small_b(context.scratch(), area);
  decimate(context, a, factor, small_a.data());
  decimate(context, b, factor, small_b.data());
  return sum_terms(context, samples_of(small_a.data(), size.width, size.height),
                   samples_of(small_b.data(), size.width, size.height));
}

// Measured words: for each scored plane the totals of L C S, L, C and S.
class FloatSsim final : public Metric {
 public:
  explicit FloatSsim(const MetricSetup& setup) : format_(setup.format) {
    for (const Options& options : setup.sets) configs_.push_back(resolve(options, format_));
  }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> list = {{"float_ssim"}};
    if (configs_[set].lcs)
      for (const char* part : {"float_ssim_l", "float_ssim_c", "float_ssim_s"})
        list.push_back({part});
    for (int p = 1; p < configs_[set].planes; ++p)
      list.push_back({"float_ssim" + std::string(kKeySuffixes[p])});
    return list;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    std::map<std::pair<int, int>, TermSums> done;  // by plane and factor
    for (std::size_t set = 0; set < out.size(); ++set) {
      out[set] = {};
      for (int p = 0; p < configs_[set].planes; ++p) {
        const int factor = configs_[set].factor[p];
        const auto [entry, fresh] = done.try_emplace({p, factor});
        if (fresh) entry->second = measure_plane(context, p, factor);
        const TermSums& sums = entry->second;
        for (const WideSum& total :
             {sums.similarity, sums.luminance, sums.contrast, sums.structure})
          append_total(total, out[set]);
      }
    }
    return {};
  }

  std::vector<std::byte> device_config(std::size_t set) const override {
    const Config& config = configs_[set];
    DeviceOptions options;
    options.planes = config.planes;
    for (int p = 0; p < config.planes; ++p) {
      if (config.factor[p] > kMaxExactFactor) return {};
      options.factor[p] = config.factor[p];
    }
    return plain_bytes(options);
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Config& config = configs_[set];
    std::size_t next = 0;
    for (int p = 0; p < config.planes; ++p) {
      const std::size_t first = static_cast<std::size_t>(p) * 4;
      const auto mean_of = [&](std::size_t term) {
        return mean(read_total(window.here(), first + term), config.positions[p]);
      };
      const double score = mean_of(0);
      scores[next++] = config.decibel
                           ? to_decibel(score, decibel_cap(plane_size(format_, p),
                                                           format_.bit_depth, config.clip))
                           : score;
      if (p == 0 && config.lcs)
        for (std::size_t term = 1; term < 4; ++term) scores[next++] = mean_of(term);
    }
    return {};
  }

 private:
  VideoFormat format_;
  std::vector<Config> configs_;
};

// The drop-in answers degenerate sizes as libvmaf does; otherwise a window must fit.
Status check_sizes(const MetricSetup& setup) {
  for (const Options& options : setup.sets) {
    const Config config = resolve(options, setup.format);
    for (int p = 0; p < config.planes; ++p) {
      if (config.positions[p].width > 0 && config.positions[p].height > 0) continue;
      const Size size = plane_size(setup.format, p);
      const Size small = decimated(size, config.factor[p]);
      return Status(
          ErrorCode::kUnsupportedSize,
          fmt::format("float_ssim: the {} plane of {}x{} is {}x{} after decimation by {}; at least "
                      "{}x{} is needed there",
                      kPlaneNames[p], size.width, size.height, small.width, small.height,
                      config.factor[p], kTaps, kTaps));
    }
  }
  return {};
}

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  VQX_RETURN_IF_ERROR(check_bit_depth("float_ssim", setup.format));
  if (setup.strict) VQX_RETURN_IF_ERROR(check_sizes(setup));
  return std::unique_ptr<Metric>(std::make_unique<FloatSsim>(setup));
}

}  // namespace

Samples samples_of(const Plane& plane, int bit_depth) {
  return {static_cast<const std::byte*>(plane.data),
          plane.stride,
          plane.width,
          plane.height,
          bit_depth == 8 ? Samples::Kind::kUint8 : Samples::Kind::kUint16,
          sample_scale(bit_depth)};
}

Samples samples_of(const float* data, int width, int height) {
  return {reinterpret_cast<const std::byte*>(data),
          width * static_cast<std::ptrdiff_t>(sizeof(float)),
          width,
          height,
          Samples::Kind::kFloat,
          1};
}

int automatic_factor(Size plane) {
  return std::max(1, (std::min(plane.width, plane.height) + 128) / 256);  // halves go up
}

void append_total(const WideSum& total, Measured& measured) {
  measured.words.push_back(total.low_word());
  measured.words.push_back(total.high_word());
}

WideSum read_total(const Measured& measured, std::size_t index) {
  return WideSum::from_words(measured.words[2 * index], measured.words[2 * index + 1]);
}

double mean(const WideSum& total, Size positions) {
  const double sum = exact::scaled_to_double(total.value(), kTermUnit);
  return static_cast<float>(sum / static_cast<double>(positions.area()));
}

double decibel_cap(Size plane, int bit_depth, bool clip) {
  if (!clip) return std::numeric_limits<double>::infinity();
  const double peak = (1 << bit_depth) - 1;
  return std::ceil(10.0 * exact::log10(peak * peak / (0.5 / static_cast<double>(plane.area()))));
}

double to_decibel(double score, double cap) {
  const double decibel = -10.0 * exact::log10(1 - score);
  return decibel < cap ? decibel : cap;  // a NaN (a score above 1) takes the cap
}

Status check_bit_depth(std::string_view metric, const VideoFormat& format) {
  for (const int accepted : {8, 10, 12, 16})
    if (format.bit_depth == accepted) return {};
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} bits per sample are not supported; 8, 10, 12 and 16 are",
                            metric, format.bit_depth));
}

}  // namespace ssim

extern const MetricInfo kFloatSsimInfo;
const MetricInfo kFloatSsimInfo = {"float_ssim", "Structural similarity on about 256 lines",
                                   ssim::kOptions, ssim::kModelFeatures, ssim::create};

}  // namespace vqx
