// The single-precision power of ADM's law.
#pragma once

namespace vqx::adm {

// x^y for x >= 0 and y > 0, both finite.  Not correctly rounded: the reference numbers come from a
// short double-precision algorithm (glibc since 2.28, from ARM's optimized routines), which is the
// law and reproduced here step by step, so that no C library shows in a score.
float powf(float x, float y);

inline constexpr float kThird = 1.0f / 3.0f;
inline float cube_root(float x) {
  return powf(x, kThird);
}

}  // namespace vqx::adm
