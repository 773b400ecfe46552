// The metric `psnr_hvs`: weights, outputs, finish steps.
#include "metric/psnr_hvs/psnr_hvs.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/simd.hpp"
#include "exact/functions.hpp"

namespace vqx {
namespace psnr_hvs {
namespace {

constexpr std::string_view kModelFeatures[] = {"psnr_hvs_y", "psnr_hvs_cb", "psnr_hvs_cr",
                                               "psnr_hvs"};

// Contrast sensitivity by plane: the upper triangles, row by row, of symmetric 8x8 tables.
constexpr float kSensitivity[kPlanes][36] = {
    {1.6193873005f,   2.2901594831f,   2.08509755623f,  1.48366094411f,  1.00227514334f,
     0.678296995242f, 0.466224900598f, 0.3265091542f,   1.94321815382f,  2.04793073064f,
     1.68731108984f,  1.2305666963f,   0.868920337363f, 0.61280991668f,  0.436405793551f,
     1.34329019223f,  1.09205635862f,  0.875748795257f, 0.670882927016f, 0.501731932449f,
     0.372504254596f, 0.772819797575f, 0.605636379554f, 0.48309405692f,  0.380429446972f,
     0.295774038565f, 0.448996256676f, 0.352889268808f, 0.283006984131f, 0.226951348204f,
     0.27032073436f,  0.215017739696f, 0.17408067321f,  0.168869545842f, 0.136153931001f,
     0.109083846276f},
    {1.91113096927f,  2.46074210438f,  1.18284184739f,  1.14982565193f,  1.05017074788f,
     0.898018824055f, 0.74725392039f,  0.615105596242f, 1.58529308355f,  1.21363250036f,
     1.38190029285f,  1.33100189972f,  1.17428548929f,  0.996404342439f, 0.830890433625f,
     0.978712413627f, 1.02624506078f,  1.03145147362f,  0.960060382087f, 0.849823426169f,
     0.731221236837f, 0.861317501629f, 0.801821139099f, 0.751437590932f, 0.685398513368f,
     0.608694761374f, 0.676555426187f, 0.605503172737f, 0.55002013668f,  0.495804539034f,
     0.514674450957f, 0.454353482512f, 0.407050308965f, 0.389234902883f, 0.342353999733f,
     0.295530605237f},
    {2.03871978502f,  2.62502345193f,  1.26180942886f,  1.11019789803f,  1.01397751469f,
     0.867069376285f, 0.721500455585f, 0.593906509971f, 1.69112867013f,  1.17180569821f,
     1.3342742857f,   1.28513006198f,  1.13381474809f,  0.962064122248f, 0.802254508198f,
     0.944981930573f, 0.990876405848f, 0.995903384143f, 0.926972725286f, 0.820534991409f,
     0.706020324706f, 0.831632933426f, 0.77418706195f,  0.725539939514f, 0.661776842059f,
     0.587716619023f, 0.653238524286f, 0.584635025748f, 0.531064164893f, 0.478717061273f,
     0.496936637883f, 0.438694579826f, 0.393021669543f, 0.375820256136f, 0.330555063063f,
     0.285345396658f},
};

constexpr Weights make_weights(const float (&triangle)[36]) {
  Weights weights{};
  int next = 0;
  for (int row = 0; row < kBlock; ++row)
    for (int column = row; column < kBlock; ++column) {
      const float csf = triangle[next++];
      const double scaled = static_cast<double>(csf) * 0.3885746225901003;
      for (const int i : {row * kBlock + column, column * kBlock + row}) {
        weights.csf[i] = csf;
        weights.mask[i] = static_cast<float>(scaled * scaled);
      }
    }
  return weights;
}

constexpr Weights kWeights[kPlanes] = {make_weights(kSensitivity[0]), make_weights(kSensitivity[1]),
                                       make_weights(kSensitivity[2])};

class PsnrHvs final : public Metric {
 public:
  explicit PsnrHvs(const MetricSetup& setup) : format_(setup.format) {}

  std::vector<Output> outputs(std::size_t) const override {
    return {{"psnr_hvs_y"}, {"psnr_hvs_cb"}, {"psnr_hvs_cr"}, {"psnr_hvs"}};
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    TermSums sums;
    for (int p = 0; p < kPlanes; ++p) {
      const Frame& frame = context.frame();
      const PlanePair planes{frame.reference().plane(p), frame.distorted().plane(p),
                             format_.bit_depth, weights(p)};
      sums.plane[p] = simd_is_scalar() ? sum_plane_reference(planes) : sum_plane(context, planes);
    }
    for (Measured& measured : out) measured = Measured::of(sums);
    return {};
  }

  Status finish_frame(std::size_t, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const auto sums = window.here().as<TermSums>();
    double error[kPlanes];
    for (int p = 0; p < kPlanes; ++p) {
      error[p] = mean_error(p, static_cast<float>(sums.plane[p]));
      scores[static_cast<std::size_t>(p)] = decibels(error[p]);
    }
    scores[kPlanes] = decibels(error[0] * 0.8 + 0.1 * (error[1] + error[2]));
    return {};
  }

 private:
  // Weighted mean squared error relative to the peak.  A plane without blocks has none.
  float mean_error(int plane, float sum) const {
    const std::int64_t terms = std::int64_t{kCoefficients} *
                               block_count(format_.plane_width(plane)) *
                               block_count(format_.plane_height(plane));
    if (terms == 0) return std::numeric_limits<float>::quiet_NaN();
    const int peak = (1 << format_.bit_depth) - 1;
    return sum / static_cast<float>(terms) / static_cast<float>(peak * peak);
  }

  static double decibels(double error) { return 10 * (-1 * exact::log10(error)); }

  VideoFormat format_;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  const VideoFormat& format = setup.format;
  if (format.plane_count() < kPlanes)
    return Status(ErrorCode::kInvalidArgument,
                  "psnr_hvs: luma-only pictures are not supported; 4:2:0, 4:2:2 and 4:4:4 are");
  if (format.bit_depth != 8 && format.bit_depth != 10 && format.bit_depth != 12)
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("psnr_hvs: {} bits per sample are not supported; 8, 10 and 12 are",
                              format.bit_depth));
  for (int p = 0; setup.strict && p < kPlanes; ++p)
    if (format.plane_width(p) < kBlock || format.plane_height(p) < kBlock)
      return Status(ErrorCode::kUnsupportedSize,
                    fmt::format("psnr_hvs: {}x{} leaves plane {} {}x{}; every plane must be at "
                                "least 8x8",
                                format.width, format.height, p, format.plane_width(p),
                                format.plane_height(p)));
  return std::unique_ptr<Metric>(std::make_unique<PsnrHvs>(setup));
}

}  // namespace

const Weights& weights(int plane) {
  return kWeights[plane];
}

}  // namespace psnr_hvs

extern const MetricInfo kPsnrHvsInfo;
const MetricInfo kPsnrHvsInfo = {
    "psnr_hvs",
    "PSNR of transform coefficients weighted by human contrast sensitivity",
    {},
    psnr_hvs::kModelFeatures,
    psnr_hvs::create};

}  // namespace vqx
