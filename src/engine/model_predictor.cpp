#include "engine/model_predictor.hpp"

#include <string>
#include <utility>

namespace vqx {
namespace {

class MainPredictor final : public Predictor {
 public:
  MainPredictor(std::shared_ptr<const QualityModel> model, std::vector<std::string> inputs)
      : model_(std::move(model)), inputs_(std::move(inputs)) {}

  std::vector<std::string> input_keys() const override { return inputs_; }
  std::vector<std::string> output_keys() const override { return {model_->main.name}; }
  Status predict(std::span<const double> inputs, std::span<double> outputs) const override {
    VQX_ASSIGN_OR_RETURN(outputs[0], model_->main.predict(inputs));
    return {};
  }

 private:
  std::shared_ptr<const QualityModel> model_;
  std::vector<std::string> inputs_;
};

class CollectionPredictor final : public Predictor {
 public:
  CollectionPredictor(std::shared_ptr<const QualityModel> model, std::vector<std::string> inputs)
      : model_(std::move(model)), inputs_(std::move(inputs)) {}

  std::vector<std::string> input_keys() const override { return inputs_; }
  std::vector<std::string> output_keys() const override { return model_->collection_keys(); }
  Status predict(std::span<const double> inputs, std::span<double> outputs) const override {
    return model_->predict_collection(inputs, outputs);
  }

 private:
  std::shared_ptr<const QualityModel> model_;
  std::vector<std::string> inputs_;
};

// Registers the features and appends their storage keys.
Status add_features(const Model& model, PlanBuilder& plan, std::vector<std::string>& keys) {
  for (const ModelFeature& feature : model.features) {
    VQX_ASSIGN_OR_RETURN(std::string key, plan.add_model_feature(feature.name, feature.options));
    keys.push_back(std::move(key));
  }
  return {};
}

}  // namespace

Status add_model(const std::shared_ptr<const QualityModel>& model, PlanBuilder& plan,
                 std::vector<std::unique_ptr<Predictor>>& models,
                 std::vector<std::unique_ptr<Predictor>>& collections) {
  std::vector<std::string> keys;
  VQX_RETURN_IF_ERROR(add_features(model->main, plan, keys));
  models.push_back(std::make_unique<MainPredictor>(model, std::move(keys)));
  if (!model->is_collection()) return {};
  std::vector<std::string> member_keys;
  for (const Model& member : model->members)
    VQX_RETURN_IF_ERROR(add_features(member, plan, member_keys));
  collections.push_back(std::make_unique<CollectionPredictor>(model, std::move(member_keys)));
  return {};
}

}  // namespace vqx
