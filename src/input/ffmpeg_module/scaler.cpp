#include "input/ffmpeg_module/scaler.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace vqx::input::ffmpeg {
namespace {

int filter_flag(int filter) {
  switch (filter) {
    case kVqxBilinear:
      return SWS_BILINEAR;
    case kVqxLanczos:
      return SWS_LANCZOS;
    default:
      return SWS_BICUBIC;
  }
}

// The "yuvj" names say "full range", which is told separately here.
AVPixelFormat without_range(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P:
      return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
      return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ444P:
      return AV_PIX_FMT_YUV444P;
    case AV_PIX_FMT_YUVJ440P:
      return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ411P:
      return AV_PIX_FMT_YUV411P;
    default:
      return format;
  }
}

}  // namespace

std::unique_ptr<Scaler> Scaler::create(const Picture& from, const Picture& to, int filter,
                                       bool full_range) {
  const int flags = filter_flag(filter) | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT |
                    SWS_FULL_CHR_H_INP;
  const AVPixelFormat source = without_range(from.format);
  auto scaler = std::make_unique<Scaler>();
  scaler->context_.reset(sws_getContext(from.width, from.height, source, to.width, to.height,
                                        to.format, flags, nullptr, nullptr, nullptr));
  if (!scaler->context_) return nullptr;
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(source);
  const bool rgb = descriptor != nullptr &&
                   (descriptor->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
  const int* matrix = sws_getCoefficients(SWS_CS_ITU709);
  const int range = full_range && !rgb ? 1 : 0;
  constexpr int kNeutral = 1 << 16;
  if (sws_setColorspaceDetails(scaler->context_.get(), matrix, rgb ? 1 : range, matrix, range, 0,
                               kNeutral, kNeutral) < 0)
    return nullptr;
  scaler->rows_ = from.height;
  scaler->target_rows_ = to.height;
  return scaler;
}

bool Scaler::scale(const std::uint8_t* const* from, const int* from_stride, std::uint8_t* const* to,
                   const int* to_stride) {
  return sws_scale(context_.get(), from, from_stride, 0, rows_, to, to_stride) == target_rows_;
}

}  // namespace vqx::input::ffmpeg
