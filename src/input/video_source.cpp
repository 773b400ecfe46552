#include "input/video_source.hpp"

#include <fmt/core.h>

#include <numeric>
#include <utility>

namespace vqx::input {
namespace {

constexpr std::pair<const char*, ChromaFormat> kFamilies[] = {
    {"gray", ChromaFormat::k400},
    {"yuv420p", ChromaFormat::k420},
    {"yuv422p", ChromaFormat::k422},
    {"yuv444p", ChromaFormat::k444},
};
constexpr int kDepths[] = {8, 10, 12, 16};

}  // namespace

Rational reduced(Rational value) {
  const std::int64_t divisor = std::gcd(value.num, value.den);
  return divisor > 1 ? Rational{value.num / divisor, value.den / divisor} : value;
}

std::string to_string(Rational value) {
  return value.den == 1 ? fmt::format("{}", value.num) : fmt::format("{}/{}", value.num, value.den);
}

const char* range_name(ColourRange range) {
  return range == ColourRange::kFull ? "full" : "limited";
}

const char* scan_name(Scan scan) {
  switch (scan) {
    case Scan::kProgressive:
      return "progressive";
    case Scan::kTopFieldFirst:
      return "interlaced (top field first)";
    case Scan::kBottomFieldFirst:
      return "interlaced (bottom field first)";
    case Scan::kMixed:
      return "mixed progressive and interlaced";
  }
  return "unknown";
}

std::string pixel_format_name(PixelFormat format) {
  for (const auto& [family, chroma] : kFamilies)
    if (chroma == format.chroma)
      return format.bit_depth == 8 ? family : fmt::format("{}{}", family, format.bit_depth);
  return "unknown";
}

Result<PixelFormat> parse_pixel_format(const std::string& name) {
  std::string known;
  for (const auto& [family, chroma] : kFamilies) {
    for (const int depth : kDepths) {
      const PixelFormat format{chroma, depth};
      const std::string candidate = pixel_format_name(format);
      if (name == candidate || (depth > 8 && name == candidate + "le")) return format;
      known += (known.empty() ? "" : ", ") + candidate;
    }
  }
  return Status(ErrorCode::kUnknownName,
                fmt::format("unknown pixel format \"{}\"; known are {}", name, known));
}

Result<ScaleFilter> parse_scale_filter(const std::string& name) {
  if (name == "bilinear") return ScaleFilter::kBilinear;
  if (name == "bicubic") return ScaleFilter::kBicubic;
  if (name == "lanczos") return ScaleFilter::kLanczos;
  return Status(
      ErrorCode::kUnknownName,
      fmt::format("unknown scaling filter \"{}\"; known are bilinear, bicubic, lanczos", name));
}

Status check_size(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1)
    return Status(ErrorCode::kInput,
                  fmt::format("picture size {} x {} is not at least 1 x 1", width, height));
  if (width > kMaxSide || height > kMaxSide || width * height > kMaxPixels)
    return Status(
        ErrorCode::kInput,
        fmt::format("picture size {} x {} is beyond the limits of {} a side and {} pixels", width,
                    height, kMaxSide, kMaxPixels));
  return {};
}

}  // namespace vqx::input
