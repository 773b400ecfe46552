// Any bytes as a model file: refused with a reason, or a model that can be planned and predicts.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/model_predictor.hpp"
#include "engine/plan.hpp"
#include "model/model.hpp"

namespace {

bool accepted(const vqx::Status& status) {
  if (!status.ok() && status.message().empty()) std::abort();
  return status.ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const vqx::ModelFlags flags : {vqx::ModelFlags{}, vqx::ModelFlags{true, true}}) {
    auto loaded = vqx::parse_model(text, "vmaf", flags);
    if (!accepted(loaded.status())) continue;
    loaded->overload("vif", "vif_enhn_gain_limit", "1.0");
    const auto model = std::make_shared<const vqx::QualityModel>(*std::move(loaded));
    vqx::PlanBuilder plan(/*strict=*/false);
    std::vector<std::unique_ptr<vqx::Predictor>> models;
    std::vector<std::unique_ptr<vqx::Predictor>> collections;
    if (!accepted(vqx::add_model(model, plan, models, collections))) continue;
    for (const auto* predictors : {&models, &collections})
      for (const auto& predictor : *predictors) {
        const std::vector<double> inputs(predictor->input_keys().size(), 0.5);
        std::vector<double> outputs(predictor->output_keys().size());
        accepted(predictor->predict(inputs, outputs));
      }
  }
  return 0;
}
