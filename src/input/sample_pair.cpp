#include "input/sample_pair.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace vqx::input {
namespace {

// A plane of 8-bit samples.
struct Image {
  int width;
  int height;
  std::vector<std::uint8_t> samples;

  Image(int w, int h)
      : width(w), height(h), samples(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  std::uint8_t& at(int x, int y) {
    return samples[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(x)];
  }
};

std::uint8_t to_sample(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 16, 235));
}

// A fixed random number in 0..255 for a lattice point.
int lattice(int x, int y) {
  auto h =
      static_cast<std::uint32_t>(x) * 0x9E3779B1U ^ static_cast<std::uint32_t>(y) * 0x85EBCA77U;
  h = (h ^ h >> 15) * 0x2C1B3C6DU;
  h = (h ^ h >> 12) * 0x297A2D39U;
  return static_cast<int>((h ^ h >> 15) & 255U);
}

// Smooth noise in 0..255: lattice points 2^log2_cell apart, bilinear in between.  Coordinates are
// not negative.
int noise(int x, int y, int log2_cell) {
  const int cell = 1 << log2_cell;
  const int ix = x >> log2_cell, iy = y >> log2_cell;
  const int fx = x & (cell - 1), fy = y & (cell - 1);
  const int top = lattice(ix, iy) * (cell - fx) + lattice(ix + 1, iy) * fx;
  const int bottom = lattice(ix, iy + 1) * (cell - fx) + lattice(ix + 1, iy + 1) * fx;
  return (top * (cell - fy) + bottom * fy) >> (2 * log2_cell);
}

// Runs between 0 and `range` and back.
int bounce(int position, int range) {
  const int phase = position % (2 * range);
  return phase < range ? phase : 2 * range - phase;
}

struct Ball {
  int x;
  int y;
  int radius;
  bool covers(int px, int py) const {
    return (px - x) * (px - x) + (py - y) * (py - y) < radius * radius;
  }
};

class Scene {
 public:
  Scene(const SamplePair& size, int frame) : size_(size), frame_(frame) {
    const int radius = std::max(std::min(size.width, size.height) / 8, 2);
    ball_ = {radius + bounce(frame * size.width / 96, size.width - 2 * radius),
             radius + bounce(frame * size.height / 40, size.height - 2 * radius), radius};
  }

  int luma(int x, int y) const {
    const int shade = 40 + 110 * y / size_.height;
    const int clouds = noise(x + 3 * frame_, y + frame_, 6) / 3;
    const int grain = noise(x + 3 * frame_, y + frame_, 2) / 8;
    if (ball_.covers(x, y))
      return 225 - 90 * (std::abs(x - ball_.x) + std::abs(y - ball_.y)) / (2 * ball_.radius);
    if (y > size_.height * 3 / 4) {
      // Bars that become finer from left to right.
      const int period = std::max(2 + 14 * (size_.width - x) / size_.width, 2);
      return (x + 2 * frame_) / period % 2 == 0 ? shade - 30 : shade + 40;
    }
    return shade + clouds + grain - 40;
  }

  std::pair<int, int> chroma(int x, int y) const {
    if (ball_.covers(x, y)) return {90, 190};
    return {140 - 30 * y / size_.height, 110 + noise(x + 3 * frame_, y + frame_, 6) / 10};
  }

 private:
  SamplePair size_;
  int frame_;
  Ball ball_{};
};

std::vector<Image> paint(const SamplePair& size, int frame) {
  const Scene scene(size, frame);
  const int chroma_width = (size.width + 1) / 2, chroma_height = (size.height + 1) / 2;
  std::vector<Image> planes{
      {size.width, size.height}, {chroma_width, chroma_height}, {chroma_width, chroma_height}};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) planes[0].at(x, y) = to_sample(scene.luma(x, y));
  for (int y = 0; y < chroma_height; ++y)
    for (int x = 0; x < chroma_width; ++x) {
      const auto [cb, cr] = scene.chroma(2 * x, 2 * y);
      planes[1].at(x, y) = to_sample(cb);
      planes[2].at(x, y) = to_sample(cr);
    }
  return planes;
}

constexpr int kBlock = 8;

// Walsh-Hadamard transform of 8 values that are `step` apart; twice gives 8 times the input.
void transform(int* values, int step) {
  for (int half = 1; half < kBlock; half *= 2)
    for (int i = 0; i < kBlock; ++i)
      if ((i & half) == 0) {
        const int a = values[i * step], b = values[(i + half) * step];
        values[i * step] = a + b;
        values[(i + half) * step] = a - b;
      }
}

void transform_block(int (&block)[kBlock * kBlock]) {
  for (int i = 0; i < kBlock; ++i) transform(block + i * kBlock, 1);
  for (int i = 0; i < kBlock; ++i) transform(block + i, kBlock);
}

int quantized(int value, int step) {
  const int levels = (std::abs(value) + step / 3) / step;
  return value < 0 ? -levels * step : levels * step;
}

// What a codec does: blocks are transformed, quantized (fine detail coarser) and put back.
void code_block(Image& plane, int left, int top, int loss) {
  int block[kBlock * kBlock];
  for (int i = 0; i < kBlock * kBlock; ++i)
    block[i] = plane.at(std::min(left + i % kBlock, plane.width - 1),
                        std::min(top + i / kBlock, plane.height - 1));
  transform_block(block);
  for (int i = 0; i < kBlock * kBlock; ++i) {
    const int detail = i % kBlock + i / kBlock;
    block[i] = quantized(block[i], kBlock * loss * (4 + detail) / 8);
  }
  transform_block(block);
  for (int i = 0; i < kBlock * kBlock; ++i) {
    const int x = left + i % kBlock, y = top + i / kBlock;
    if (x < plane.width && y < plane.height)
      plane.at(x, y) = to_sample((block[i] + kBlock * kBlock / 2) >> 6);
  }
}

void distort(std::vector<Image>& planes, int loss) {
  if (loss == 0) return;
  for (Image& plane : planes)
    for (int y = 0; y < plane.height; y += kBlock)
      for (int x = 0; x < plane.width; x += kBlock) code_block(plane, x, y, loss);
}

class Y4mWriter {
 public:
  Y4mWriter(const std::string& path, const SamplePair& pair)
      : path_(path), file_(path, std::ios::binary | std::ios::trunc) {
    file_ << fmt::format("YUV4MPEG2 W{} H{} F24:1 Ip A1:1 C420jpeg\n", pair.width, pair.height);
  }

  void write(const std::vector<Image>& planes) {
    file_ << "FRAME\n";
    for (const Image& plane : planes)
      file_.write(reinterpret_cast<const char*>(plane.samples.data()),
                  static_cast<std::streamsize>(plane.samples.size()));
  }

  Status finish() {
    file_.close();
    if (file_) return {};
    return Status(ErrorCode::kOutput, fmt::format("{}: cannot be written: {}", path_,
                                                  std::generic_category().message(errno)));
  }

  bool ok() const { return file_.good(); }

 private:
  std::string path_;
  std::ofstream file_;
};

Status check(const SamplePair& pair) {
  if (pair.width < 16 || pair.width > 4096 || pair.height < 16 || pair.height > 4096)
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("sample size {} x {} is not within 16 x 16 and 4096 x 4096",
                              pair.width, pair.height));
  if (pair.frames < 1 || pair.frames > 100000)
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("{} frames are not within 1 and 100000", pair.frames));
  if (pair.loss < 0 || pair.loss > 255)
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("loss {} is not within 0 and 255", pair.loss));
  return {};
}

}  // namespace

Status write_sample_pair(const std::string& reference, const std::string& distorted,
                         const SamplePair& pair) {
  VQX_RETURN_IF_ERROR(check(pair));
  Y4mWriter ref(reference, pair);
  Y4mWriter dis(distorted, pair);
  for (int frame = 0; frame < pair.frames && ref.ok() && dis.ok(); ++frame) {
    std::vector<Image> planes = paint(pair, frame);
    ref.write(planes);
    distort(planes, pair.loss);
    dis.write(planes);
  }
  VQX_RETURN_IF_ERROR(ref.finish());
  return dis.finish();
}

}  // namespace vqx::input
