#include "metric/adm/adm_csf.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "exact/functions.hpp"

namespace vqx::adm {
namespace {

struct BlendedRow {
  int display_height;
  double distance;
  float hv[4];
  float d[4];
};

// Weights at 2160 lines and 1.5 heights equal those at 1080 and 3: the same pixels per degree.
constexpr BlendedRow kBlended[] = {
    {1080, 3.0, {.01183f, .025026f, .04295f, .058621f}, {.004302f, .011778f, .023918f, .035901f}},
    {2160, 1.5, {.01183f, .025026f, .04295f, .058621f}, {.004302f, .011778f, .023918f, .035901f}},
    {1080, 5.0, {.004212f, .014809f, .029642f, .047464f}, {.000984f, .005852f, .0146f, .027574f}},
    {2160, 3.0, {.00226f, .01183f, .025026f, .04295f}, {.000479f, .004302f, .011778f, .023918f}},
    {2160, 5.0, {.000092f, .004212f, .014809f, .029642f}, {.00005f, .000984f, .005852f, .0146f}},
    {720, 5.0, {.010144f, .022561f, .040309f, .05672f}, {.003463f, .010282f, .021839f, .034641f}},
};
constexpr BlendedRow kBlendedMae[] = {
    {1080, 3.0, {.011249f, .022606f, .03593f, .045673f}, {.004097f, .010921f, .02143f, .031313f}},
    {2160, 1.5, {.011249f, .022606f, .03593f, .045673f}, {.004097f, .010921f, .02143f, .031313f}},
    {1080, 5.0, {.004052f, .013939f, .026298f, .038833f}, {.000927f, .005544f, .013415f, .024515f}},
    {2160, 3.0, {.002166f, .011249f, .022606f, .03593f}, {.000447f, .004097f, .010921f, .02143f}},
    {2160, 5.0, {.000077f, .004052f, .013939f, .026298f}, {.000045f, .000927f, .005544f, .013415f}},
    {720, 5.0, {.009689f, .020577f, .034162f, .044523f}, {.003302f, .009579f, .019661f, .030318f}},
};

Status blended_weights(const CsfOptions& options, ScaleWeights (&weights)[4]) {
  const auto& table = options.mode == CsfMode::kBlended ? kBlended : kBlendedMae;
  for (const BlendedRow& row : table) {
    if (row.display_height != options.viewing.display_height ||
        row.distance != options.viewing.distance)
      continue;
    for (int s = 0; s < 4; ++s) weights[s] = {row.hv[s], row.d[s]};
    return {};
  }
  return Status(
      ErrorCode::kInvalidArgument,
      fmt::format("adm: adm_csf_mode {} has no weights for adm_ref_display_height {} at "
                  "adm_norm_view_dist {:g}; it takes height:distance of 1080:3, 1080:5, 2160:1.5, "
                  "2160:3, 2160:5 or 720:5",
                  static_cast<int>(options.mode), options.viewing.display_height,
                  options.viewing.distance));
}

}  // namespace

float Viewing::pixels_per_degree() const {
  return static_cast<float>(distance * display_height * std::numbers::pi / 180.0);
}

float watson_weight(int scale, bool diagonal, float pixels_per_degree) {
  constexpr float kA = .495f, kK = .466f, kF0 = .401f;
  constexpr float kAmplitude[4][2] = {
      {.67234f, .72709f}, {.41317f, .49428f}, {.22727f, .28688f}, {.11792f, .15214f}};
  const float g = diagonal ? .534f : 1.0f;
  const float t = static_cast<float>(
      exact::log10(std::ldexp(1.0, scale + 1) * static_cast<double>(kF0) * static_cast<double>(g) /
                   static_cast<double>(pixels_per_degree)));
  const float exponent = kK * t * t;
  const double step = 2.0 * static_cast<double>(kA) *
                      exact::pow(10.0, static_cast<double>(exponent)) /
                      static_cast<double>(kAmplitude[scale][diagonal ? 1 : 0]);
  return 1.0f / static_cast<float>(step);
}

float barten_weight(int scale, double csf_scale, float pixels_per_degree) {
  const float f =
      static_cast<float>(static_cast<double>(pixels_per_degree) / std::ldexp(1.0, scale + 1));
  // Parameters between their values at 20 and 150 cd/m2, for a display of 100 cd/m2.
  const float low = static_cast<float>(exact::log10(20.0));
  const float high = static_cast<float>(exact::log10(150.0));
  const float at = static_cast<float>(exact::log10(100.0));
  const auto between = [&](float a, float b) { return a + (b - a) / (high - low) * (at - low); };
  const float p0 = between(.334278f, .394533f);
  const float p1 = between(3.79542f, 2.7755f);
  const float p2 = between(1.07327f, 1.16577f);
  const float p3 = between(6.4635f, 7.45665f);

  const float rising = p0 * f;
  const float a =
      static_cast<float>(1.0 + exact::pow(static_cast<double>(rising), static_cast<double>(p1)));
  const float seventh = f / 7.0f;
  const double drop = 1.0 - exact::exp(-exact::pow(static_cast<double>(seventh), 2.0));
  const float b = static_cast<float>(1.0 / exact::pow(drop, static_cast<double>(p2)));
  const float product = a * b;
  const float neural =
      static_cast<float>(static_cast<double>(p3) / exact::pow(static_cast<double>(product), 0.5));

  constexpr float kAmplitude[] = {0.424838596301290f, 0.572435103936480f, 0.000167576239164937f,
                                  0.00255872352306433f};
  constexpr float kDecay[] = {0.028f, 0.37f, 37.0f, 360.0f};
  float optics = 0;
  for (int i = 0; i < 4; ++i) {
    const float exponent = -kDecay[i] * f;
    optics = static_cast<float>(static_cast<double>(optics) +
                                static_cast<double>(kAmplitude[i]) *
                                    exact::exp(static_cast<double>(exponent)));
  }
  const double luminance = static_cast<double>(4.0627f / 100.0f);
  const float rods =
      static_cast<float>(static_cast<double>(30.162f) *
                         exact::pow(exact::pow(luminance, static_cast<double>(1.6596f)) + 1.0,
                                    -static_cast<double>(.2712f)));
  const float sensitivity = neural * optics * rods;
  return static_cast<float>(static_cast<double>(sensitivity) * csf_scale);
}

Status csf_weights(const CsfOptions& options, ScaleWeights (&weights)[4]) {
  if (options.mode == CsfMode::kBlended || options.mode == CsfMode::kBlendedMae)
    return blended_weights(options, weights);
  const float ppd = options.viewing.pixels_per_degree();
  for (int s = 0; s < 4; ++s)
    weights[s] = options.mode == CsfMode::kBarten
                     ? ScaleWeights{barten_weight(s, options.scale, ppd),
                                    barten_weight(s, options.diagonal_scale, ppd)}
                     : ScaleWeights{watson_weight(s, false, ppd), watson_weight(s, true, ppd)};
  return {};
}

FixedWeights fixed_weights(const CsfOptions& options, int scale, const ScaleWeights& weights) {
  const auto fixed = [](float weight, int bits) {
    return static_cast<std::uint64_t>(std::ldexp(static_cast<double>(weight), bits));
  };
  if (scale > 0)
    return {static_cast<std::uint32_t>(fixed(weights.hv, 32)),
            static_cast<std::uint32_t>(fixed(weights.d, 32))};
  // The law's constants at its home geometry differ from its own formula in the last digits.
  const double geometry = options.viewing.distance * options.viewing.display_height;
  if (options.mode == CsfMode::kWatson && std::abs(geometry - 3240.0) < 1e-8) return {36453, 49417};
  return {static_cast<std::uint16_t>(fixed(weights.hv, 21)),
          static_cast<std::uint16_t>(fixed(weights.d, 23))};
}

}  // namespace vqx::adm
