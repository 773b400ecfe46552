#include "metric/float_rows/float_rows.hpp"

#include <limits>

#include <fmt/format.h>

namespace vqx::float_rows {

float Samples::at(int x, int y) const {
  switch (kind) {
    case Kind::kUint8:
      return static_cast<float>(reinterpret_cast<const std::uint8_t*>(row(y))[x]) * scale + offset;
    case Kind::kUint16:
      return static_cast<float>(reinterpret_cast<const std::uint16_t*>(row(y))[x]) * scale + offset;
    case Kind::kFloat:
      return reinterpret_cast<const float*>(row(y))[x];
  }
  return 0;
}

Samples samples_of(const Plane& plane, int bit_depth, float offset) {
  return {static_cast<const std::byte*>(plane.data),
          plane.stride,
          plane.width,
          plane.height,
          bit_depth == 8 ? Samples::Kind::kUint8 : Samples::Kind::kUint16,
          1.0f / static_cast<float>(1 << (bit_depth - 8)),
          offset};
}

Samples samples_of(const float* data, std::ptrdiff_t stride, int width, int height) {
  return {reinterpret_cast<const std::byte*>(data),
          stride * static_cast<std::ptrdiff_t>(sizeof(float)),
          width,
          height,
          Samples::Kind::kFloat,
          1,
          0};
}

Image::Image(const Samples& in) : Image(in.width, in.height) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) at(x, y) = in.at(x, y);
}

Image filter_reference(const Image& in, const std::vector<float>& taps) {
  const int count = static_cast<int>(taps.size());
  const int radius = count / 2;
  Image columns(in.width, in.height);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      float sum = 0;
      for (int k = 0; k < count; ++k)
        sum += taps[static_cast<std::size_t>(k)] *
               in.at(x, fold(y + k - radius, in.height, Edge::kReflect));
      columns.at(x, y) = sum;
    }
  Image out(in.width, in.height);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      float sum = 0;
      for (int k = 0; k < count; ++k)
        sum += taps[static_cast<std::size_t>(k)] *
               columns.at(fold(x + k - radius, in.width, Edge::kReflect), y);
      out.at(x, y) = sum;
    }
  return out;
}

float running_sum(const float* values, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}

float plane_sum_reference(const Image& terms) {
  float sum = 0;
  for (int y = 0; y < terms.height; ++y)
    sum +=
        running_sum(terms.samples.data() + static_cast<std::size_t>(y) * terms.width, terms.width);
  return sum;
}

void add_to_row_sums(const float* terms, std::ptrdiff_t stride, int rows, int count, float* sums) {
  int r = 0;
  // One row is a chain of dependent additions; eight of them hide its latency.
  for (; r + 8 <= rows; r += 8) {
    const float* t = terms + r * stride;
    float s0 = sums[r], s1 = sums[r + 1], s2 = sums[r + 2], s3 = sums[r + 3], s4 = sums[r + 4],
          s5 = sums[r + 5], s6 = sums[r + 6], s7 = sums[r + 7];
    for (int x = 0; x < count; ++x) {
      s0 += t[x];
      s1 += t[x + stride];
      s2 += t[x + 2 * stride];
      s3 += t[x + 3 * stride];
      s4 += t[x + 4 * stride];
      s5 += t[x + 5 * stride];
      s6 += t[x + 6 * stride];
      s7 += t[x + 7 * stride];
    }
    sums[r] = s0;
    sums[r + 1] = s1;
    sums[r + 2] = s2;
    sums[r + 3] = s3;
    sums[r + 4] = s4;
    sums[r + 5] = s5;
    sums[r + 6] = s6;
    sums[r + 7] = s7;
  }
  for (; r < rows; ++r) {
    float sum = sums[r];
    for (int x = 0; x < count; ++x) sum += terms[r * stride + x];
    sums[r] = sum;
  }
}

Status check_bit_depth(std::string_view metric, const VideoFormat& format) {
  for (const int accepted : {8, 10, 12, 16})
    if (format.bit_depth == accepted) return {};
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} bits per sample are not supported; 8, 10, 12 and 16 are",
                            metric, format.bit_depth));
}

Status check_size(std::string_view metric, int width, int height, int smallest) {
  if (width < smallest || height < smallest)
    return Status(ErrorCode::kUnsupportedSize,
                  fmt::format("{}: a plane of {}x{} is too small; at least {}x{} is needed", metric,
                              width, height, smallest, smallest));
  if (std::int64_t{width} * height > std::numeric_limits<std::int32_t>::max())
    return Status(ErrorCode::kUnsupportedSize,
                  fmt::format("{}: a plane of {}x{} is too large; below 2^31 samples are accepted",
                              metric, width, height));
  return {};
}

}  // namespace vqx::float_rows
