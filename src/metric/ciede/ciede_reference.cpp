// Rows of code values at luma size, and their colour differences straight from the law.
#include "metric/ciede/ciede.hpp"
#include "metric/ciede/ciede_math.hpp"

#include <algorithm>

namespace vqx::ciede {
namespace {

// The sample that libvmaf finds `column` samples after the start of a row in its copy of the plane,
// whose rows are padded with zeros to a multiple of 32 samples.
template <class Sample>
Sample stored_sample(const Plane& plane, int row, int column) {
  const int stride = (plane.width + 31) / 32 * 32;
  row += column / stride;
  column %= stride;
  if (row >= plane.height) return plane.row<Sample>(plane.height - 1)[plane.width - 1];
  return column < plane.width ? plane.row<Sample>(row)[column] : Sample{0};
}

template <class Sample>
void fill_row(const Picture& picture, int plane_index, int y, std::uint16_t* out) {
  const VideoFormat& format = picture.format();
  const Plane& plane = picture.plane(plane_index);
  if (plane_index == 0 || format.chroma == ChromaFormat::k444) {
    std::copy_n(plane.row<Sample>(y), format.width, out);
    return;
  }
  const int row = std::min(y / 2, plane.height - 1);
  const Sample* in = plane.row<Sample>(row);
  int x = 0;
  if (format.chroma == ChromaFormat::k420) {
    for (int i = 0; i < plane.width; ++i, x += 2) out[x] = out[x + 1] = in[i];
    if (x < format.width) out[x] = stored_sample<Sample>(plane, row, plane.width);
  } else {
    for (; x < plane.width; ++x) out[x] = in[x];
    for (; x < format.width; ++x) out[x] = stored_sample<Sample>(plane, row, x);
  }
}

}  // namespace

void luma_size_row(const Picture& picture, int plane, int y, std::uint16_t* out) {
  if (picture.format().bit_depth == 8)
    fill_row<std::uint8_t>(picture, plane, y, out);
  else
    fill_row<std::uint16_t>(picture, plane, y, out);
}

void row_differences_reference(const RowPair& rows, int bit_depth, std::size_t width,
                               float* differences) {
  const CodeScale scale(bit_depth);
  for (std::size_t x = 0; x < width; ++x) {
    Colour colour[2];
    for (int i = 0; i < 2; ++i) {
      const std::uint16_t* const* planes = rows.side[i];
      colour[i] = to_colour(scale, planes[0][x], planes[1][x], planes[2][x]);
    }
    differences[x] = colour_difference(colour[0], colour[1]);
  }
}

}  // namespace vqx::ciede
