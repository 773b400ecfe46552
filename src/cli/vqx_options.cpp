#include "cli/vqx_options.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "metric/registry.hpp"

namespace vqx::cli {

namespace {

constexpr std::pair<const char*, const char*> kShortNames[] = {
    {"ssim", "float_ssim"},           {"ms-ssim", "float_ms_ssim"},
    {"ms_ssim", "float_ms_ssim"},     {"msssim", "float_ms_ssim"},
    {"psnr-hvs", "psnr_hvs"},         {"ciede2000", "ciede"},
    {"speed-chroma", "speed_chroma"}, {"speed-temporal", "speed_temporal"},
};

Status unknown_metric(const std::string& name) {
  std::vector<std::string> known;
  for (const MetricInfo* info : metrics()) known.emplace_back(info->name);
  const std::string all = fmt::format("{}", fmt::join(known, ", "));
  for (const auto& [brief, full] : kShortNames) known.emplace_back(brief);

  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string message = fmt::format("there is no metric \"{}\"", name);
  if (lower.starts_with("vmaf"))
    return Status(ErrorCode::kUnknownName,
                  message + "; VMAF is a model, such as -m vmaf_v0.6.1 (see vqx models)");
  const std::string nearest = nearest_name(lower, known);
  message +=
      nearest.empty() ? "; there are " + all : fmt::format("; did you mean \"{}\"?", nearest);
  return Status(ErrorCode::kUnknownName, std::move(message));
}

}  // namespace

std::string expand_short_name(const std::string& name) {
  for (const auto& [brief, full] : kShortNames)
    if (name == brief) return full;
  return name;
}

Result<FeatureSpec> parse_metric(const std::string& text) {
  Result<FeatureSpec> feature = parse_feature_spec(text);
  if (!feature.ok())
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("-f {}: expected METRIC or METRIC=OPTION=VALUE:OPTION=VALUE", text));
  feature->name = expand_short_name(feature->name);
  if (find_metric(split_backend_name(feature->name).metric) == nullptr)
    return unknown_metric(feature->name);
  return feature;
}

Result<FailBelow> parse_fail_below(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  FailBelow limit;
  if (equals != std::string::npos && equals > 0) {
    limit.key = text.substr(0, equals);
    const char* begin = text.data() + equals + 1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, limit.value);
    if (error == std::errc() && stop == end && std::isfinite(limit.value)) return limit;
  }
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("--fail-below {}: expected KEY=NUMBER, such as vmaf=90", text));
}

Result<input::RawParameters> parse_raw(const std::string& size, const std::string& format) {
  input::RawParameters raw;
  const std::size_t cross = size.find('x');
  const char* end = size.data() + size.size();
  bool valid = cross != std::string::npos;
  if (valid) {
    const auto width = std::from_chars(size.data(), size.data() + cross, raw.width);
    const auto height = std::from_chars(size.data() + cross + 1, end, raw.height);
    valid = width.ec == std::errc() && width.ptr == size.data() + cross &&
            height.ec == std::errc() && height.ptr == end;
  }
  if (!valid)
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("--raw-size {}: expected WIDTHxHEIGHT, such as 1920x1080", size));
  VQX_ASSIGN_OR_RETURN(const input::PixelFormat pixel, input::parse_pixel_format(format));
  raw.chroma = pixel.chroma;
  raw.bit_depth = pixel.bit_depth;
  return raw;
}

}  // namespace vqx::cli
