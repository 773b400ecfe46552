#include "input/ffmpeg_module/container_size.hpp"

#include <bit>
#include <cstddef>

namespace vqx::input::ffmpeg {
namespace {

constexpr std::string_view kEbmlHeader = "\x1A\x45\xDF\xA3";
constexpr std::string_view kSegment = "\x18\x53\x80\x67";

struct Length {
  std::uint64_t value = 0;
  std::size_t bytes = 0;  // that the length itself takes
};

// EBML's variable-length integer; nothing where it is cut or means "unknown".
std::optional<Length> take_length(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(text[0]);
  const auto bytes = static_cast<std::size_t>(std::countl_zero(first)) + 1;
  if (bytes > 8 || bytes > text.size()) return std::nullopt;
  std::uint64_t value = first & (0xFFU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(text[i]);
  const std::uint64_t unknown = (std::uint64_t{1} << (7 * bytes)) - 1;
  if (value == unknown) return std::nullopt;
  return Length{value, bytes};
}

std::optional<std::uint64_t> matroska_size(std::string_view start) {
  const auto header = take_length(start.substr(kEbmlHeader.size()));
  if (!header) return std::nullopt;
  const std::uint64_t segment = kEbmlHeader.size() + header->bytes + header->value;
  if (segment >= start.size() || !start.substr(segment).starts_with(kSegment)) return std::nullopt;
  const auto length = take_length(start.substr(segment + kSegment.size()));
  if (!length) return std::nullopt;
  return segment + kSegment.size() + length->bytes + length->value;
}

std::optional<std::uint64_t> riff_size(std::string_view start) {
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= std::uint64_t{static_cast<unsigned char>(start[4 + i])} << (8 * i);
  // Streams that were written in one go leave it open.
  if (size == 0 || size == 0xFFFFFFFF) return std::nullopt;
  return size + 8;
}

}  // namespace

std::optional<std::uint64_t> declared_size(std::string_view start) {
  if (start.starts_with(kEbmlHeader)) return matroska_size(start);
  if (start.size() >= 12 && start.starts_with("RIFF") && start.substr(8).starts_with("AVI "))
    return riff_size(start);
  return std::nullopt;
}

}  // namespace vqx::input::ffmpeg
