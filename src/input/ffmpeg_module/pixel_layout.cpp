#include "input/ffmpeg_module/pixel_layout.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>

namespace vqx::input::ffmpeg {
namespace {

int chroma_of(const AVPixFmtDescriptor& descriptor) {
  if (descriptor.nb_components < 3) return kVqxChroma400;
  if (descriptor.log2_chroma_w == 1 && descriptor.log2_chroma_h == 1) return kVqxChroma420;
  if (descriptor.log2_chroma_w == 1 && descriptor.log2_chroma_h == 0) return kVqxChroma422;
  if (descriptor.log2_chroma_w == 0 && descriptor.log2_chroma_h == 0) return kVqxChroma444;
  return -1;
}

bool known_depth(int depth) {
  return depth == 8 || depth == 10 || depth == 12 || depth == 16;
}

int halved(int size, bool halve) {
  return halve ? (size + 1) / 2 : size;
}

// A plane of samples in any arrangement: sample (x, y) is at start + x * step_x + y * step_y.
struct Samples {
  const std::uint8_t* start;
  std::ptrdiff_t step_x;
  std::ptrdiff_t step_y;
};

Samples turned(const Samples& in, int width, int height, int rotation) {
  const std::ptrdiff_t last_x = (width - 1) * in.step_x;
  const std::ptrdiff_t last_y = (height - 1) * in.step_y;
  switch (rotation) {
    case 90:
      return {in.start + last_y, -in.step_y, in.step_x};
    case 180:
      return {in.start + last_x + last_y, -in.step_x, -in.step_y};
    case 270:
      return {in.start + last_x, in.step_y, -in.step_x};
    default:
      return in;
  }
}

template <class Sample>
Sample load(const std::uint8_t* from) {
  Sample value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// `Step` is the distance of samples where it is known at compile time, which lets loops vectorize.
template <class Sample, std::ptrdiff_t Step, bool Swapped>
void copy_row(const std::uint8_t* from, std::ptrdiff_t step, Sample* to, int width, int shift) {
  for (int x = 0; x < width; ++x) {
    auto value = load<Sample>(from + x * (Step != 0 ? Step : step));
    if constexpr (Swapped) value = static_cast<Sample>(value << 8 | value >> 8);
    to[x] = static_cast<Sample>(value >> shift);
  }
}

template <class Sample, bool Swapped>
void copy_plane(const Samples& from, std::uint8_t* target, std::ptrdiff_t stride, int width,
                int height, int shift) {
  constexpr std::ptrdiff_t kSize = sizeof(Sample);
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* row = from.start + y * from.step_y;
    auto* to = reinterpret_cast<Sample*>(target + y * stride);
    if (from.step_x == kSize) {
      copy_row<Sample, kSize, Swapped>(row, kSize, to, width, shift);
    } else if (from.step_x == 2 * kSize) {
      copy_row<Sample, 2 * kSize, Swapped>(row, 2 * kSize, to, width, shift);
    } else {
      copy_row<Sample, 0, Swapped>(row, from.step_x, to, width, shift);
    }
  }
}

}  // namespace

std::optional<PixelLayout> pixel_layout(AVPixelFormat format) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
  constexpr std::uint64_t kForeign = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL |
                                     AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                                     AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
  if (descriptor == nullptr || (descriptor->flags & kForeign) != 0) return std::nullopt;
  // XYZ is not marked as anything special.
  if (std::string_view(descriptor->name).starts_with("xyz")) return std::nullopt;
  PixelLayout layout;
  layout.chroma = chroma_of(*descriptor);
  layout.bit_depth = descriptor->comp[0].depth;
  layout.shift = descriptor->comp[0].shift;
  if (layout.chroma < 0 || !known_depth(layout.bit_depth)) return std::nullopt;
  const int word = layout.bit_depth > 8 ? 2 : 1;
  layout.swapped = word == 2 && (descriptor->flags & AV_PIX_FMT_FLAG_BE) != 0;
  layout.planar = !layout.swapped && layout.shift == 0;
  for (int c = 0; c < layout.component_count(); ++c) {
    const AVComponentDescriptor& component = descriptor->comp[c];
    layout.components[c] = component;
    // Samples that share words with others (v30x, ...) are left to swscale.
    if (component.depth != layout.bit_depth || component.shift != layout.shift ||
        component.shift + component.depth > 8 * word || component.step % word != 0 ||
        component.offset % word != 0)
      return std::nullopt;
    layout.planar =
        layout.planar && component.plane == c && component.step == word && component.offset == 0;
  }
  return layout;
}

AVPixelFormat planar_format(int chroma, int bit_depth) {
  const bool full = chroma == kVqxChroma444;
  const bool wide = chroma == kVqxChroma422;
  switch (bit_depth) {
    case 8:
      return full ? AV_PIX_FMT_YUV444P : wide ? AV_PIX_FMT_YUV422P : AV_PIX_FMT_YUV420P;
    case 10:
      return full ? AV_PIX_FMT_YUV444P10 : wide ? AV_PIX_FMT_YUV422P10 : AV_PIX_FMT_YUV420P10;
    case 12:
      return full ? AV_PIX_FMT_YUV444P12 : wide ? AV_PIX_FMT_YUV422P12 : AV_PIX_FMT_YUV420P12;
    case 16:
      return full ? AV_PIX_FMT_YUV444P16 : wide ? AV_PIX_FMT_YUV422P16 : AV_PIX_FMT_YUV420P16;
    default:
      return AV_PIX_FMT_NONE;
  }
}

int plane_width(const VqxFfmpegFormat& format, int plane) {
  return halved(format.width,
                plane > 0 && (format.chroma == kVqxChroma420 || format.chroma == kVqxChroma422));
}

int plane_height(const VqxFfmpegFormat& format, int plane) {
  return halved(format.height, plane > 0 && format.chroma == kVqxChroma420);
}

void unpack(const AVFrame& frame, const PixelLayout& layout, int rotation,
            const VqxFfmpegPlanes& target) {
  const VqxFfmpegFormat format{frame.width, frame.height, layout.chroma, layout.bit_depth};
  for (int c = 0; c < layout.component_count(); ++c) {
    const AVComponentDescriptor& component = layout.components[c];
    const int in_width = plane_width(format, c);
    const int in_height = plane_height(format, c);
    const Samples in{frame.data[component.plane] + component.offset, component.step,
                     frame.linesize[component.plane]};
    const Samples out = turned(in, in_width, in_height, rotation);
    const bool sideways = rotation == 90 || rotation == 270;
    const int width = sideways ? in_height : in_width;
    const int height = sideways ? in_width : in_height;
    auto* to = static_cast<std::uint8_t*>(target.data[c]);
    if (layout.bit_depth == 8) {
      copy_plane<std::uint8_t, false>(out, to, target.stride[c], width, height, layout.shift);
    } else if (layout.swapped) {
      copy_plane<std::uint16_t, true>(out, to, target.stride[c], width, height, layout.shift);
    } else {
      copy_plane<std::uint16_t, false>(out, to, target.stride[c], width, height, layout.shift);
    }
  }
}

}  // namespace vqx::input::ffmpeg
