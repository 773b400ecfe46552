#include "input/sample_pair.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace vqx::input {
namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 360;
constexpr int kFrames = 24;
constexpr int kBlock = 8;

using Samples = std::vector<std::uint8_t>;

std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

int texture(int x, int y) {
  return static_cast<int>(
      hash(static_cast<std::uint32_t>(x) * 7919U + static_cast<std::uint32_t>(y)) % 48);
}

// A sky that brightens slowly (bands after quantisation), a textured ground that pans, and a box
// that moves the other way.
int luma(int x, int y, int frame) {
  const int box_x = 480 - 6 * frame;
  const bool in_box = x >= box_x && x < box_x + 120 && y >= 130 && y < 250;
  if (in_box) return 70 + ((x - box_x) / 10 + (y - 130) / 10) % 2 * 90 + texture(x - box_x, y) / 4;
  if (y < 180) return 60 + y / 4 + x / 32;
  return 90 + texture((x + 3 * frame) / 2, y / 2) + (y - 180) / 6;
}

int chroma(int x, int y, int frame, int plane) {
  const int tilt = plane == 1 ? x / 16 : y / 6;
  return 128 + (plane == 1 ? 10 : -10) + (tilt + frame) % 24 - 12;
}

Samples make_plane(int plane, int frame) {
  const int width = plane == 0 ? kWidth : kWidth / 2;
  const int height = plane == 0 ? kHeight : kHeight / 2;
  Samples samples;
  samples.reserve(static_cast<std::size_t>(width) * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int value = plane == 0 ? luma(x, y, frame) : chroma(x, y, frame, plane);
      samples.push_back(static_cast<std::uint8_t>(std::clamp(value, 16, 235)));
    }
  return samples;
}

// Pulls every sample halfway to the mean of its block and quantises it.
void distort(Samples& samples, int width, int height) {
  for (int y0 = 0; y0 < height; y0 += kBlock)
    for (int x0 = 0; x0 < width; x0 += kBlock) {
      const int y1 = std::min(y0 + kBlock, height);
      const int x1 = std::min(x0 + kBlock, width);
      int sum = 0;
      for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x) sum += samples[static_cast<std::size_t>(y) * width + x];
      const int mean = sum / ((y1 - y0) * (x1 - x0));
      for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x) {
          std::uint8_t& sample = samples[static_cast<std::size_t>(y) * width + x];
          sample = static_cast<std::uint8_t>((sample + mean) / 2 / 3 * 3);
        }
    }
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Status write_video(const std::string& path, bool distorted) {
  const Status failed(ErrorCode::kOutput, "cannot write " + path);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (!file) return failed;
  std::fprintf(file.get(), "YUV4MPEG2 W%d H%d F24:1 Ip A1:1 C420\n", kWidth, kHeight);
  for (int frame = 0; frame < kFrames; ++frame) {
    std::fputs("FRAME\n", file.get());
    for (int plane = 0; plane < 3; ++plane) {
      Samples samples = make_plane(plane, frame);
      const int width = plane == 0 ? kWidth : kWidth / 2;
      if (distorted) distort(samples, width, static_cast<int>(samples.size()) / width);
      if (std::fwrite(samples.data(), 1, samples.size(), file.get()) != samples.size())
        return failed;
    }
  }
  return std::fflush(file.get()) == 0 ? Status() : failed;
}

}  // namespace

Status write_sample_pair(const std::string& reference_path, const std::string& distorted_path) {
  VQX_RETURN_IF_ERROR(write_video(reference_path, false));
  return write_video(distorted_path, true);
}

}  // namespace vqx::input
