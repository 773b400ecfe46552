#include "metric/cambi/cambi_heatmap.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace vqx::cambi {
namespace {

Status failure(const std::string& what, const std::string& path) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("cambi: heatmaps_path: cannot {} {}: {}",
                                                         what, path, std::strerror(errno)));
}

Status make_folders(const std::string& folder) {
  std::filesystem::path built;
  for (const auto& part : std::filesystem::path(folder)) {
    built /= part;
    if (::mkdir(built.c_str(), 0770) != 0 && errno != EEXIST && errno != EISDIR)
      return failure("create folder", built.string());
  }
  return {};
}

using Transfer = ssize_t (*)(int, void*, std::size_t, off_t);

bool transfer_all(Transfer transfer, int file, void* data, std::size_t bytes, std::size_t at) {
  auto* position = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t done = transfer(file, position, bytes, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    position += done;
    at += static_cast<std::size_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

ssize_t write_at(int file, void* data, std::size_t bytes, off_t at) {
  return ::pwrite(file, data, bytes, at);
}

ssize_t read_at(int file, void* data, std::size_t bytes, off_t at) {
  return ::pread(file, data, bytes, at);
}

}  // namespace

Result<std::unique_ptr<HeatmapFiles>> HeatmapFiles::open(const std::string& folder,
                                                         const Analysis& analysis) {
  VQX_RETURN_IF_ERROR(make_folders(folder));
  std::unique_ptr<HeatmapFiles> files(new HeatmapFiles);
  // The weights never fall, so the last one is the largest.
  const int largest = step_weight(analysis.steps()) * analysis.window * analysis.window / 4;
  files->factor_ = largest == 0 ? 0 : 65535.0 / largest;
  Size named = analysis.size;  // with the speed-up the data are a halving smaller, as upstream's
  for (int scale = 0; scale < kScales; ++scale, named = named.halved()) {
    File& file = files->files_[static_cast<std::size_t>(scale)];
    file.size = analysis.scale_size(scale);
    file.path = fmt::format("{}/cambi_heatmap_scale_{}_{}x{}_16b.gray", folder, scale, named.width,
                            named.height);
    file.descriptor = ::open(file.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file.descriptor < 0) return failure("create", file.path);
  }
  return files;
}

HeatmapFiles::~HeatmapFiles() {
  for (const File& file : files_) {
    if (file.descriptor < 0) continue;
    close_gaps(file);
    ::close(file.descriptor);
  }
}

void HeatmapFiles::close_gaps(const File& file) {
  if (frames_.empty() || *frames_.rbegin() + 1 == static_cast<int>(frames_.size())) return;
  const std::size_t bytes = file.frame_bytes();
  std::vector<char> frame(bytes);
  std::size_t place = 0;
  for (const int index : frames_) {
    const std::size_t from = static_cast<std::size_t>(index) * bytes;
    if (from != place * bytes &&
        (!transfer_all(read_at, file.descriptor, frame.data(), bytes, from) ||
         !transfer_all(write_at, file.descriptor, frame.data(), bytes, place * bytes)))
      return;  // leaves the gaps: no frame is lost
    ++place;
  }
  if (::ftruncate(file.descriptor, static_cast<off_t>(place * bytes)) != 0) return;
}

Status HeatmapFiles::write(int frame, int scale, const float* values, std::ptrdiff_t stride) {
  const File& file = files_[static_cast<std::size_t>(scale)];
  std::vector<std::uint16_t> samples(static_cast<std::size_t>(file.size.pixels()));
  std::uint16_t* out = samples.data();
  for (int y = 0; y < file.size.height; ++y)
    for (int x = 0; x < file.size.width; ++x)
      *out++ = static_cast<std::uint16_t>(
          static_cast<std::uint32_t>(factor_ * static_cast<double>(values[y * stride + x])));
  if (!transfer_all(write_at, file.descriptor, samples.data(), file.frame_bytes(),
                    static_cast<std::size_t>(frame) * file.frame_bytes()))
    return Status(ErrorCode::kOutput,
                  fmt::format("cambi: cannot write {}: {}", file.path, std::strerror(errno)));
  const std::lock_guard lock(mutex_);
  frames_.insert(frame);
  return {};
}

}  // namespace vqx::cambi
