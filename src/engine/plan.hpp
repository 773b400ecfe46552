// What a run computes: requests, merged so that equal work is done once, grouped by metric so that
// option sets share passes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "metric/metric.hpp"
#include "metric/registry.hpp"
#include "vqx/status.hpp"

namespace vqx {

// One configured extractor.
struct Instance {
  const MetricInfo* info;
  Options options;
  std::size_t group = 0;  // in Plan::groups
  std::size_t set = 0;    // option set within the group's metric
  std::vector<Output> outputs;
  std::vector<std::string> keys;  // storage key per output; empty: another instance owns the key
};

struct Group {
  const MetricInfo* info;
  std::unique_ptr<Metric> metric;
  std::vector<std::size_t> instances;  // by option set
  Needs needs;                         // the largest of its sets
};

struct Plan {
  VideoFormat format;
  std::vector<Instance> instances;  // in order of registration
  std::vector<Group> groups;
  std::vector<std::string> warnings;
};

class PlanBuilder {
 public:
  // `strict` refuses what the drop-in only warns about: unknown options, colliding keys.
  explicit PlanBuilder(bool strict) : strict_(strict) {}

  // kUnknownName or kInvalidArgument with the nearest name or the accepted values.
  Status add(const std::string& metric, const OptionTexts& options);
  // The metric that provides a long feature name, as models request it.  Returns the storage key.
  Result<std::string> add_model_feature(const std::string& feature, const OptionTexts& options);

  // Creates the metrics.  kUnsupportedSize or kInvalidArgument when one refuses the format.
  Result<Plan> build(const VideoFormat& format) &&;

 private:
  Result<Options> parse(const MetricInfo& info, const OptionTexts& options, bool strict);
  Status insert(const MetricInfo& info, Options options);

  bool strict_;
  Plan plan_;
};

// Splits "cambi_sycl" into metric and backend where such a backend name ends it.
struct BackendName {
  std::string metric;
  std::string backend;  // empty: none named
};
BackendName split_backend_name(const std::string& name);

}  // namespace vqx
