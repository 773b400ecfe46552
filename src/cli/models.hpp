// The models of a command line: loaded, their features registered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/vmaf_options.hpp"
#include "engine/engine.hpp"
#include "engine/plan.hpp"

namespace vqx::cli {

struct LoadedModel {
  std::string name;                       // score name
  std::string label;                      // version or path
  std::vector<std::string> feature_keys;  // storage keys that it reads
  std::unique_ptr<Predictor> predictor;
  bool is_collection = false;
};

// Loads a model or collection and adds its features to the plan.
Result<LoadedModel> load_model(const ModelArgument& argument, PlanBuilder& builder);

}  // namespace vqx::cli
