// Recycled memory for pictures of one format: after the first few pictures no page is faulted in
// and nothing is allocated but a small handle.
#pragma once

#include <cstddef>
#include <memory>

#include "frame/picture_memory.hpp"
#include "vqx/picture.hpp"
#include "vqx/status.hpp"

namespace vqx::input {

// How planes lie in memory.  Rows of a plane follow each other at `stride` bytes; `rows` may exceed
// the plane's height and `stride` its width (files hold one chroma column and row more than is
// measured where a size is odd).
struct PlaneLayout {
  std::size_t stride = 0;
  std::size_t rows = 0;
  std::size_t bytes() const { return stride * rows; }
};

// A plane of `format` with rows padded to 64 bytes.
PlaneLayout padded_layout(const VideoFormat& format, int plane);

class PicturePool {
 public:
  // All planes padded.
  explicit PicturePool(const VideoFormat& format,
                       std::shared_ptr<PictureMemory> memory = ordinary_memory());
  PicturePool(const VideoFormat& format, const PlaneLayout (&layout)[3],
              std::shared_ptr<PictureMemory> memory = ordinary_memory());

  const VideoFormat& format() const { return format_; }
  const PlaneLayout& layout(int plane) const { return layout_[plane]; }

  // A picture with undefined samples, to be filled through mutable_row() before it is shared.  Its
  // planes start at multiples of 64 bytes.  The memory outlives the pool where pictures do.
  Result<Picture> acquire();

 private:
  class Blocks;
  VideoFormat format_;
  PlaneLayout layout_[3];
  std::size_t block_size_ = 0;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace vqx::input
