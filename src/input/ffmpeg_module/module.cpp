// The entry of the module: C functions over the classes beside.
extern "C" {
#include <libavutil/ffversion.h>
#include <libavutil/log.h>
}

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input/ffmpeg_module/decoder.hpp"
#include "input/ffmpeg_module/module_abi.h"
#include "input/ffmpeg_module/scaler.hpp"

namespace {

using vqx::input::ffmpeg::Decoder;
using vqx::input::ffmpeg::Failure;
using vqx::input::ffmpeg::Scaler;

void give_text(const std::string& text, char* target, size_t size) {
  if (target != nullptr && size > 0) std::snprintf(target, size, "%s", text.c_str());
}

// Nothing may be thrown across the border; what can be thrown inside is out-of-memory.
template <class Body>
auto guarded(char* error, size_t error_size, decltype(std::declval<Body>()()) if_thrown,
             Body body) noexcept {
  try {
    return body();
  } catch (const std::exception&) {
    if (error != nullptr && error_size > 0) std::snprintf(error, error_size, "not enough memory");
    return if_thrown;
  }
}

void* open_decoder(const VqxFfmpegOptions* options, VqxFfmpegInfo* info, char* error,
                   size_t error_size) {
  return guarded(error, error_size, static_cast<void*>(nullptr), [&]() -> void* {
    Failure failure;
    auto decoder = Decoder::open(*options, *info, failure);
    if (!decoder) give_text(failure.text, error, error_size);
    return decoder.release();
  });
}

int next_frame(void* decoder, VqxFfmpegPlanes* planes, void** owner, char* error,
               size_t error_size) {
  return guarded(error, error_size, static_cast<int>(kVqxNoMemory), [&] {
    Failure failure;
    const int result = static_cast<Decoder*>(decoder)->next(planes, owner, failure);
    if (result < 0) give_text(failure.text, error, error_size);
    return result;
  });
}

int unpack_frame(void* decoder, const VqxFfmpegPlanes* target, char* error, size_t error_size) {
  return guarded(error, error_size, static_cast<int>(kVqxNoMemory), [&] {
    Failure failure;
    const int result = static_cast<Decoder*>(decoder)->unpack(*target, failure);
    if (result < 0) give_text(failure.text, error, error_size);
    return result;
  });
}

void release_frame(void* owner) {
  auto* frame = static_cast<AVFrame*>(owner);
  av_frame_free(&frame);
}

void close_decoder(void* decoder) {
  delete static_cast<Decoder*>(decoder);
}

// Planar pictures converted by swscale; luma-only ones travel as 4:2:0 with flat chroma.
struct Converter {
  VqxFfmpegFormat from;
  VqxFfmpegFormat to;
  std::unique_ptr<Scaler> scaler;
  std::vector<std::uint8_t> flat_chroma;    // for a luma-only source
  std::vector<std::uint8_t> unused_chroma;  // of a luma-only target
};

std::size_t chroma_stride(const VqxFfmpegFormat& format) {
  return (static_cast<std::size_t>(format.width) / 2 + 1 + 63) / 64 * 64 *
         (format.bit_depth > 8 ? 2 : 1);
}

std::vector<std::uint8_t> chroma_plane(const VqxFfmpegFormat& format) {
  const std::size_t size =
      chroma_stride(format) * (static_cast<std::size_t>(format.height) / 2 + 1);
  std::vector<std::uint8_t> plane(size, 128);
  if (format.bit_depth > 8) {
    const int middle = 1 << (format.bit_depth - 1);
    for (std::size_t i = 0; i < size; i += 2) {
      plane[i] = static_cast<std::uint8_t>(middle & 255);
      plane[i + 1] = static_cast<std::uint8_t>(middle >> 8);
    }
  }
  return plane;
}

void* open_converter(const VqxFfmpegFormat* from, const VqxFfmpegFormat* to, int32_t filter,
                     int32_t full_range, char* error, size_t error_size) {
  return guarded(error, error_size, static_cast<void*>(nullptr), [&]() -> void* {
    using vqx::input::ffmpeg::planar_format;
    auto converter = std::make_unique<Converter>();
    converter->from = *from;
    converter->to = *to;
    if (from->chroma == kVqxChroma400) converter->flat_chroma = chroma_plane(*from);
    if (to->chroma == kVqxChroma400) converter->unused_chroma = chroma_plane(*to);
    converter->scaler = Scaler::create(
        {from->width, from->height, planar_format(from->chroma, from->bit_depth)},
        {to->width, to->height, planar_format(to->chroma, to->bit_depth)}, filter, full_range != 0);
    if (!converter->scaler) {
      give_text("FFmpeg cannot do this conversion", error, error_size);
      return nullptr;
    }
    return converter.release();
  });
}

// swscale's view of our planes, with the stand-in chroma of luma-only pictures.
struct View {
  std::uint8_t* data[4] = {};
  int stride[4] = {};
  View(const VqxFfmpegPlanes& planes, const VqxFfmpegFormat& format,
       std::vector<std::uint8_t>& chroma) {
    for (int p = 0; p < 3; ++p) {
      const bool stand_in = p > 0 && format.chroma == kVqxChroma400;
      data[p] = stand_in ? chroma.data() : static_cast<std::uint8_t*>(planes.data[p]);
      stride[p] = static_cast<int>(stand_in ? static_cast<std::ptrdiff_t>(chroma_stride(format))
                                            : planes.stride[p]);
    }
  }
};

int convert(void* handle, const VqxFfmpegPlanes* from, const VqxFfmpegPlanes* to) {
  auto& converter = *static_cast<Converter*>(handle);
  const View source(*from, converter.from, converter.flat_chroma);
  const View target(*to, converter.to, converter.unused_chroma);
  return converter.scaler->scale(source.data, source.stride, target.data, target.stride)
             ? kVqxFrame
             : kVqxBroken;
}

void close_converter(void* converter) {
  delete static_cast<Converter*>(converter);
}

std::string version_of(const char* name, unsigned version) {
  return std::string(name) + " " + std::to_string(AV_VERSION_MAJOR(version)) + "." +
         std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

const char* versions() {
  static const std::string text = std::string("FFmpeg ") + av_version_info() + " (" +
                                  version_of("libavformat", avformat_version()) + ", " +
                                  version_of("libavcodec", avcodec_version()) + ", " +
                                  version_of("libswscale", swscale_version()) + ")";
  return text.c_str();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const VqxFfmpegModule* vqx_ffmpeg_module_v1(
    void) {
  // FFmpeg prints by itself unless told otherwise; a level that the program chose is left alone.
  if (av_log_get_level() == AV_LOG_INFO) av_log_set_level(AV_LOG_QUIET);
  static const VqxFfmpegModule module = {
      VQX_FFMPEG_ABI, versions(),    open_decoder,   next_frame, unpack_frame,
      release_frame,  close_decoder, open_converter, convert,    close_converter};
  return &module;
}
