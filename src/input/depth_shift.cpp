#include <utility>

#include "input/picture_pool.hpp"
#include "input/video_source.hpp"

namespace vqx::input {
namespace {

template <class Sample>
void shift_row(const Sample* source, std::uint16_t* target, int width, int shift) {
  for (int x = 0; x < width; ++x) target[x] = static_cast<std::uint16_t>(source[x] << shift);
}

class DepthShift final : public VideoSource {
 public:
  DepthShift(std::unique_ptr<VideoSource> source, const VideoFormat& format)
      : source_(std::move(source)),
        pool_(format),
        info_(source_->info()),
        shift_(format.bit_depth - source_->format().bit_depth) {
    info_.notes.push_back("samples shifted left by " + std::to_string(shift_) + " bits");
  }

  const VideoFormat& format() const override { return pool_.format(); }
  const SourceInfo& info() const override { return info_; }
  Status skip(std::int64_t count) override { return source_->skip(count); }

  Result<std::optional<Picture>> read() override {
    VQX_ASSIGN_OR_RETURN(const std::optional<Picture> narrow, source_->read());
    if (!narrow) return std::optional<Picture>();
    VQX_ASSIGN_OR_RETURN(Picture wide, pool_.acquire());
    for (int p = 0; p < pool_.format().plane_count(); ++p) {
      const Plane& plane = narrow->plane(p);
      for (int y = 0; y < plane.height; ++y) {
        auto* target = wide.mutable_row<std::uint16_t>(p, y);
        if (narrow->format().bytes_per_sample() == 1) {
          shift_row(plane.row<std::uint8_t>(y), target, plane.width, shift_);
        } else {
          shift_row(plane.row<std::uint16_t>(y), target, plane.width, shift_);
        }
      }
    }
    return std::optional<Picture>(std::move(wide));
  }

 private:
  std::unique_ptr<VideoSource> source_;
  PicturePool pool_;
  SourceInfo info_;
  int shift_;
};

}  // namespace

std::unique_ptr<VideoSource> shift_to_depth(std::unique_ptr<VideoSource> source, int bit_depth) {
  VideoFormat format = source->format();
  if (bit_depth <= format.bit_depth) return source;
  format.bit_depth = bit_depth;
  return std::make_unique<DepthShift>(std::move(source), format);
}

}  // namespace vqx::input
