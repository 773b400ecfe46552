#include "metric/frame.hpp"

namespace vqx {
namespace {

template <class Sample>
void convert(const Plane& plane, float scale, float offset, FloatPlane& out) {
  for (int y = 0; y < plane.height; ++y) {
    const Sample* in = plane.row<Sample>(y);
    float* row = out.samples.data() + y * out.stride;
    for (int x = 0; x < plane.width; ++x) row[x] = static_cast<float>(in[x]) * scale + offset;
  }
}

}  // namespace

std::shared_ptr<const FloatPlane> float_plane(const Frame& frame, Side side, int plane,
                                              float offset) {
  const std::string key = "float:" + std::to_string(static_cast<int>(side)) + ":" +
                          std::to_string(plane) + ":" + std::to_string(offset);
  return frame.derived<FloatPlane>(key, [&] {
    const Picture& picture = frame.picture(side);
    const Plane& in = picture.plane(plane);
    auto out = std::make_shared<FloatPlane>();
    out->width = in.width;
    out->height = in.height;
    out->stride = (in.width + 31) / 32 * 32;
    out->samples.resize(static_cast<std::size_t>(out->stride) * in.height);
    const int bits = picture.format().bit_depth;
    // A power of two: the product is exact, and so is the sum (24 bits suffice at 16-bit depth).
    const float scale = 1.0f / static_cast<float>(1 << (bits - 8));
    if (bits == 8)
      convert<std::uint8_t>(in, scale, offset, *out);
    else
      convert<std::uint16_t>(in, scale, offset, *out);
    return std::shared_ptr<const FloatPlane>(std::move(out));
  });
}

}  // namespace vqx
