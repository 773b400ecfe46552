#include "vqx/picture.hpp"

#include <cstdlib>
#include <utility>

namespace vqx {

const char* chroma_name(ChromaFormat chroma) {
  switch (chroma) {
    case ChromaFormat::k400:
      return "4:0:0";
    case ChromaFormat::k420:
      return "4:2:0";
    case ChromaFormat::k422:
      return "4:2:2";
    case ChromaFormat::k444:
      return "4:4:4";
  }
  return "unknown";
}

Result<Picture> Picture::allocate(const VideoFormat& format) {
  constexpr std::size_t kAlignment = 64;
  Picture picture;
  picture.format_ = format;
  std::size_t offsets[3] = {};
  std::size_t total = 0;
  for (int p = 0; p < format.plane_count(); ++p) {
    Plane& plane = picture.planes_[p];
    plane.width = format.plane_width(p);
    plane.height = format.plane_height(p);
    const std::size_t row_bytes = static_cast<std::size_t>(plane.width) * format.bytes_per_sample();
    const std::size_t stride = (row_bytes + kAlignment - 1) / kAlignment * kAlignment;
    plane.stride = static_cast<std::ptrdiff_t>(stride);
    offsets[p] = total;
    total += stride * static_cast<std::size_t>(plane.height);
  }
  // One spare block keeps plane pointers valid where a plane has no samples.
  void* block = std::aligned_alloc(kAlignment, total + kAlignment);
  if (block == nullptr) return Status(ErrorCode::kOutOfMemory, "not enough memory for a picture");
  picture.owner_ = std::shared_ptr<void>(block, std::free);
  for (int p = 0; p < format.plane_count(); ++p)
    picture.planes_[p].data = static_cast<std::byte*>(block) + offsets[p];
  return picture;
}

Picture Picture::borrow(const VideoFormat& format, const Plane* planes,
                        std::function<void()> release) {
  Picture picture;
  picture.format_ = format;
  for (int p = 0; p < format.plane_count(); ++p) picture.planes_[p] = planes[p];
  if (release)
    picture.owner_ = std::shared_ptr<void>(const_cast<void*>(planes[0].data),
                                           [release = std::move(release)](void*) { release(); });
  return picture;
}

}  // namespace vqx
