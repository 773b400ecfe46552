// The metric `float_psnr`: luma on the 8-bit scale.
#include <cmath>

#include "exact/functions.hpp"
#include "metric/psnr/psnr.hpp"

namespace vqx {
namespace psnr {
namespace {

constexpr std::string_view kFloatModelFeatures[] = {"float_psnr"};

class FloatPsnr final : public Metric {
 public:
  explicit FloatPsnr(const MetricSetup& setup) : format_(setup.format) {}

  std::vector<Output> outputs(std::size_t) const override { return {{"float_psnr"}}; }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const LumaError error{sum_plane(context, 0, Term::kSinglePrecision)};
    for (Measured& measured : out) measured = Measured::of(error);
    return {};
  }

  Status finish_frame(std::size_t, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const int extra_bits = format_.bit_depth - 8;
    const double scale = std::ldexp(1.0, -extra_bits);  // a power of two: all products are exact
    const double peak = static_cast<double>((1 << format_.bit_depth) - 1) * scale;
    const double sum = static_cast<double>(window.here().as<LumaError>().squared) * (scale * scale);
    const double noise = sum / (static_cast<double>(format_.width) * format_.height);
    const double ceiling = 6 * format_.bit_depth + 12;
    const double score = 10 * exact::log10(peak * peak / (noise > 1e-10 ? noise : 1e-10));
    scores[0] = score < ceiling ? score : ceiling;
    return {};
  }

 private:
  VideoFormat format_;
};

Result<std::unique_ptr<Metric>> create_float(const MetricSetup& setup) {
  VQX_RETURN_IF_ERROR(check_bit_depth("float_psnr", setup.format));
  return std::unique_ptr<Metric>(std::make_unique<FloatPsnr>(setup));
}

}  // namespace
}  // namespace psnr

extern const MetricInfo kFloatPsnrInfo;
const MetricInfo kFloatPsnrInfo = {"float_psnr",
                                   "Peak signal-to-noise ratio of luma on the 8-bit scale",
                                   {},
                                   psnr::kFloatModelFeatures,
                                   psnr::create_float};

}  // namespace vqx
