// The models of a run: loaded, and their features registered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/plan.hpp"
#include "vqx/session.hpp"

namespace vqx {

struct LoadedModel {
  std::string label;  // version or path
  std::string key;    // of its score
  bool is_collection = false;
  std::vector<std::string> feature_keys;  // what it reads, as reports print it
  std::vector<std::string> output_keys;   // what it writes, statistics of a collection included
};

class ModelSet {
 public:
  // Loads a model or collection.  `step` says what failed, in libvmaf's words.
  Status add(const ModelSpec& argument, PlanBuilder& plan, std::string& step);

  const std::vector<LoadedModel>& models() const { return models_; }
  // Models in order, then what the collections add.
  std::vector<std::unique_ptr<Predictor>> take_predictors() &&;

 private:
  std::vector<LoadedModel> models_;
  std::vector<std::unique_ptr<Predictor>> predictors_;
  std::vector<std::unique_ptr<Predictor>> collections_;
};

}  // namespace vqx
