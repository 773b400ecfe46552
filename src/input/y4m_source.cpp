#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "input/file_sources.hpp"
#include "input/y4m_header.hpp"

namespace vqx::input {
namespace {

constexpr std::string_view kFrameMark = "FRAME";
constexpr std::size_t kFrameHeaderSize = 6;   // "FRAME" and a line feed
constexpr std::size_t kFrameParameters = 78;  // bytes that may precede the line feed

class Y4mSource final : public VideoSource {
 public:
  Y4mSource(ByteReader file, Y4mHeader header, const OpenOptions& options)
      : file_(std::move(file)),
        format_(header.format),
        info_(std::move(header.info)),
        dialect_(options.dialect),
        frames_(format_, std::move(header.layout), options) {}

  const VideoFormat& format() const override { return format_; }
  const SourceInfo& info() const override { return info_; }

  Result<std::optional<Picture>> read() override {
    VQX_RETURN_IF_ERROR(failure_);
    VQX_ASSIGN_OR_RETURN(const bool more, remember(take_frame_header()));
    if (!more) return std::optional<Picture>();
    VQX_ASSIGN_OR_RETURN(Picture picture, remember(frames_.read(file_, index_)));
    ++index_;
    return std::optional<Picture>(std::move(picture));
  }

  Status skip(std::int64_t count) override {
    VQX_RETURN_IF_ERROR(failure_);
    for (; count > 0; --count) {
      VQX_ASSIGN_OR_RETURN(const bool more, remember(take_frame_header()));
      if (!more) break;
      failure_ = frames_.skip(file_, index_);
      VQX_RETURN_IF_ERROR(failure_);
      ++index_;
    }
    return {};
  }

  // The number of frames is certain where the first and the last have no parameters and what lies
  // between has the right length.
  Status count_frames() {
    const auto left = file_.remaining();
    if (!left) return {};
    const std::uint64_t frame = kFrameHeaderSize + frames_.layout().frame_bytes();
    if (*left % frame != 0) return {};
    VQX_ASSIGN_OR_RETURN(const std::string_view first, file_.peek(kFrameHeaderSize));
    if (*left == 0 ||
        (first == "FRAME\n" && file_.look_before_end(frame, kFrameHeaderSize) == "FRAME\n"))
      info_.frame_count = static_cast<std::int64_t>(*left / frame);
    return {};
  }

 private:
  template <class T>
  Result<T> remember(Result<T> result) {
    if (!result.ok()) failure_ = result.status();
    return result;
  }

  Status lost(const char* libvmaf_line, const std::string& reason) const {
    return frame_error(ErrorCode::kTruncated, file_.path(), index_, dialect_, libvmaf_line, reason);
  }

  // False at the end of the file.
  Result<bool> take_frame_header() {
    VQX_ASSIGN_OR_RETURN(const std::string_view mark, file_.peek(kFrameHeaderSize));
    if (mark.empty()) return false;
    if (!mark.starts_with(kFrameMark))
      return lost("Loss of framing in YUV input data",
                  mark.size() < kFrameHeaderSize
                      ? fmt::format("{} stray bytes after the last frame", mark.size())
                      : "framing lost: the data does not begin with FRAME");
    if (mark.ends_with('\n')) {
      file_.consume(kFrameHeaderSize);
      return true;
    }
    constexpr std::size_t kLongest = kFrameHeaderSize + kFrameParameters + 1;
    VQX_ASSIGN_OR_RETURN(const std::string_view line, file_.peek_line(kLongest));
    if (!line.ends_with('\n'))
      return lost("Error parsing YUV frame header",
                  fmt::format("the frame header does not end within {} bytes", kLongest));
    file_.consume(line.size());
    return true;
  }

  ByteReader file_;
  VideoFormat format_;
  SourceInfo info_;
  Dialect dialect_;
  FrameDataReader frames_;
  std::int64_t index_ = 0;
  Status failure_;
};

}  // namespace

Result<std::unique_ptr<VideoSource>> open_y4m(ByteReader file, const OpenOptions& options) {
  const std::size_t longest = max_y4m_header(options.dialect);
  VQX_ASSIGN_OR_RETURN(std::string_view line, file.peek_line(longest + 1));
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  } else if (options.dialect == Dialect::kVqx) {
    return Status(ErrorCode::kInput,
                  line.size() <= longest
                      ? fmt::format("{}: the file ends within its YUV4MPEG2 header", file.path())
                      : fmt::format("{}: the YUV4MPEG2 header has no line feed within {} bytes",
                                    file.path(), longest + 1));
  } else {
    line = line.substr(0, longest);
  }
  auto header = parse_y4m_header(line, options.dialect, options.mono_as_420);
  if (!header.ok()) {
    const std::string prefix = options.dialect == Dialect::kVqx ? file.path() + ": " : "";
    return Status(ErrorCode::kInput, prefix + header.status().message());
  }
  // libvmaf takes what follows an overlong header for frame data.
  const std::string_view taken = *file.peek_line(longest + 1);
  file.consume(taken.ends_with('\n') ? taken.size() : std::min(taken.size(), longest));
  header->info.path = file.path();
  auto source = std::make_unique<Y4mSource>(std::move(file), std::move(*header), options);
  VQX_RETURN_IF_ERROR(source->count_frames());
  return std::unique_ptr<VideoSource>(std::move(source));
}

}  // namespace vqx::input
