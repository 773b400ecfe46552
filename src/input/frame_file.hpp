// What y4m and raw files share: the bytes of one frame, planes in order, rows without padding,
// 16-bit little endian above 8 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "input/byte_reader.hpp"
#include "input/chroma_resite.hpp"
#include "input/picture_pool.hpp"
#include "input/video_source.hpp"

namespace vqx::input {

// Planes as the file stores them: chroma sizes round up, where pictures in memory round down.
struct FileLayout {
  struct PlaneSize {
    std::uint64_t width = 0;
    std::uint64_t height = 0;
  };
  int bytes_per_sample = 1;
  std::vector<PlaneSize> planes;  // Y or Y, Cb, Cr
  std::uint64_t ignored = 0;      // bytes after the planes: alpha
  Resite resite = Resite::kNone;  // how chroma planes become those of the picture

  std::uint64_t row_bytes(std::size_t plane) const {
    return planes[plane].width * static_cast<std::uint64_t>(bytes_per_sample);
  }
  std::uint64_t plane_bytes(std::size_t plane) const {
    return row_bytes(plane) * planes[plane].height;
  }
  std::uint64_t frame_bytes() const;
};

// The layout of a file whose planes are those of `format`.
FileLayout planar_layout(const VideoFormat& format);

// Reads frame data into recycled pictures.
class FrameDataReader {
 public:
  // Takes from `options` the dialect, the threads and the memory.
  FrameDataReader(const VideoFormat& format, FileLayout layout, const OpenOptions& options);

  const FileLayout& layout() const { return layout_; }
  // The data of frame `index`, which only appears in messages.
  Result<Picture> read(ByteReader& file, std::int64_t index);
  // Drops one frame's data; kTruncated where less is left.
  Status skip(ByteReader& file, std::int64_t index) const;

 private:
  Status read_planes(ByteReader& file, Picture& picture, std::int64_t index);
  Status read_in_parallel(ByteReader& file, Picture& picture, std::int64_t index);
  Status read_plane(ByteReader& file, void* target, std::size_t plane, std::int64_t index);
  Status read_converted(ByteReader& file, Picture& picture, std::size_t plane, std::int64_t index);
  Status refuse_high_samples(const ByteReader& file, const Picture& picture,
                             std::int64_t index) const;
  Status truncated(const ByteReader& file, std::int64_t index, std::uint64_t got) const;

  VideoFormat format_;
  FileLayout layout_;
  Dialect dialect_;
  int threads_;
  PicturePool pool_;
  std::uint16_t bits_ = 0;                          // set in any sample of the current frame
  std::vector<std::uint8_t> file_plane_, scratch_;  // for conversions
};

// Sets all chroma samples to the middle of the range.
void fill_flat_chroma(Picture& picture);

// "PATH: frame 3: REASON", after libvmaf's own line where its dialect is asked for.
Status frame_error(ErrorCode code, const std::string& path, std::int64_t index, Dialect dialect,
                   const char* libvmaf_line, const std::string& reason);

}  // namespace vqx::input
