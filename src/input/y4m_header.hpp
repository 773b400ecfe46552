// The stream header of YUV4MPEG2: "YUV4MPEG2 W720 H480 F25:1 Ip A1:1 C420jpeg".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "input/frame_file.hpp"
#include "input/video_source.hpp"

namespace vqx::input {

inline constexpr std::string_view kY4mMagic = "YUV4MPEG";

struct Y4mHeader {
  VideoFormat format;  // of the pictures
  FileLayout layout;   // of the file
  SourceInfo info;     // without the path
};

// `line` is the header without its line feed and begins with the magic.  The message of an error
// has no file name.  In libvmaf's dialect it is libvmaf's lines, and the chroma tags that libvmaf
// does not know are refused; otherwise "mono", "420p", "422p" and "444p" take any depth that vqx
// measures, and luma-only input stays so.
Result<Y4mHeader> parse_y4m_header(std::string_view line, Dialect dialect, bool mono_as_420);

// The longest header that is looked at, without its line feed.
std::size_t max_y4m_header(Dialect dialect);

}  // namespace vqx::input
