// Sanitized builds take a share of the cases: VQX_CASE_STRIDE=7 every seventh.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace vqx::test {

inline int case_stride() {
  const char* text = std::getenv("VQX_CASE_STRIDE");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

}  // namespace vqx::test
