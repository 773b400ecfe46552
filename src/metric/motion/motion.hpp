// motion: how much the reference changes from frame to frame (Li et al., Toward a practical
// perceptual video quality metric, 2016).
//
// D = earlier luma - current luma, d frames apart (1, or 2 with the five-frame window);
// V = round(vertical 5-tap Gaussian of D) on the 8-bit scale, R = round(horizontal one of V);
// SAD = sum of |R|; the frame score is SAD/256/(w*h), weighted and capped.  motion2 is the smaller
// of two neighbouring scores, motion3 blends motion2 above a knee.
//
// Ranges: |D| < 2^bits, |V| and |R| <= 65535, sums of taps below 2^32 in magnitude (motion_math.hpp
// keeps them in int32); SAD below 2^16 * w * h, hence 64 bits.
#pragma once

#include <cstdint>

#include "metric/metric.hpp"
#include "vqx/picture.hpp"

namespace vqx::motion {

inline constexpr int kSmallestSide = 3;  // the mirror about an edge needs two more samples

// What is measured of one frame: 0 where there is no earlier frame to compare with.
struct Words {
  std::uint64_t sad = 0;
};

// SAD of the rows [first, last): the plain form straight from the definition, and the vectorised
// one.  Planes have the same size; their rows are read within the width only.
std::uint64_t sad_reference(const Plane& earlier, const Plane& current, int bits, int first,
                            int last);
std::uint64_t sad_simd(const Plane& earlier, const Plane& current, int bits, int first, int last,
                       ScratchPool& scratch);

}  // namespace vqx::motion
