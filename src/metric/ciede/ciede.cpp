// The metric `ciede`: outputs, sums, finish step.
#include "metric/ciede/ciede.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/simd.hpp"
#include "exact/functions.hpp"
#include "metric/ciede/ciede_math.hpp"

namespace vqx {
namespace ciede {
namespace {

constexpr std::string_view kModelFeatures[] = {"ciede2000"};

class Ciede final : public Metric {
 public:
  explicit Ciede(const MetricSetup& setup) : format_(setup.format) {}

  std::vector<Output> outputs(std::size_t) const override { return {{"ciede2000"}}; }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const exact::WideSum sum = sum_differences(context);
    for (Measured& measured : out)
      measured = Measured::of(DifferenceSum{sum.low_word(), sum.high_word()});
    return {};
  }

  Status finish_frame(std::size_t, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const auto words = window.here().as<DifferenceSum>();
    const double sum = exact::WideSum::from_words(words.low, words.high).to_double(kFractionBits);
    const double pixels = static_cast<double>(format_.width) * format_.height;
    scores[0] = 45.0 - 20.0 * exact::log10(sum / pixels);
    return {};
  }

 private:
  VideoFormat format_;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  const VideoFormat& format = setup.format;
  if (format.plane_count() < kPlanes)
    return Status(ErrorCode::kInvalidArgument,
                  "ciede: luma-only pictures are not supported; 4:2:0, 4:2:2 and 4:4:4 are");
  if (std::ranges::count(std::initializer_list<int>{8, 10, 12, 16}, format.bit_depth) == 0)
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("ciede: {} bits per sample are not supported; 8, 10, 12 and 16 are",
                              format.bit_depth));
  if (format.plane_width(1) == 0 || format.plane_height(1) == 0)
    return Status(ErrorCode::kUnsupportedSize,
                  fmt::format("ciede: a {} picture of {}x{} has no chroma samples; it must be at "
                              "least 2 wide{}",
                              chroma_name(format.chroma), format.width, format.height,
                              format.chroma == ChromaFormat::k420 ? " and 2 high" : ""));
  return std::unique_ptr<Metric>(std::make_unique<Ciede>(setup));
}

exact::WideSum sum_rows(const MeasureContext& context, int first, int last) {
  const Frame& frame = context.frame();
  const VideoFormat& format = frame.reference().format();
  const auto width = static_cast<std::size_t>(format.width);
  const std::size_t padded = width + kRowPadding;
  ScratchArray<std::uint16_t> codes(context.scratch(), 2 * kPlanes * padded);
  ScratchArray<float> differences(context.scratch(), padded);
  std::fill_n(codes.data(), codes.size(), std::uint16_t{0});
  std::uint16_t* out[2][kPlanes];
  RowPair rows{};
  for (std::size_t i = 0; i < 2 * kPlanes; ++i)
    rows.side[i / kPlanes][i % kPlanes] = out[i / kPlanes][i % kPlanes] = codes.data() + i * padded;

  const auto differences_of_row = simd_is_scalar() ? row_differences_reference : row_differences;
  exact::WideSum sum;
  for (int y = first; y < last; ++y) {
    for (int p = 0; p < kPlanes; ++p) {
      luma_size_row(frame.reference(), p, y, out[0][p]);
      luma_size_row(frame.distorted(), p, y, out[1][p]);
    }
    differences_of_row(rows, format.bit_depth, width, differences.data());
    for (std::size_t x = 0; x < width; ++x) sum.add(difference_units(differences[x]));
  }
  return sum;
}

}  // namespace

exact::WideSum sum_differences(const MeasureContext& context) {
  constexpr int kBandRows = 8;
  const int height = context.frame().reference().format().height;
  const int bands = (height + kBandRows - 1) / kBandRows;
  std::vector<exact::WideSum> partial(static_cast<std::size_t>(bands));
  context.parallel(bands, [&](int band) {
    const int first = band * kBandRows;
    partial[static_cast<std::size_t>(band)] =
        sum_rows(context, first, std::min(first + kBandRows, height));
  });
  exact::WideSum sum;
  for (const exact::WideSum& part : partial) sum += part;
  return sum;
}

}  // namespace ciede

extern const MetricInfo kCiedeInfo;
const MetricInfo kCiedeInfo = {
    "ciede", "Mean CIEDE2000 colour difference", {}, ciede::kModelFeatures, ciede::create};

}  // namespace vqx
