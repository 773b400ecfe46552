// Quality models in a run: registers their features and predicts from them.
#pragma once

#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "engine/plan.hpp"
#include "model/model.hpp"
#include "vqx/status.hpp"

namespace vqx {

// Adds a model's features to the plan and its predictors to `models`; what a collection adds
// (members and statistics) goes to `collections`, whose scores stand after those of all models.
Status add_model(const std::shared_ptr<const QualityModel>& model, PlanBuilder& plan,
                 std::vector<std::unique_ptr<Predictor>>& models,
                 std::vector<std::unique_ptr<Predictor>>& collections);

}  // namespace vqx
