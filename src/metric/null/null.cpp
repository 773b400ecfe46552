// The metric `null`: accepts every picture and produces nothing.  It serves to time what surrounds
// the metrics.
#include "metric/metric.hpp"

namespace vqx {
namespace {

class Null final : public Metric {
 public:
  std::vector<Output> outputs(std::size_t) const override { return {}; }
  Status measure(const MeasureContext&, std::span<Measured>) const override { return {}; }
  Status finish_frame(std::size_t, const MeasuredWindow&, std::span<double>) const override {
    return {};
  }
};

Result<std::unique_ptr<Metric>> create(const MetricSetup&) {
  return std::unique_ptr<Metric>(std::make_unique<Null>());
}

}  // namespace

extern const MetricInfo kNullInfo;
const MetricInfo kNullInfo = {"null", "Nothing: times what surrounds the metrics", {}, {}, create};

}  // namespace vqx
