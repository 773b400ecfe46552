// The metrics and option sets that the comparisons run over the case table: one row each.
#include "support/test_pictures.hpp"

namespace vqx::test {

std::span<const MetricCase> metric_cases() {
  static const std::vector<MetricCase> cases = {
      // {metric, options, smallest width, smallest height, needs chroma, greatest depth}
  };
  return cases;
}

}  // namespace vqx::test
