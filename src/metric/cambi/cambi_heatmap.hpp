// The files of the heatmaps_path option: per scale, the c-values of the distorted pictures as
// 16-bit raster, frames one after the other.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "metric/cambi/cambi.hpp"

namespace vqx::cambi {

// Frames may be written from several threads in any order: each goes to its own place.  Frames that
// were never written (a subsampled run, a segment) leave gaps, closed when the files are.
class HeatmapFiles {
 public:
  static Result<std::unique_ptr<HeatmapFiles>> open(const std::string& folder,
                                                    const Analysis& analysis);
  ~HeatmapFiles();
  HeatmapFiles(const HeatmapFiles&) = delete;
  HeatmapFiles& operator=(const HeatmapFiles&) = delete;

  Status write(int frame, int scale, const float* values, std::ptrdiff_t stride);

 private:
  struct File {
    int descriptor = -1;
    std::string path;
    Size size;
    std::size_t frame_bytes() const { return static_cast<std::size_t>(size.pixels()) * 2; }
  };

  HeatmapFiles() = default;
  void close_gaps(const File& file);

  double factor_ = 0;  // of a c-value; the largest possible one becomes about 65535
  std::array<File, kScales> files_;
  std::mutex mutex_;
  std::set<int> frames_;  // written so far
};

}  // namespace vqx::cambi
