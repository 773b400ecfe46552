#include <fmt/core.h>

#include <utility>

#include "input/byte_reader.hpp"
#include "input/ffmpeg_source.hpp"
#include "input/file_sources.hpp"
#include "input/video_source.hpp"
#include "input/y4m_header.hpp"

namespace vqx::input {
namespace {

Status could_not_open(const std::string& path, Dialect dialect, const Status& reason) {
  if (dialect == Dialect::kVqx) return reason;
  return Status(reason.code(), fmt::format("could not open file: {}", path));
}

Result<std::unique_ptr<VideoSource>> open_unconverted(const std::string& path,
                                                      const OpenOptions& options) {
  auto file = ByteReader::open(path);
  if (!file.ok()) return could_not_open(path, options.dialect, file.status());
  if (options.raw) {
    if (path == "-")
      return Status(ErrorCode::kInvalidArgument,
                    "standard input is read as YUV4MPEG2 only: give raw video as a file");
    return open_raw(std::move(*file), options);
  }
  VQX_ASSIGN_OR_RETURN(const std::string_view magic, file->peek(kY4mMagic.size()));
  if (magic == kY4mMagic) return open_y4m(std::move(*file), options);
  if (!file->is_regular())
    return Status(
        ErrorCode::kInput,
        fmt::format("{}: does not begin with YUV4MPEG2, which is all that can be read from "
                    "a pipe",
                    file->path()));
  return open_with_ffmpeg(path, options);
}

}  // namespace

Result<std::unique_ptr<VideoSource>> open_source(const std::string& path,
                                                 const OpenOptions& options) {
  VQX_ASSIGN_OR_RETURN(auto source, open_unconverted(path, options));
  return convert_with_ffmpeg(std::move(source), options);
}

}  // namespace vqx::input
