#include "cli/vqx_options.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace vqx::cli {

std::string expand_short_name(const std::string& name) {
  static constexpr std::pair<const char*, const char*> kShort[] = {
      {"ssim", "float_ssim"},           {"ms-ssim", "float_ms_ssim"},
      {"ms_ssim", "float_ms_ssim"},     {"msssim", "float_ms_ssim"},
      {"psnr-hvs", "psnr_hvs"},         {"ciede2000", "ciede"},
      {"speed-chroma", "speed_chroma"}, {"speed-temporal", "speed_temporal"},
  };
  for (const auto& [brief, full] : kShort)
    if (name == brief) return full;
  return name;
}

Result<FailBelow> parse_fail_below(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  FailBelow limit;
  if (equals != std::string::npos && equals > 0) {
    limit.key = text.substr(0, equals);
    const char* begin = text.data() + equals + 1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, limit.value);
    if (error == std::errc() && stop == end) return limit;
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
