// How long a container says it is: some of FFmpeg's readers end quietly where a file was cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vqx::input::ffmpeg {

// Bytes from the beginning of the file to the end of its last element, from the first bytes of a
// Matroska / WebM or RIFF (AVI) file; nothing for other files and where the size is left open.
std::optional<std::uint64_t> declared_size(std::string_view start);

inline constexpr int kContainerStart = 512;  // enough for every real header

}  // namespace vqx::input::ffmpeg
