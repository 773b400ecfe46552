#include <algorithm>
#include <optional>
#include <vector>

#include "metric/vif/vif.hpp"

namespace vqx::vif {
namespace {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::int64_t> v;

  Image() = default;
  Image(int w, int h) : width(w), height(h), v(static_cast<std::size_t>(w) * h) {}
  std::int64_t& at(int x, int y) { return v[static_cast<std::size_t>(y) * width + x]; }
  std::int64_t at(int x, int y) const { return v[static_cast<std::size_t>(y) * width + x]; }
};

Image load(const Plane& plane, int bits) {
  Image out(plane.width, plane.height);
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      out.at(x, y) = bits == 8 ? plane.row<std::uint8_t>(y)[x] : plane.row<std::uint16_t>(y)[x];
  return out;
}

Image product(const Image& a, const Image& b) {
  Image out(a.width, a.height);
  for (std::size_t i = 0; i < out.v.size(); ++i) out.v[i] = a.v[i] * b.v[i];
  return out;
}

// Unrounded sums along columns.  A single row has nothing to mirror: `lone`, the plane of the
// finer scale, gives its row 1 as the neighbour on both sides.
Image filter_columns(const Image& in, int scale, const Image* lone) {
  const int radius = kRadius[scale];
  Image out(in.width, in.height);
  for (int y = 0; y < in.height; ++y)
    for (int k = 0; k <= 2 * radius; ++k) {
      const bool beside = in.height == 1 && k != radius;
      // `lone` is given where there is one row.
      // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
      const Image& from = beside ? *lone : in;
      const int row = beside ? 1 : in.height == 1 ? 0 : mirror(y + k - radius, in.height);
      for (int x = 0; x < in.width; ++x) out.at(x, y) += tap(scale, k) * from.at(x, row);
    }
  return out;
}

// Unrounded sums along rows; a single column has the value `lone` on both sides.
Image filter_rows(const Image& in, int scale, std::optional<std::int64_t> lone) {
  const int radius = kRadius[scale];
  Image out(in.width, in.height);
  std::vector<std::int64_t> line(static_cast<std::size_t>(in.width) +
                                 2 * static_cast<std::size_t>(radius));
  for (int y = 0; y < in.height; ++y) {
    for (int i = 0; i < in.width + 2 * radius; ++i)
      line[static_cast<std::size_t>(i)] = in.width > 1  ? in.at(mirror(i - radius, in.width), y)
                                          : i == radius ? in.at(0, y)
                                                        : *lone;
    for (int k = 0; k <= 2 * radius; ++k)
      for (int x = 0; x < in.width; ++x)
        out.at(x, y) +=
            tap(scale, k) * line[static_cast<std::size_t>(x) + static_cast<std::size_t>(k)];
  }
  return out;
}

Image rounded(Image image, int shift) {
  for (std::int64_t& v : image.v) v = round_shift(v, shift);
  return image;
}

// Both passes with the rounding between them; the result of the second is not rounded.
Image blur(const Image& in, const Image& finer, int scale, int shift) {
  std::optional<std::int64_t> lone;
  if (in.width == 1)
    lone = rounded(filter_columns(finer, scale - 1, nullptr), 16).at(1, finer.height - 1);
  return filter_rows(rounded(filter_columns(in, scale, &finer), shift), scale, lone);
}

Image halve(const Image& in, int scale, int bits) {
  const Image columns = rounded(filter_columns(in, scale + 1, nullptr), mean_shift(scale, bits));
  const Image full = rounded(filter_rows(columns, scale + 1, {}), 16);
  Image out(in.width / 2, in.height / 2);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) out.at(x, y) = full.at(2 * x, 2 * y);
  return out;
}

std::int32_t centred(std::int64_t moment, std::int64_t mean_a, std::int64_t mean_b) {
  const auto square = static_cast<std::uint64_t>(mean_a) * static_cast<std::uint64_t>(mean_b);
  return static_cast<std::int32_t>(round_shift(moment, 16) -
                                   static_cast<std::int64_t>((square + (1ULL << 31)) >> 32));
}

void add_sample(std::int32_t s11, std::int32_t s22, std::int32_t s12,
                std::span<const double> limits, int scale, std::span<Words> out) {
  const std::uint8_t* table = log_table();
  s22 = std::max(s22, 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    ScaleWords& words = out[i].scale[scale];
    if (s11 < kNoise) {
      words.flat_count += 1;
      words.flat_energy += s22;
      continue;
    }
    words.den_log += log2_q11(kNoise + s11, table) - 2048 * 17;
    if (s12 <= 0 || s22 <= 0) continue;
    const GainTerms terms = gain_terms(s11, s12, s22, limits[i]);
    const std::int64_t base = terms.residual + kNoise;
    words.num_log += log2_q11(base + terms.explained, table) - log2_q11(base, table);
  }
}

void add_scale(const Image& x, const Image& y, const Image& finer_x, const Image& finer_y,
               int scale, const Request& request, std::span<Words> out) {
  const int mean = mean_shift(scale, request.bits);
  const int square = square_shift(scale, request.bits);
  const Image mx = blur(x, finer_x, scale, mean);
  const Image my = blur(y, finer_y, scale, mean);
  const Image xx = blur(product(x, x), product(finer_x, finer_x), scale, square);
  const Image yy = blur(product(y, y), product(finer_y, finer_y), scale, square);
  const Image xy = blur(product(x, y), product(finer_x, finer_y), scale, square);
  for (std::size_t i = 0; i < mx.v.size(); ++i)
    add_sample(centred(xx.v[i], mx.v[i], mx.v[i]), centred(yy.v[i], my.v[i], my.v[i]),
               centred(xy.v[i], mx.v[i], my.v[i]), request.limits, scale, out);
}

}  // namespace

void measure_reference(const Request& request, std::span<Words> out) {
  std::fill(out.begin(), out.end(), Words{});
  Image x = load(request.reference, request.bits);
  Image y = load(request.distorted, request.bits);
  Image finer_x = x;
  Image finer_y = y;
  for (int scale = 0; scale < kScales; ++scale) {
    if (scale > 0) {
      finer_x = std::move(x);
      finer_y = std::move(y);
      x = halve(finer_x, scale - 1, request.bits);
      y = halve(finer_y, scale - 1, request.bits);
    }
    if (scale > 0 || request.score_scale0) add_scale(x, y, finer_x, finer_y, scale, request, out);
  }
}

}  // namespace vqx::vif
