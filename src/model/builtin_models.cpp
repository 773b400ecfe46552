// The models that Netflix trained, from the tables that scripts/generate_models.py made.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/model.hpp"

namespace vqx {
namespace {

// A coefficient other than +4 or -4.
struct CoefficientException {
  int row;
  double coefficient;
};
// Support vectors: kRows[first_row ...], each the number of a point counted from 1, its sign that
// of the coefficient.
struct BuiltinRegression {
  std::size_t dimensions;
  double gamma;
  double rho;
  int first_row;
  int count;
};
// The output first, then the features.
struct BuiltinScaling {
  std::array<double, 7> slopes;
  std::array<double, 7> intercepts;
};
struct BuiltinTransform {
  bool present;
  bool enabled;
  bool at_least_input;
  double p0, p1, p2;
};
struct BuiltinModel {
  std::string_view name;
  int features;
  std::string_view options;  // of each feature, separated by ';': "name=value,name=value"
  int scaling;
  int first_regression;
  int regression_count;  // 1, or the main model and the members of a collection
  int transform;
  double clip_high;
  double chroma_correction;  // 0: none
};

#include "model/builtin_models_data.inc"  // NOLINT(bugprone-suspicious-include)

constexpr double kCommonCoefficient = 4;

std::shared_ptr<const Regression> expand(const BuiltinRegression& source) {
  Regression result;
  result.gamma = source.gamma;
  result.rho = source.rho;
  result.dimensions = source.dimensions;
  for (int i = source.first_row; i < source.first_row + source.count; ++i) {
    const int row = kRows[i];
    const int point = std::abs(row) - 1;
    const double* values = source.dimensions == 4 ? kPoints4[point] : kPoints6[point];
    result.points.insert(result.points.end(), values, values + source.dimensions);
    const auto* exception =
        std::lower_bound(std::begin(kExceptions), std::end(kExceptions), i,
                         [](const CoefficientException& e, int wanted) { return e.row < wanted; });
    const bool exceptional = exception != std::end(kExceptions) && exception->row == i;
    result.coefficients.push_back(exceptional ? exception->coefficient
                                  : row > 0   ? kCommonCoefficient
                                              : -kCommonCoefficient);
  }
  return std::make_shared<const Regression>(std::move(result));
}

// Cuts the text up to `separator` off the front.
std::string_view cut(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

OptionTexts parse_options(std::string_view text) {
  OptionTexts options;
  while (!text.empty()) {
    std::string_view option = cut(text, ',');
    const std::string_view name = cut(option, '=');
    options.emplace_back(name, option);
  }
  return options;
}

// All but name, type and regression, which differ between the members of a collection.
Model common_part(const BuiltinModel& source, ModelFlags flags) {
  Model model;
  model.normalisation = Model::Normalisation::kLinearRescale;
  const BuiltinScaling& scaling = kScalings[source.scaling];
  model.output = {scaling.slopes[0], scaling.intercepts[0]};
  std::string_view options = source.options;
  for (const std::string_view feature : kFeatureLists[source.features]) {
    if (feature.empty()) break;
    model.features.push_back({std::string(feature), parse_options(cut(options, ';'))});
    const std::size_t line = model.features.size();
    model.lines.push_back({scaling.slopes[line], scaling.intercepts[line]});
  }
  if (!flags.disable_clip) model.clip = {0.0, source.clip_high};
  if (const BuiltinTransform& transform = kTransforms[source.transform]; transform.present) {
    model.transform.emplace();
    model.transform->enabled = transform.enabled || flags.enable_transform;
    model.transform->p0 = transform.p0;
    model.transform->p1 = transform.p1;
    model.transform->p2 = transform.p2;
    model.transform->at_least_input = transform.at_least_input;
  }
  if (source.chroma_correction != 0) model.chroma_correction = source.chroma_correction;
  return model;
}

}  // namespace

std::vector<std::string> builtin_model_names() {
  std::vector<std::string> names;
  for (const BuiltinModel& model : kModels) names.emplace_back(model.name);
  return names;
}

Result<QualityModel> load_builtin_model(std::string_view version, const std::string& name,
                                        ModelFlags flags) {
  const auto* source = std::find_if(std::begin(kModels), std::end(kModels),
                                    [&](const BuiltinModel& m) { return m.name == version; });
  if (source == std::end(kModels)) {
    const std::vector<std::string> names = builtin_model_names();
    const std::string near = nearest_name(version, names);
    return Status(ErrorCode::kUnknownName,
                  fmt::format("there is no built-in model \"{}\"; {}", version,
                              near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                           : fmt::format("did you mean \"{}\"?", near)));
  }
  QualityModel result;
  const Model common = common_part(*source, flags);
  const bool collection = source->regression_count > 1;
  for (int i = 0; i < source->regression_count; ++i) {
    Model model = common;
    model.name = i == 0 ? name : fmt::format("{}_{:04}", name, i);
    model.type = collection ? Model::Type::kBootstrap : Model::Type::kPlain;
    model.regression = expand(kRegressions[source->first_regression + i]);
    if (i == 0)
      result.main = std::move(model);
    else
      result.members.push_back(std::move(model));
  }
  return result;
}

}  // namespace vqx
