#include <fmt/core.h>

#include <utility>

#include "input/file_sources.hpp"
#include "input/frame_file.hpp"

namespace vqx::input {
namespace {

class RawSource final : public VideoSource {
 public:
  RawSource(ByteReader file, const VideoFormat& format, FileLayout layout, SourceInfo info,
            const OpenOptions& options)
      : file_(std::move(file)),
        format_(format),
        info_(std::move(info)),
        frames_(format, std::move(layout), options) {
    const std::uint64_t frame = frames_.layout().frame_bytes();
    if (const auto left = file_.remaining(); left && *left % frame == 0)
      info_.frame_count = static_cast<std::int64_t>(*left / frame);
  }

  const VideoFormat& format() const override { return format_; }
  const SourceInfo& info() const override { return info_; }

  Result<std::optional<Picture>> read() override {
    VQX_RETURN_IF_ERROR(failure_);
    auto more = at_frame();
    if (more.ok() && !*more) return std::optional<Picture>();
    auto picture = more.ok() ? frames_.read(file_, index_) : more.status();
    if (!picture.ok()) {
      failure_ = picture.status();
      return failure_;
    }
    ++index_;
    return std::optional<Picture>(std::move(*picture));
  }

  Status skip(std::int64_t count) override {
    for (; count > 0 && failure_.ok(); --count) {
      auto more = at_frame();
      if (more.ok() && !*more) break;
      failure_ = more.ok() ? frames_.skip(file_, index_) : more.status();
      ++index_;
    }
    return failure_;
  }

 private:
  Result<bool> at_frame() {
    if (const auto left = file_.remaining()) return *left > 0;
    VQX_ASSIGN_OR_RETURN(const std::string_view next, file_.peek(1));
    return !next.empty();
  }

  ByteReader file_;
  VideoFormat format_;
  SourceInfo info_;
  FrameDataReader frames_;
  std::int64_t index_ = 0;
  Status failure_;
};

Status check_raw(const RawParameters& raw) {
  VQX_RETURN_IF_ERROR(check_size(raw.width, raw.height));
  if (raw.bit_depth != 8 && raw.bit_depth != 10 && raw.bit_depth != 12 && raw.bit_depth != 16)
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("bit depth {} is not one of 8, 10, 12, 16", raw.bit_depth));
  return {};
}

}  // namespace

Result<std::unique_ptr<VideoSource>> open_raw(ByteReader file, const OpenOptions& options) {
  const RawParameters& raw = *options.raw;
  if (const Status status = check_raw(raw); !status.ok())
    return Status(status.code(), fmt::format("{}: {}", file.path(), status.message()));
  VideoFormat format{static_cast<int>(raw.width), static_cast<int>(raw.height), raw.chroma,
                     raw.bit_depth};
  FileLayout layout = planar_layout(format);
  SourceInfo info;
  info.path = file.path();
  info.container = "raw";
  info.codec = "uncompressed";
  info.pixel_format = pixel_format_name({raw.chroma, raw.bit_depth});
  if (options.mono_as_420 && format.chroma == ChromaFormat::k400) {
    format.chroma = ChromaFormat::k420;
    info.notes.emplace_back("luma-only input given flat 4:2:0 chroma");
  }
  return std::unique_ptr<VideoSource>(std::make_unique<RawSource>(
      std::move(file), format, std::move(layout), std::move(info), options));
}

}  // namespace vqx::input
