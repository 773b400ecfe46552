// The metric `float_ansnr`: windows, outputs, finish steps.
#include "metric/float_ansnr/float_ansnr.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/simd.hpp"
#include "exact/functions.hpp"

namespace vqx {
namespace float_ansnr {
namespace {

constexpr std::string_view kModelFeatures[] = {"float_ansnr"};

template <std::size_t n>
constexpr std::array<float, n> make_window(const int (&weights)[n], double divisor) {
  std::array<float, n> window{};
  for (std::size_t i = 0; i < n; ++i) window[i] = static_cast<float>(weights[i] / divisor);
  return window;
}
constexpr auto kSoftWindow = make_window({1, 2, 1, 2, 4, 2, 1, 2, 1}, 16);
constexpr auto kNoiseWindow = make_window(
    {2, 7, 12, 7, 2, 7, 31, 52, 31, 7, 12, 52, 127, 52, 12, 7, 31, 52, 31, 7, 2, 7, 12, 7, 2}, 571);

// From at least 1e-10 of noise on, so that the logarithm exists.
double limited_decibels(double power, double noise, double ceiling) {
  return std::min(10 * exact::log10(power / std::max(noise, 1e-10)), ceiling);
}

class FloatAnsnr final : public Metric {
 public:
  explicit FloatAnsnr(const MetricSetup& setup) : format_(setup.format) {}

  std::vector<Output> outputs(std::size_t) const override {
    return {{"float_ansnr"}, {"float_anpsnr"}};
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const Frame& frame = context.frame();
    const auto samples = [&](const Picture& picture) {
      return float_rows::samples_of(picture.plane(0), format_.bit_depth, -128);
    };
    const float_rows::Samples reference = samples(frame.reference());
    const float_rows::Samples distorted = samples(frame.distorted());
    const Words words = simd_is_scalar() ? measure_reference(reference, distorted)
                                         : measure_in_bands(context, reference, distorted);
    for (Measured& measured : out) measured = Measured::of(words);
    return {};
  }

  Status finish_frame(std::size_t, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const auto words = window.here().as<Words>();
    const int extra_bits = format_.bit_depth - 8;
    const double peak = 256 - std::ldexp(1.0, -extra_bits);
    const double ceiling = 6 * format_.bit_depth + 12;
    const float ratio = static_cast<float>(words.signal) / static_cast<float>(words.noise);
    scores[0] = words.noise == 0 ? ceiling : 10 * exact::log10(static_cast<double>(ratio));
    scores[1] =
        limited_decibels(peak * peak * format_.width * format_.height, words.noise, ceiling);
    return {};
  }

 private:
  static Words measure_in_bands(const MeasureContext& context, const float_rows::Samples& reference,
                                const float_rows::Samples& distorted) {
    constexpr int kBandRows = 32;
    const int height = reference.height;
    std::vector<float> signal(static_cast<std::size_t>(height)), noise(signal.size());
    context.parallel((height + kBandRows - 1) / kBandRows, [&](int band) {
      const int first = band * kBandRows;
      sum_rows(reference, distorted, first, std::min(first + kBandRows, height), context.scratch(),
               signal.data() + first, noise.data() + first);
    });
    return {float_rows::running_sum(signal.data(), height),
            float_rows::running_sum(noise.data(), height)};
  }

  VideoFormat format_;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  VQX_RETURN_IF_ERROR(float_rows::check_bit_depth("float_ansnr", setup.format));
  VQX_RETURN_IF_ERROR(float_rows::check_size("float_ansnr", setup.format.width, setup.format.height,
                                             kSmallestSide));
  return std::unique_ptr<Metric>(std::make_unique<FloatAnsnr>(setup));
}

}  // namespace

const float* soft_window() {
  return kSoftWindow.data();
}
const float* noise_window() {
  return kNoiseWindow.data();
}

}  // namespace float_ansnr

extern const MetricInfo kFloatAnsnrInfo;
const MetricInfo kFloatAnsnrInfo = {"float_ansnr",
                                    "Anti-noise signal-to-noise ratio of luma",
                                    {},
                                    float_ansnr::kModelFeatures,
                                    float_ansnr::create};

}  // namespace vqx
