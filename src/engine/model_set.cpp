#include "engine/model_set.hpp"

#include <iterator>
#include <utility>

#include "engine/model_predictor.hpp"
#include "metric/registry.hpp"
#include "model/model.hpp"

namespace vqx {
namespace {

Result<QualityModel> load(const ModelSpec& argument) {
  const ModelFlags flags{argument.disable_clip, argument.enable_transform};
  return argument.version.empty() ? load_model_file(argument.path, argument.name, flags)
                                  : load_builtin_model(argument.version, argument.name, flags);
}

}  // namespace

Status ModelSet::add(const ModelSpec& argument, PlanBuilder& plan, std::string& step) {
  step = "problem loading model: " + argument.label();
  VQX_ASSIGN_OR_RETURN(QualityModel loaded, load(argument));
  for (const ModelOverload& overload : argument.overloads)
    loaded.overload(overload.metric, overload.option, overload.value);

  const bool is_collection = loaded.is_collection();
  step = std::string("problem loading feature extractors from model") +
         (is_collection ? " collection: " : ": ") + argument.label();
  const std::size_t collections_before = collections_.size();
  VQX_RETURN_IF_ERROR(add_model(std::make_shared<const QualityModel>(std::move(loaded)), plan,
                                predictors_, collections_));
  LoadedModel model;
  model.label = argument.label();
  model.key = argument.name;
  model.is_collection = is_collection;
  for (const std::string& key : predictors_.back()->input_keys())
    model.feature_keys.push_back(display_key(key));
  model.output_keys = predictors_.back()->output_keys();
  for (std::size_t i = collections_before; i < collections_.size(); ++i)
    for (std::string& key : collections_[i]->output_keys())
      model.output_keys.push_back(std::move(key));
  models_.push_back(std::move(model));
  return {};
}

std::vector<std::unique_ptr<Predictor>> ModelSet::take_predictors() && {
  std::vector<std::unique_ptr<Predictor>> all = std::move(predictors_);
  std::move(collections_.begin(), collections_.end(), std::back_inserter(all));
  return all;
}

}  // namespace vqx
