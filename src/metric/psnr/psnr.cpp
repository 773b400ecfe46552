// The metric `psnr`: options, outputs, finish steps.
#include "metric/psnr/psnr.hpp"

#include <cfloat>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "metric/psnr/psnr_math.hpp"

#include "exact/functions.hpp"

namespace vqx {
namespace psnr {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "enable_chroma",
     .alias = "",
     .type = OptionType::kBool,
     .in_key = false,
     .initial = "true",
     .choices = "",
     .help = "also Cb and Cr"},
    {.name = "enable_mse",
     .alias = "",
     .type = OptionType::kBool,
     .in_key = false,
     .initial = "false",
     .choices = "",
     .help = "also the mean squared errors"},
    {.name = "enable_apsnr",
     .alias = "",
     .type = OptionType::kBool,
     .in_key = false,
     .initial = "false",
     .choices = "",
     .help = "also the PSNR of the whole sequence, as aggregates"},
    {.name = "reduced_hbd_peak",
     .alias = "",
     .type = OptionType::kBool,
     .in_key = false,
     .initial = "false",
     .choices = "",
     .help = "peak 255 * 2^(bits-8) instead of 2^bits - 1"},
    {.name = "min_sse",
     .alias = "",
     .type = OptionType::kReal,
     .in_key = false,
     .initial = "0",
     .min = 0,
     .max = DBL_MAX,
     .choices = "",
     .help = "limits the scores to those of this sum of squared errors; 0: to 6 * bits + 12 dB"},
};
constexpr std::string_view kModelFeatures[] = {"psnr_y", "psnr_cb", "psnr_cr"};
constexpr const char* kPlaneNames[kPlanes] = {"y", "cb", "cr"};

// Comparisons are written so that the limit wins over a NaN, as in the law.
double limit_above(double value, double limit) {
  return value < limit ? value : limit;
}
double limit_below(double value, double limit) {
  return value > limit ? value : limit;
}

// One option set, resolved for the format.
struct Config {
  int planes = 1;
  bool mse = false;
  bool sequence = false;
  std::uint64_t peak_squared = 0;  // below 2^32
  double ceiling[kPlanes] = {};
};

Config resolve(const Options& options, const VideoFormat& format) {
  Config config;
  config.planes = options.flag("enable_chroma") ? format.plane_count() : 1;
  config.mse = options.flag("enable_mse");
  config.sequence = options.flag("enable_apsnr");
  const std::uint64_t peak = options.flag("reduced_hbd_peak")
                                 ? std::uint64_t{255} << (format.bit_depth - 8)
                                 : (std::uint64_t{1} << format.bit_depth) - 1;
  config.peak_squared = peak * peak;
  const double min_sse = options.real("min_sse");
  for (int p = 0; p < kPlanes; ++p) {
    const double samples = double(format.plane_width(p)) * format.plane_height(p);
    config.ceiling[p] = min_sse == 0
                            ? 6.0 * format.bit_depth + 12
                            : std::ceil(10 * exact::log10(static_cast<double>(config.peak_squared) /
                                                          (min_sse / samples)));
  }
  return config;
}

class Psnr final : public Metric {
 public:
  explicit Psnr(const MetricSetup& setup) : format_(setup.format) {
    for (const Options& options : setup.sets) {
      configs_.push_back(resolve(options, format_));
      planes_ = std::max(planes_, configs_.back().planes);
    }
  }

  // libvmaf feeds it every frame, so that the sequence PSNR covers those that are not reported.
  Needs needs(std::size_t) const override { return {.contiguous = true}; }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> list;
    for (int p = 0; p < configs_[set].planes; ++p) {
      // There are at most as many planes as names.
      // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
      list.push_back({std::string("psnr_") + kPlaneNames[p]});
      if (configs_[set].mse) list.push_back({std::string("mse_") + kPlaneNames[p]});
    }
    return list;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    SquaredErrors errors;
    for (int p = 0; p < planes_; ++p) errors.plane[p] = sum_plane(context, p, Term::kExact);
    for (std::size_t set = 0; set < out.size(); ++set) {
      SquaredErrors wanted;
      for (int p = 0; p < configs_[set].planes; ++p) wanted.plane[p] = errors.plane[p];
      out[set] = Measured::of(wanted);
    }
    return {};
  }

  std::vector<std::byte> device_config(std::size_t set) const override {
    return plain_bytes(DeviceOptions{configs_[set].planes});
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Config& config = configs_[set];
    const auto errors = window.here().as<SquaredErrors>();
    std::size_t next = 0;
    for (int p = 0; p < config.planes; ++p) {
      const std::uint64_t n = samples(p);
      const double mse = n == 0 ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(errors.plane[p]) / static_cast<double>(n);
      const double ratio = static_cast<double>(config.peak_squared) / limit_below(mse, 1e-16);
      scores[next++] = limit_above(10 * exact::log10(ratio), config.ceiling[p]);
      if (config.mse) scores[next++] = mse;
    }
    return {};
  }

  void accumulate(std::size_t set, const Measured& frame, Measured& total) const override {
    auto sequence = total.as<SequenceErrors>();
    const auto errors = frame.as<SquaredErrors>();
    for (int p = 0; p < configs_[set].planes; ++p) {
      sequence.squared[p] += errors.plane[p];
      sequence.samples[p] += samples(p);
    }
    total = Measured::of(sequence);
  }

  // All three planes even without chroma, whose 0 / 0 is then not a number: as libvmaf.
  std::vector<std::pair<std::string, double>> aggregates(std::size_t set,
                                                         const Measured& total) const override {
    if (!configs_[set].sequence) return {};
    const auto sequence = total.as<SequenceErrors>();
    const std::uint64_t peak_squared = configs_[set].peak_squared;
    std::vector<std::pair<std::string, double>> list;
    for (int p = 0; p < kPlanes; ++p) {
      const auto n = static_cast<double>(sequence.samples[p]);
      const double value =
          10 * ((exact::log10(static_cast<double>(peak_squared)) + exact::log10(n)) -
                exact::log10(static_cast<double>(sequence.squared[p])));
      // The product wraps at 2^64, as the law says.
      const std::uint64_t finest = peak_squared * sequence.samples[p] * 2;
      const double ceiling = std::ceil(10 * exact::log10(static_cast<double>(finest)));
      list.emplace_back(std::string("apsnr_") + kPlaneNames[p], limit_above(value, ceiling));
    }
    return list;
  }

 private:
  std::uint64_t samples(int plane) const {
    return static_cast<std::uint64_t>(format_.plane_width(plane)) *
           static_cast<std::uint64_t>(format_.plane_height(plane));
  }

  VideoFormat format_;
  std::vector<Config> configs_;
  int planes_ = 0;  // that any option set asks for
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  VQX_RETURN_IF_ERROR(check_bit_depth("psnr", setup.format));
  return std::unique_ptr<Metric>(std::make_unique<Psnr>(setup));
}

}  // namespace

Status check_bit_depth(std::string_view metric, const VideoFormat& format) {
  for (const int accepted : {8, 10, 12, 16})
    if (format.bit_depth == accepted) return {};
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} bits per sample are not supported; 8, 10, 12 and 16 are",
                            metric, format.bit_depth));
}

}  // namespace psnr

extern const MetricInfo kPsnrInfo;
const MetricInfo kPsnrInfo = {"psnr", "Peak signal-to-noise ratio of each plane", psnr::kOptions,
                              psnr::kModelFeatures, psnr::create};

}  // namespace vqx
