// Inputs and conversions through the FFmpeg module.
#pragma once

#include <memory>
#include <string>

#include "input/video_source.hpp"

namespace vqx::input {

// Opens any file that FFmpeg reads, with the conversions of `options` applied.
Result<std::unique_ptr<VideoSource>> open_with_ffmpeg(const std::string& path,
                                                      const OpenOptions& options);

// The pictures of `source` in another size or format, through swscale.
Result<std::unique_ptr<VideoSource>> convert_with_ffmpeg(std::unique_ptr<VideoSource> source,
                                                         const OpenOptions& options);

// "FFmpeg 5.1.9 (libavformat ...)" for reports; kBackend where the module is missing.
Result<std::string> ffmpeg_versions();

}  // namespace vqx::input
