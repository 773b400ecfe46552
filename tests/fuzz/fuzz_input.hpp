// What the input fuzz targets share: bytes as a file, and reading all of its frames.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "input/byte_reader.hpp"
#include "input/file_sources.hpp"
#include "input/sample_range.hpp"

namespace vqx::fuzz {

// A file that exists in memory only.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : fd_(memfd_create("fuzz", 0)) {
    for (std::size_t done = 0; done < size;) {
      const ssize_t count = write(fd_, data + done, size - done);
      if (count <= 0) std::abort();
      done += static_cast<std::size_t>(count);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(fd_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// Touches every sample and checks what sources promise; the number of frames.
inline int read_all(input::VideoSource& source) {
  int frames = 0;
  std::uint64_t sum = 0;
  for (;; ++frames) {
    auto picture = source.read();
    if (!picture.ok()) {
      if (picture.status().message().empty()) std::abort();
      if (source.read().ok()) std::abort();
      break;
    }
    if (!*picture) break;
    if ((*picture)->format() != source.format()) std::abort();
    if (input::find_sample_above_depth(**picture)) std::abort();
    for (int p = 0; p < source.format().plane_count(); ++p) {
      const Plane& plane = (*picture)->plane(p);
      const int bytes = plane.width * source.format().bytes_per_sample();
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < bytes; ++x) sum += plane.row<std::uint8_t>(y)[x];
    }
  }
  // Depends on every sample, so that none of the reads is left out.
  asm volatile("" : : "r"(sum));
  return frames;
}

}  // namespace vqx::fuzz
