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

Status refused(const ByteReader& file, ErrorCode code, const char* reason) {
  return Status(code, fmt::format("{}: {}", file.path(), reason));
}

Result<std::unique_ptr<VideoSource>> open_unconverted(const std::string& path,
                                                      const OpenOptions& options) {
  auto file = ByteReader::open(path);
  if (!file.ok()) return could_not_open(path, options.dialect, file.status());
  const bool standard_input = path == "-";
  if (options.raw && standard_input)
    return refused(*file, ErrorCode::kInvalidArgument,
                   "is read as YUV4MPEG2 only: give raw video as a file");
  VQX_ASSIGN_OR_RETURN(const std::string_view magic, file->peek(kY4mMagic.size()));
  const bool is_y4m = magic == kY4mMagic;
  if (options.raw) {
    // No picture begins like this: somebody left the option in.
    if (is_y4m && options.dialect == Dialect::kVqx)
      return refused(*file, ErrorCode::kInvalidArgument,
                     "is a YUV4MPEG2 file and says its size itself; leave out --raw-size");
    return open_raw(std::move(*file), options);
  }
  if (is_y4m) return open_y4m(std::move(*file), options);
  if (magic.empty()) return refused(*file, ErrorCode::kInput, "is empty");
  if (standard_input || !file->is_regular())
    return refused(*file, ErrorCode::kInput,
                   "does not begin with YUV4MPEG2, which is all that can be read from standard "
                   "input and pipes");
  return open_with_ffmpeg(path, options);
}

}  // namespace

Result<std::unique_ptr<VideoSource>> open_source(const std::string& path,
                                                 const OpenOptions& options) {
  VQX_ASSIGN_OR_RETURN(auto source, open_unconverted(path, options));
  return convert_with_ffmpeg(std::move(source), options);
}

}  // namespace vqx::input
