// Where FFmpeg's pixel formats keep their samples, and how they become our planes.  Formats that
// differ in layout only (nv12, nv21, p010, yuyv422, big endian, ...) are unpacked here, sample for
// sample; swscale is for real conversions.
#pragma once

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

#include <optional>

#include "input/ffmpeg_module/module_abi.h"

namespace vqx::input::ffmpeg {

struct PixelLayout {
  int chroma = kVqxChroma420;
  int bit_depth = 8;
  int shift = 0;         // of a sample within its 8 or 16 bits
  bool swapped = false;  // big endian
  bool planar = false;   // our layout already: may be lent
  AVComponentDescriptor components[3] = {};
  int component_count() const { return chroma == kVqxChroma400 ? 1 : 3; }
};

// Nothing where samples are not 8, 10, 12 or 16-bit Y, Cb, Cr (or Y) in 4:0:0, 4:2:0, 4:2:2 or
// 4:4:4: RGB, palettes, other depths and subsamplings, frames in a device's memory.
std::optional<PixelLayout> pixel_layout(AVPixelFormat format);

// The planar format that holds our planes; 4:0:0 has none of its own range-neutral kind, so that
// 4:2:0 stands for it and its chroma is dropped.
AVPixelFormat planar_format(int chroma, int bit_depth);

// Size of a plane of `format`, rounded up.
int plane_width(const VqxFfmpegFormat& format, int plane);
int plane_height(const VqxFfmpegFormat& format, int plane);

// Writes the frame, turned clockwise by 0, 90, 180 or 270 degrees, into `target`, whose planes have
// the sizes of the turned picture.
void unpack(const AVFrame& frame, const PixelLayout& layout, int rotation,
            const VqxFfmpegPlanes& target);

}  // namespace vqx::input::ffmpeg
