// The metric `float_moment`: outputs and finish steps.
#include "metric/float_moment/float_moment.hpp"

#include <algorithm>
#include <cmath>

#include "metric/float_rows/float_rows.hpp"

namespace vqx {
namespace float_moment {
namespace {

// The name by which a model may ask for the metric; no score is stored under it, as in libvmaf.
constexpr std::string_view kModelFeatures[] = {"float_moment"};

Sums sum_plane(const MeasureContext& context, const Plane& plane, int bit_depth) {
  constexpr int kBandSamples = 1 << 18;
  const int rows = std::max(1, kBandSamples / plane.width);
  const int bands = (plane.height + rows - 1) / rows;
  std::vector<Sums> partial(static_cast<std::size_t>(bands));
  context.parallel(bands, [&](int band) {
    const int first = band * rows;
    partial[static_cast<std::size_t>(band)] =
        sum_rows(plane, bit_depth, first, std::min(first + rows, plane.height));
  });
  Sums total;
  for (const Sums& part : partial) {
    total.first += part.first;
    total.second += part.second;
  }
  return total;
}

class FloatMoment final : public Metric {
 public:
  explicit FloatMoment(const MetricSetup& setup) : format_(setup.format) {}

  std::vector<Output> outputs(std::size_t) const override {
    return {{"float_moment_ref1st"},
            {"float_moment_dis1st"},
            {"float_moment_ref2nd"},
            {"float_moment_dis2nd"}};
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const Frame& frame = context.frame();
    const Moments moments{sum_plane(context, frame.reference().plane(0), format_.bit_depth),
                          sum_plane(context, frame.distorted().plane(0), format_.bit_depth)};
    for (Measured& measured : out) measured = Measured::of(moments);
    return {};
  }

  Status finish_frame(std::size_t, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const auto moments = window.here().as<Moments>();
    const double samples = static_cast<double>(std::int64_t{format_.width} * format_.height);
    const double unit = std::ldexp(1.0, 8 - format_.bit_depth);
    const auto mean = [&](std::uint64_t sum, double scale) {
      return static_cast<double>(sum) * scale / samples;
    };
    scores[0] = mean(moments.reference.first, unit);
    scores[1] = mean(moments.distorted.first, unit);
    scores[2] = mean(moments.reference.second, unit * unit);
    scores[3] = mean(moments.distorted.second, unit * unit);
    return {};
  }

 private:
  VideoFormat format_;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  VQX_RETURN_IF_ERROR(float_rows::check_bit_depth("float_moment", setup.format));
  VQX_RETURN_IF_ERROR(
      float_rows::check_size("float_moment", setup.format.width, setup.format.height, 1));
  return std::unique_ptr<Metric>(std::make_unique<FloatMoment>(setup));
}

}  // namespace
}  // namespace float_moment

extern const MetricInfo kFloatMomentInfo;
const MetricInfo kFloatMomentInfo = {"float_moment",
                                     "Mean and mean square of both pictures' luma",
                                     {},
                                     float_moment::kModelFeatures,
                                     float_moment::create};

}  // namespace vqx
