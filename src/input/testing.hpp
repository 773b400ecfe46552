// Helpers of the input tests: temporary files and their contents.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "input/video_source.hpp"

namespace vqx::input::testing {

// A folder that goes away with its contents.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vqx_input_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

// `count` bytes that begin at `first` and go on by 7, so that a misplaced sample shows.
inline std::string ramp(std::size_t count, unsigned first = 0) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(first + 7 * i);
  return bytes;
}

// `values` as 16-bit little endian.
inline std::string words(const std::vector<int>& values) {
  std::string bytes;
  for (const int value : values) {
    bytes += static_cast<char>(value & 255);
    bytes += static_cast<char>(value >> 8);
  }
  return bytes;
}

// All samples of a plane, row by row.
inline std::vector<int> samples(const Picture& picture, int plane) {
  std::vector<int> result;
  const Plane& view = picture.plane(plane);
  for (int y = 0; y < view.height; ++y)
    for (int x = 0; x < view.width; ++x)
      result.push_back(picture.format().bytes_per_sample() == 1 ? view.row<std::uint8_t>(y)[x]
                                                                : view.row<std::uint16_t>(y)[x]);
  return result;
}

// The bytes of a string as samples.
inline std::vector<int> bytes(const std::string& text) {
  std::vector<int> result;
  for (const char c : text) result.push_back(static_cast<unsigned char>(c));
  return result;
}

struct Drained {
  std::vector<Picture> pictures;
  Status status;  // of the read that ended it
};

inline Drained drain(VideoSource& source) {
  Drained result;
  for (;;) {
    auto picture = source.read();
    if (!picture.ok()) {
      result.status = picture.status();
      return result;
    }
    if (!*picture) return result;
    result.pictures.push_back(std::move(**picture));
  }
}

inline std::unique_ptr<VideoSource> open_or_fail(const std::string& path,
                                                 const OpenOptions& options = {}) {
  auto source = open_source(path, options);
  EXPECT_TRUE(source.ok()) << source.status().message();
  return source.ok() ? std::move(*source) : nullptr;
}

inline OpenOptions drop_in() {
  OpenOptions options;
  options.dialect = Dialect::kLibvmaf;
  options.mono_as_420 = true;
  return options;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace vqx::input::testing
