// The sources that read files without any library.
#pragma once

#include <memory>

#include "input/byte_reader.hpp"
#include "input/video_source.hpp"

namespace vqx::input {

// `file` stands at the beginning and begins with "YUV4MPEG".
Result<std::unique_ptr<VideoSource>> open_y4m(ByteReader file, const OpenOptions& options);
Result<std::unique_ptr<VideoSource>> open_raw(ByteReader file, const OpenOptions& options);

}  // namespace vqx::input
