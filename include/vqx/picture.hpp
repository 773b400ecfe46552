// Pictures: planes of integer samples with their format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "vqx/status.hpp"

namespace vqx {

enum class ChromaFormat { k400, k420, k422, k444 };

// The format that all pictures of one run share.
struct VideoFormat {
  int width = 0;   // luma samples per row, at least 1
  int height = 0;  // luma rows, at least 1
  ChromaFormat chroma = ChromaFormat::k420;
  int bit_depth = 8;  // 8, 10, 12 or 16

  int plane_count() const { return chroma == ChromaFormat::k400 ? 1 : 3; }
  int bytes_per_sample() const { return bit_depth > 8 ? 2 : 1; }
  // Chroma sizes round down (as in libvmaf): the lone last column or row of an odd luma size has no
  // chroma of its own.  Index 0 is luma, 1 Cb, 2 Cr.
  int plane_width(int plane) const {
    const bool halved = chroma == ChromaFormat::k420 || chroma == ChromaFormat::k422;
    return plane == 0 ? width : chroma == ChromaFormat::k400 ? 0 : halved ? width / 2 : width;
  }
  int plane_height(int plane) const {
    const bool halved = chroma == ChromaFormat::k420;
    return plane == 0 ? height : chroma == ChromaFormat::k400 ? 0 : halved ? height / 2 : height;
  }
  friend bool operator==(const VideoFormat&, const VideoFormat&) = default;
};

const char* chroma_name(ChromaFormat chroma);  // "4:2:0" and so on

// A view of one plane.  Samples are uint8_t at 8 bits, else uint16_t in native byte order with the
// value in the low bits.  Rows may be padded; nothing outside the width is ever read.
struct Plane {
  const void* data = nullptr;
  std::ptrdiff_t stride = 0;  // bytes from one row to the next; a multiple of the sample size
  int width = 0;
  int height = 0;

  template <class Sample>
  const Sample* row(int y) const {
    return reinterpret_cast<const Sample*>(static_cast<const std::byte*>(data) + y * stride);
  }
};

// An immutable picture.  Copies share the samples; the last copy frees (or gives back) them.
class Picture {
 public:
  Picture() = default;

  // Allocates planes with rows aligned to 64 bytes.  `fill` through mutable_plane() before sharing.
  // kOutOfMemory when the samples do not fit.
  static Result<Picture> allocate(const VideoFormat& format);

  // Uses the caller's planes (format.plane_count() of them) in place; `release`, if given, runs
  // when the last copy is gone.
  static Picture borrow(const VideoFormat& format, const Plane* planes,
                        std::function<void()> release = {});

  const VideoFormat& format() const { return format_; }
  const Plane& plane(int index) const { return planes_[index]; }
  bool empty() const { return planes_[0].data == nullptr; }

  // Write access, for the owner of a freshly allocated picture only.
  template <class Sample>
  Sample* mutable_row(int plane, int y) {
    return const_cast<Sample*>(planes_[plane].row<Sample>(y));
  }

 private:
  VideoFormat format_;
  Plane planes_[3];
  std::shared_ptr<void> owner_;
};

}  // namespace vqx
