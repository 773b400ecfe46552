#include "input/frame_file.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/parallel.hpp"
#include "input/sample_range.hpp"

namespace vqx::input {
namespace {

// Files are little endian and planes are read in place.
static_assert(std::endian::native == std::endian::little, "big-endian hosts need a byte swap here");

// Small enough that the check for stray high bits finds the samples in the cache.
constexpr std::size_t kCheckedBlock = std::size_t{256} << 10;

// Below this one thread has copied a frame before others would have woken up.
constexpr std::uint64_t kWorthThreads = std::uint64_t{4} << 20;

// Where planes are read in place, memory has the file's layout: the surplus column and row of odd
// sizes are kept and never looked at.
PicturePool make_pool(const VideoFormat& format, const FileLayout& layout,
                      const std::shared_ptr<PictureMemory>& memory) {
  PlaneLayout planes[3];
  for (int plane = 0; plane < format.plane_count(); ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    const bool in_place = p == 0 || (p < layout.planes.size() && layout.resite == Resite::kNone);
    planes[p] = in_place ? PlaneLayout{layout.row_bytes(p), layout.planes[p].height}
                         : padded_layout(format, plane);
  }
  return PicturePool(format, planes, memory ? memory : ordinary_memory());
}

}  // namespace

std::uint64_t FileLayout::frame_bytes() const {
  std::uint64_t total = ignored;
  for (std::size_t p = 0; p < planes.size(); ++p) total += plane_bytes(p);
  return total;
}

FileLayout planar_layout(const VideoFormat& format) {
  FileLayout layout;
  layout.bytes_per_sample = format.bytes_per_sample();
  const auto width = static_cast<std::uint64_t>(format.width);
  const auto height = static_cast<std::uint64_t>(format.height);
  const bool half_width =
      format.chroma == ChromaFormat::k420 || format.chroma == ChromaFormat::k422;
  const bool half_height = format.chroma == ChromaFormat::k420;
  layout.planes.push_back({width, height});
  for (int p = 1; p < format.plane_count(); ++p)
    layout.planes.push_back(
        {half_width ? (width + 1) / 2 : width, half_height ? (height + 1) / 2 : height});
  return layout;
}

Status frame_error(ErrorCode code, const std::string& path, std::int64_t index, Dialect dialect,
                   const char* libvmaf_line, const std::string& reason) {
  std::string message = fmt::format("{}: frame {}: {}", path, index, reason);
  if (dialect == Dialect::kLibvmaf) message = fmt::format("{}\n{}", libvmaf_line, message);
  return Status(code, std::move(message));
}

FrameDataReader::FrameDataReader(const VideoFormat& format, FileLayout layout,
                                 const OpenOptions& options)
    : format_(format),
      layout_(std::move(layout)),
      dialect_(options.dialect),
      threads_(options.read_threads),
      pool_(make_pool(format_, layout_, options.memory)) {}

Status FrameDataReader::truncated(const ByteReader& file, std::int64_t index,
                                  std::uint64_t got) const {
  return frame_error(
      ErrorCode::kTruncated, file.path(), index, dialect_, "Error reading YUV frame data.",
      fmt::format("the file ends after {} of the frame's {} bytes", got, layout_.frame_bytes()));
}

Status FrameDataReader::read_plane(ByteReader& file, void* target, std::size_t plane,
                                   std::int64_t index) {
  const bool checked = format_.bit_depth > 8 && format_.bit_depth < 16;
  const std::size_t size = layout_.plane_bytes(plane);
  const std::size_t block = checked ? kCheckedBlock : size;
  auto* bytes = static_cast<std::byte*>(target);
  for (std::size_t done = 0; done < size;) {
    const std::size_t wanted = std::min(block, size - done);
    VQX_ASSIGN_OR_RETURN(const std::size_t got, file.read(bytes + done, wanted));
    if (got < wanted) {
      std::uint64_t before = done + got;
      for (std::size_t p = 0; p < plane; ++p) before += layout_.plane_bytes(p);
      return truncated(file, index, before);
    }
    if (checked)
      bits_ |= union_of_bits(reinterpret_cast<const std::uint16_t*>(bytes + done), wanted / 2);
    done += wanted;
  }
  return {};
}

Status FrameDataReader::read_converted(ByteReader& file, Picture& picture, std::size_t plane,
                                       std::int64_t index) {
  const int p = static_cast<int>(plane);
  file_plane_.resize(layout_.plane_bytes(plane));
  VQX_RETURN_IF_ERROR(read_plane(file, file_plane_.data(), plane, index));
  ResitePlane job;
  job.source = file_plane_.data();
  job.width = layout_.planes[plane].width;
  job.height = layout_.planes[plane].height;
  job.target = picture.mutable_row<std::uint8_t>(p, 0);
  job.target_width = static_cast<std::size_t>(format_.plane_width(p));
  job.target_height = static_cast<std::size_t>(format_.plane_height(p));
  job.target_stride = pool_.layout(p).stride;
  job.second_chroma = plane == 2;
  resite_plane(layout_.resite, job, scratch_);
  return {};
}

Status FrameDataReader::read_planes(ByteReader& file, Picture& picture, std::int64_t index) {
  for (std::size_t p = 0; p < layout_.planes.size(); ++p) {
    if (p == 0 || layout_.resite == Resite::kNone) {
      void* target = picture.mutable_row<std::uint8_t>(static_cast<int>(p), 0);
      VQX_RETURN_IF_ERROR(read_plane(file, target, p, index));
    } else {
      VQX_RETURN_IF_ERROR(read_converted(file, picture, p, index));
    }
  }
  return {};
}

Status FrameDataReader::read_in_parallel(ByteReader& file, Picture& picture, std::int64_t index) {
  struct Part {
    std::byte* target;
    std::uint64_t offset;  // in the frame's data
    std::size_t size;
  };
  constexpr std::size_t kPart = std::size_t{1} << 19;
  std::vector<Part> parts;
  std::uint64_t total = 0;
  for (std::size_t p = 0; p < layout_.planes.size(); ++p) {
    auto* plane =
        reinterpret_cast<std::byte*>(picture.mutable_row<std::uint8_t>(static_cast<int>(p), 0));
    const std::size_t size = layout_.plane_bytes(p);
    for (std::size_t done = 0; done < size; done += kPart)
      parts.push_back({plane + done, total + done, std::min(kPart, size - done)});
    total += size;
  }
  const bool checked = format_.bit_depth > 8 && format_.bit_depth < 16;
  std::atomic<std::uint32_t> bits{0};
  std::atomic<bool> complete{true};
  // oneTBB prints a warning when asked for more than the engine allows.
  const auto allowed =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  tbb::task_arena(std::min(threads_, static_cast<int>(allowed))).execute([&] {
    parallel_for(static_cast<int>(parts.size()), [&](int i) {
      const Part& part = parts[static_cast<std::size_t>(i)];
      const auto got = file.read_ahead(part.offset, part.target, part.size);
      if (!got.ok() || *got < part.size) complete = false;
      if (checked)
        bits |= union_of_bits(reinterpret_cast<const std::uint16_t*>(part.target), part.size / 2);
    });
  });
  // The slow way finds out where it broke off, and says so.
  if (!complete) return read_planes(file, picture, index);
  bits_ = static_cast<std::uint16_t>(bits.load());
  VQX_ASSIGN_OR_RETURN(const std::uint64_t skipped, file.skip(total));
  return skipped == total ? Status() : truncated(file, index, skipped);
}

Result<Picture> FrameDataReader::read(ByteReader& file, std::int64_t index) {
  // Known to be short: say so before allocating what a hostile header asks for.
  if (const auto left = file.remaining(); left && *left < layout_.frame_bytes())
    return truncated(file, index, *left);
  VQX_ASSIGN_OR_RETURN(Picture picture, pool_.acquire());
  bits_ = 0;
  const bool parallel = threads_ > 1 && file.is_regular() && layout_.resite == Resite::kNone &&
                        layout_.frame_bytes() >= kWorthThreads;
  VQX_RETURN_IF_ERROR(parallel ? read_in_parallel(file, picture, index)
                               : read_planes(file, picture, index));
  VQX_ASSIGN_OR_RETURN(const std::uint64_t ignored, file.skip(layout_.ignored));
  if (ignored < layout_.ignored)
    return truncated(file, index, layout_.frame_bytes() - layout_.ignored + ignored);
  if (layout_.planes.size() == 1) fill_flat_chroma(picture);
  if (bits_ >> format_.bit_depth != 0)
    VQX_RETURN_IF_ERROR(refuse_high_samples(file, picture, index));
  return picture;
}

Status FrameDataReader::refuse_high_samples(const ByteReader& file, const Picture& picture,
                                            std::int64_t index) const {
  // The surplus column and row of odd sizes may hold anything.
  const auto found = find_sample_above_depth(picture);
  if (!found) return {};
  return Status(ErrorCode::kSampleRange,
                fmt::format("{}: frame {}: {}; is the declared bit depth right?", file.path(),
                            index, describe(*found, format_.bit_depth)));
}

Status FrameDataReader::skip(ByteReader& file, std::int64_t index) const {
  const std::uint64_t size = layout_.frame_bytes();
  VQX_ASSIGN_OR_RETURN(const std::uint64_t skipped, file.skip(size));
  return skipped == size ? Status() : truncated(file, index, skipped);
}

void fill_flat_chroma(Picture& picture) {
  const VideoFormat& format = picture.format();
  const int middle = 1 << (format.bit_depth - 1);
  for (int p = 1; p < format.plane_count(); ++p) {
    const Plane& plane = picture.plane(p);
    for (int y = 0; y < plane.height; ++y) {
      if (format.bytes_per_sample() == 1) {
        std::fill_n(picture.mutable_row<std::uint8_t>(p, y), plane.width,
                    static_cast<std::uint8_t>(middle));
      } else {
        std::fill_n(picture.mutable_row<std::uint16_t>(p, y), plane.width,
                    static_cast<std::uint16_t>(middle));
      }
    }
  }
}

}  // namespace vqx::input
