#include "input/chroma_resite.hpp"

#include <algorithm>

namespace vqx::input {
namespace {

std::uint8_t round_and_clamp(int sum) {
  return static_cast<std::uint8_t>(std::clamp((sum + 64) >> 7, 0, 255));
}

// Sample `index + offset` of a line of `size` samples that are `step` apart.
struct Line {
  const std::uint8_t* samples;
  std::ptrdiff_t size;
  std::ptrdiff_t step;
  int at(std::ptrdiff_t index) const {
    return samples[std::clamp<std::ptrdiff_t>(index, 0, size - 1) * step];
  }
};

// Taps over a[x-2] .. a[x+3]; the same six, mirrored in time and place, serve every direction.
std::uint8_t filter_forward(const Line& a, std::ptrdiff_t x) {
  return round_and_clamp(4 * a.at(x - 2) - 17 * a.at(x - 1) + 114 * a.at(x) + 35 * a.at(x + 1) -
                         9 * a.at(x + 2) + a.at(x + 3));
}

std::uint8_t filter_backward(const Line& a, std::ptrdiff_t x) {
  return round_and_clamp(a.at(x - 3) - 9 * a.at(x - 2) + 35 * a.at(x - 1) + 114 * a.at(x) -
                         17 * a.at(x + 1) + 4 * a.at(x + 2));
}

void filter_row(const std::uint8_t* source, std::size_t width, std::uint8_t* target,
                std::size_t target_width) {
  const Line line{source, static_cast<std::ptrdiff_t>(width), 1};
  for (std::size_t x = 0; x < target_width; ++x)
    target[x] = filter_forward(line, static_cast<std::ptrdiff_t>(x));
}

void double_row(const std::uint8_t* source, std::size_t width, std::uint8_t* target,
                std::size_t target_width) {
  const Line a{source, static_cast<std::ptrdiff_t>(width), 1};
  for (std::size_t i = 0; i < target_width; ++i) {
    const auto x = static_cast<std::ptrdiff_t>(i / 2);
    const int sum = i % 2 == 0
                        ? a.at(x - 1) + 110 * a.at(x) + 18 * a.at(x + 1) - a.at(x + 2)
                        : -3 * a.at(x - 1) + 50 * a.at(x) + 86 * a.at(x + 1) - 5 * a.at(x + 2);
    target[i] = round_and_clamp(sum);
  }
}

void resite_paldv(const ResitePlane& plane, std::vector<std::uint8_t>& scratch) {
  // All rows first: the columns need those that lie below the measured ones too.
  scratch.resize(plane.target_width * plane.height);
  for (std::size_t y = 0; y < plane.height; ++y)
    filter_row(plane.source + y * plane.width, plane.width, scratch.data() + y * plane.target_width,
               plane.target_width);
  const auto step = static_cast<std::ptrdiff_t>(plane.target_width);
  for (std::size_t y = 0; y < plane.target_height; ++y) {
    std::uint8_t* target = plane.target + y * plane.target_stride;
    const auto row = static_cast<std::ptrdiff_t>(y);
    for (std::size_t x = 0; x < plane.target_width; ++x) {
      const Line column{scratch.data() + x, static_cast<std::ptrdiff_t>(plane.height), step};
      target[x] = plane.second_chroma ? filter_forward(column, row) : filter_backward(column, row);
    }
  }
}

}  // namespace

void resite_plane(Resite kind, const ResitePlane& plane, std::vector<std::uint8_t>& scratch) {
  if (kind == Resite::k420Paldv) return resite_paldv(plane, scratch);
  for (std::size_t y = 0; y < plane.target_height; ++y) {
    const std::uint8_t* source = plane.source + y * plane.width;
    std::uint8_t* target = plane.target + y * plane.target_stride;
    if (kind == Resite::k411) {
      double_row(source, plane.width, target, plane.target_width);
    } else {
      filter_row(source, plane.width, target, plane.target_width);
    }
  }
}

}  // namespace vqx::input
