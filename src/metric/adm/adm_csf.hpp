// Contrast-sensitivity weights of ADM, one for the bands h and v and one for d, per scale.
//
// Watson, Yang, Solomon, Villasenor, "Visibility of wavelet quantization noise", IEEE Trans. Image
// Processing 6(8), 1997; Barten's curve in the form of HDR-VDP-2 (Mantiuk et al., 2011); blended
// tables fitted to subjective data.
#pragma once

#include <cstdint>

#include "vqx/status.hpp"

namespace vqx::adm {

// Each rounded to single where the law rounds.
struct ScaleWeights {
  float hv = 0;
  float d = 0;
};

// Fixed point: 2^21 (hv) and 2^23 (d) at scale 0, 2^32 at scales 1..3, as stored by the law.
struct FixedWeights {
  std::uint32_t hv = 0;
  std::uint32_t d = 0;
  friend bool operator==(const FixedWeights&, const FixedWeights&) = default;
};

struct Viewing {
  double distance = 3;        // in display heights
  int display_height = 1080;  // in pixels
  float pixels_per_degree() const;
};

float watson_weight(int scale, bool diagonal, float pixels_per_degree);
float barten_weight(int scale, double csf_scale, float pixels_per_degree);

enum class CsfMode { kWatson = 0, kBarten = 1, kBlended = 2, kBlendedMae = 3 };

struct CsfOptions {
  CsfMode mode = CsfMode::kWatson;
  Viewing viewing;
  double scale = 1;           // mode kBarten only
  double diagonal_scale = 1;  // mode kBarten only
};

// Weights of scales 0..3.  kInvalidArgument when a blended table lacks the viewing geometry.
Status csf_weights(const CsfOptions& options, ScaleWeights (&weights)[4]);

FixedWeights fixed_weights(const CsfOptions& options, int scale, const ScaleWeights& weights);

}  // namespace vqx::adm
