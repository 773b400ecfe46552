#include "input/ffmpeg_source.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/module_loader.hpp"
#include "input/ffmpeg_module/module_abi.h"
#include "input/frame_file.hpp"
#include "input/picture_pool.hpp"
#include "input/sample_range.hpp"

namespace vqx::input {
namespace {

constexpr std::size_t kErrorSize = 512;

Result<const VqxFfmpegModule*> load_once() {
  VQX_ASSIGN_OR_RETURN(void* entry, base::load_module_entry("vqx_ffmpeg", VQX_FFMPEG_ENTRY));
  const VqxFfmpegModule* module = reinterpret_cast<VqxFfmpegEntry>(entry)();
  if (module == nullptr || module->abi != VQX_FFMPEG_ABI)
    return Status(ErrorCode::kBackend, "libvqx_ffmpeg.so is of another version");
  return module;
}

Result<const VqxFfmpegModule*> ffmpeg_module() {
  static const Result<const VqxFfmpegModule*> module = load_once();
  return module;
}

// The module is an input like a file: without it the file cannot be read.
Status missing(const std::string& path, const Status& reason, const char* purpose) {
  return Status(ErrorCode::kInput,
                fmt::format("{}: {} needs FFmpeg: {}", path, purpose, reason.message()));
}

int to_abi(ChromaFormat chroma) {
  switch (chroma) {
    case ChromaFormat::k400:
      return kVqxChroma400;
    case ChromaFormat::k420:
      return kVqxChroma420;
    case ChromaFormat::k422:
      return kVqxChroma422;
    case ChromaFormat::k444:
      return kVqxChroma444;
  }
  return kVqxChroma420;
}

ChromaFormat from_abi(int chroma) {
  switch (chroma) {
    case kVqxChroma400:
      return ChromaFormat::k400;
    case kVqxChroma422:
      return ChromaFormat::k422;
    case kVqxChroma444:
      return ChromaFormat::k444;
    default:
      return ChromaFormat::k420;
  }
}

int to_abi(ScaleFilter filter) {
  switch (filter) {
    case ScaleFilter::kBilinear:
      return kVqxBilinear;
    case ScaleFilter::kBicubic:
      return kVqxBicubic;
    case ScaleFilter::kLanczos:
      return kVqxLanczos;
  }
  return kVqxBicubic;
}

VqxFfmpegFormat to_abi(const VideoFormat& format) {
  return {format.width, format.height, to_abi(format.chroma), format.bit_depth};
}

VqxFfmpegTarget target_of(const OpenOptions& options) {
  VqxFfmpegTarget target{0, 0, kVqxBicubic, -1, 0};
  if (options.scale) {
    target.width = options.scale->width;
    target.height = options.scale->height;
    target.filter = to_abi(options.scale->filter);
  }
  if (options.pixel_format) {
    target.chroma = to_abi(options.pixel_format->chroma);
    target.bit_depth = options.pixel_format->bit_depth;
  }
  return target;
}

std::optional<std::string> text_if_any(const char* text) {
  if (*text == '\0') return std::nullopt;
  return std::string(text);
}

std::optional<Rational> ratio_if_positive(std::int64_t num, std::int64_t den) {
  if (num <= 0 || den <= 0) return std::nullopt;
  return reduced({num, den});
}

SourceInfo describe_source(const std::string& path, const VqxFfmpegInfo& from) {
  SourceInfo info;
  info.path = path;
  info.container = from.container;
  info.codec = from.codec;
  info.pixel_format = from.pixel_format;
  if (from.range >= 0) info.range = from.range == 1 ? ColourRange::kFull : ColourRange::kLimited;
  info.matrix = text_if_any(from.matrix);
  info.transfer = text_if_any(from.transfer);
  info.primaries = text_if_any(from.primaries);
  if (from.scan == 0) info.scan = Scan::kProgressive;
  if (from.scan == 1) info.scan = Scan::kTopFieldFirst;
  if (from.scan == 2) info.scan = Scan::kBottomFieldFirst;
  info.frame_rate = ratio_if_positive(from.rate_num, from.rate_den);
  info.sample_aspect = ratio_if_positive(from.aspect_num, from.aspect_den);
  info.variable_frame_rate = from.variable_rate != 0;
  info.rotation = from.rotation;
  if (from.estimated_frames >= 0) info.estimated_frame_count = from.estimated_frames;
  std::istringstream notes(from.notes);
  for (std::string note; std::getline(notes, note);) info.notes.push_back(note);
  return info;
}

// Memory that holds chroma planes rounded up, as FFmpeg writes them.
PicturePool conversion_pool(const VideoFormat& format) {
  VideoFormat even = format;
  even.width += even.width % 2;
  even.height += even.height % 2;
  return PicturePool(format,
                     {padded_layout(even, 0), padded_layout(even, 1), padded_layout(even, 2)});
}

VqxFfmpegPlanes planes_of(const Picture& picture) {
  VqxFfmpegPlanes planes{};
  for (int p = 0; p < picture.format().plane_count(); ++p) {
    planes.data[p] = const_cast<void*>(picture.plane(p).data);
    planes.stride[p] = picture.plane(p).stride;
  }
  return planes;
}

ErrorCode code_of(int result) {
  switch (result) {
    case kVqxRefused:
      return ErrorCode::kInput;
    case kVqxNoMemory:
      return ErrorCode::kOutOfMemory;
    default:
      return ErrorCode::kTruncated;
  }
}

class FfmpegSource final : public VideoSource {
 public:
  FfmpegSource(const VqxFfmpegModule* module, void* decoder, const VqxFfmpegInfo& info,
               const std::string& path, const OpenOptions& options)
      : module_(module),
        decoder_(decoder, module->close),
        dialect_(options.dialect),
        info_(describe_source(path, info)),
        format_{info.format.width, info.format.height, from_abi(info.format.chroma),
                info.format.bit_depth},
        pool_(conversion_pool(delivered(format_, options))) {
    if (adds_chroma()) info_.notes.emplace_back("luma-only input given flat 4:2:0 chroma");
  }

  const VideoFormat& format() const override { return pool_.format(); }
  const SourceInfo& info() const override { return info_; }

  Result<std::optional<Picture>> read() override {
    VQX_RETURN_IF_ERROR(failure_);
    auto picture = next();
    if (!picture.ok()) failure_ = picture.status();
    return picture;
  }

  Status skip(std::int64_t count) override {
    for (; count > 0; --count) {
      VQX_ASSIGN_OR_RETURN(const std::optional<Picture> dropped, read());
      if (!dropped) break;
    }
    return {};
  }

 private:
  static VideoFormat delivered(VideoFormat format, const OpenOptions& options) {
    if (options.mono_as_420 && format.chroma == ChromaFormat::k400)
      format.chroma = ChromaFormat::k420;
    return format;
  }

  bool adds_chroma() const { return pool_.format() != format_; }

  Status failed(int result, const char* reason) const {
    return frame_error(code_of(result), info_.path, index_, dialect_,
                       "Error reading YUV frame data.", reason);
  }

  Result<std::optional<Picture>> next() {
    if (ended_) return std::optional<Picture>();
    VqxFfmpegPlanes planes{};
    void* owner = nullptr;
    char error[kErrorSize] = {};
    const int result = module_->next(decoder_.get(), &planes, &owner, error, sizeof error);
    if (result == kVqxEnd) {
      ended_ = true;
      return std::optional<Picture>();
    }
    if (result < 0) return failed(result, error);
    VQX_ASSIGN_OR_RETURN(Picture picture, owner != nullptr ? lent(planes, owner) : unpacked());
    if (const auto found = find_sample_above_depth(picture))
      return Status(ErrorCode::kSampleRange, fmt::format("{}: frame {}: {}", info_.path, index_,
                                                         describe(*found, format_.bit_depth)));
    ++index_;
    return std::optional<Picture>(std::move(picture));
  }

  // The decoder's own frame, given back with the last copy.
  Result<Picture> lent(const VqxFfmpegPlanes& from, void* owner) {
    const std::shared_ptr<void> frame(owner, module_->release);
    if (adds_chroma() && flat_chroma_.empty()) {
      VQX_ASSIGN_OR_RETURN(flat_chroma_, pool_.acquire());
      fill_flat_chroma(flat_chroma_);
    }
    Plane planes[3];
    for (int p = 0; p < pool_.format().plane_count(); ++p) {
      if (p > 0 && adds_chroma()) {
        planes[p] = flat_chroma_.plane(p);
      } else {
        planes[p] = {from.data[p], from.stride[p], format_.plane_width(p), format_.plane_height(p)};
      }
    }
    return Picture::borrow(pool_.format(), planes, [frame, chroma = flat_chroma_] {});
  }

  Result<Picture> unpacked() {
    VQX_ASSIGN_OR_RETURN(Picture picture, pool_.acquire());
    const VqxFfmpegPlanes target = planes_of(picture);
    char error[kErrorSize] = {};
    const int result = module_->unpack(decoder_.get(), &target, error, sizeof error);
    if (result < 0) return failed(result, error);
    if (adds_chroma()) fill_flat_chroma(picture);
    return picture;
  }

  const VqxFfmpegModule* module_;
  std::unique_ptr<void, void (*)(void*)> decoder_;
  Dialect dialect_;
  SourceInfo info_;
  VideoFormat format_;  // of the module's pictures
  PicturePool pool_;
  Picture flat_chroma_;  // shared by all pictures that need it
  std::int64_t index_ = 0;
  bool ended_ = false;
  Status failure_;
};

class ConvertedSource final : public VideoSource {
 public:
  ConvertedSource(std::unique_ptr<VideoSource> source, const VqxFfmpegModule* module,
                  void* converter, const VideoFormat& format)
      : source_(std::move(source)),
        module_(module),
        converter_(converter, module->close_converter),
        info_(source_->info()),
        pool_(conversion_pool(format)),
        whole_(conversion_pool(source_->format())) {
    const VideoFormat& from = source_->format();
    info_.notes.push_back(fmt::format("converted from {} x {} {} by swscale", from.width,
                                      from.height,
                                      pixel_format_name({from.chroma, from.bit_depth})));
  }

  const VideoFormat& format() const override { return pool_.format(); }
  const SourceInfo& info() const override { return info_; }
  Status skip(std::int64_t count) override { return source_->skip(count); }

  Result<std::optional<Picture>> read() override {
    VQX_ASSIGN_OR_RETURN(const std::optional<Picture> original, source_->read());
    if (!original) return std::optional<Picture>();
    VQX_ASSIGN_OR_RETURN(const Picture from, with_rounded_chroma(*original));
    VQX_ASSIGN_OR_RETURN(Picture picture, pool_.acquire());
    const VqxFfmpegPlanes source = planes_of(from);
    const VqxFfmpegPlanes target = planes_of(picture);
    if (module_->convert(converter_.get(), &source, &target) != kVqxFrame)
      return Status(ErrorCode::kInternal, fmt::format("{}: the conversion fails", info_.path));
    return std::optional<Picture>(std::move(picture));
  }

 private:
  // swscale takes chroma sizes rounded up: where ours are rounded down the last column and row are
  // repeated.
  Result<Picture> with_rounded_chroma(const Picture& original) {
    const VideoFormat& format = original.format();
    if (format.chroma == ChromaFormat::k400 || format.chroma == ChromaFormat::k444 ||
        (format.width % 2 == 0 && (format.height % 2 == 0 || format.chroma == ChromaFormat::k422)))
      return original;
    VQX_ASSIGN_OR_RETURN(Picture whole, whole_.acquire());
    const auto size = static_cast<std::size_t>(format.bytes_per_sample());
    for (int p = 0; p < format.plane_count(); ++p) {
      const FileLayout::PlaneSize wanted =
          planar_layout(format).planes[static_cast<std::size_t>(p)];
      const Plane& plane = original.plane(p);
      if (plane.width == 0 || plane.height == 0) {
        fill_plane(whole, p, wanted);
        continue;
      }
      for (int y = 0; y < static_cast<int>(wanted.height); ++y) {
        const auto* from = plane.row<std::byte>(std::min(y, plane.height - 1));
        auto* to = whole.mutable_row<std::byte>(p, y);
        const std::size_t known = static_cast<std::size_t>(plane.width) * size;
        std::memcpy(to, from, known);
        for (std::size_t x = known; x < wanted.width * size; ++x) to[x] = to[x - size];
      }
    }
    return whole;
  }

  // Pictures one sample wide or high have no chroma in memory: grey.
  static void fill_plane(Picture& picture, int p, const FileLayout::PlaneSize& size) {
    const int middle = 1 << (picture.format().bit_depth - 1);
    for (int y = 0; y < static_cast<int>(size.height); ++y)
      for (std::size_t x = 0; x < size.width; ++x) {
        if (picture.format().bytes_per_sample() == 1) {
          picture.mutable_row<std::uint8_t>(p, y)[x] = static_cast<std::uint8_t>(middle);
        } else {
          picture.mutable_row<std::uint16_t>(p, y)[x] = static_cast<std::uint16_t>(middle);
        }
      }
  }

  std::unique_ptr<VideoSource> source_;
  const VqxFfmpegModule* module_;
  std::unique_ptr<void, void (*)(void*)> converter_;
  SourceInfo info_;
  PicturePool pool_;
  PicturePool whole_;
};

}  // namespace

namespace {

// The module names flags of vqx, which the drop-in does not have.
Status could_not_open(const std::string& path, std::string_view reason, Dialect dialect) {
  if (dialect == Dialect::kLibvmaf) reason = reason.substr(0, reason.find("; --"));
  return Status(ErrorCode::kInput, fmt::format("{}: {}", path, reason));
}

}  // namespace

Result<std::unique_ptr<VideoSource>> open_with_ffmpeg(const std::string& path,
                                                      const OpenOptions& options) {
  const auto module = ffmpeg_module();
  if (!module.ok()) return missing(path, module.status(), "a file that is no YUV4MPEG2");
  VqxFfmpegOptions request{};
  request.path = path.c_str();
  request.threads = options.decode_threads;
  request.allow_interlaced = options.allow_interlaced || options.dialect == Dialect::kLibvmaf;
  request.target = target_of(options);
  VqxFfmpegInfo info{};
  char error[kErrorSize] = {};
  void* decoder = (*module)->open(&request, &info, error, sizeof error);
  if (decoder == nullptr) return could_not_open(path, error, options.dialect);
  auto source = std::make_unique<FfmpegSource>(*module, decoder, info, path, options);
  if (const Status size = check_size(info.format.width, info.format.height); !size.ok())
    return Status(size.code(), fmt::format("{}: {}", path, size.message()));
  return std::unique_ptr<VideoSource>(std::move(source));
}

Result<std::unique_ptr<VideoSource>> convert_with_ffmpeg(std::unique_ptr<VideoSource> source,
                                                         const OpenOptions& options) {
  VideoFormat format = source->format();
  if (options.scale) {
    format.width = options.scale->width;
    format.height = options.scale->height;
  }
  if (options.pixel_format) {
    format.chroma = options.pixel_format->chroma;
    format.bit_depth = options.pixel_format->bit_depth;
  }
  if (format == source->format()) return source;
  const std::string& path = source->info().path;
  const auto module = ffmpeg_module();
  if (!module.ok()) return missing(path, module.status(), "a conversion");
  const VqxFfmpegFormat from = to_abi(source->format());
  const VqxFfmpegFormat to = to_abi(format);
  const bool full = source->info().range == ColourRange::kFull;
  char error[kErrorSize] = {};
  void* converter = (*module)->open_converter(&from, &to, target_of(options).filter, full ? 1 : 0,
                                              error, sizeof error);
  if (converter == nullptr)
    return Status(ErrorCode::kInput, fmt::format("{}: {} ({} x {} to {} x {})", path, error,
                                                 from.width, from.height, to.width, to.height));
  return std::unique_ptr<VideoSource>(
      std::make_unique<ConvertedSource>(std::move(source), *module, converter, format));
}

Result<std::string> ffmpeg_versions() {
  VQX_ASSIGN_OR_RETURN(const VqxFfmpegModule* module, ffmpeg_module());
  return std::string(module->versions);
}

}  // namespace vqx::input
