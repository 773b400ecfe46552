// Reads libvmaf's JSON model files (model.md section 1): as strict as libvmaf, but each refusal
// names the key and what would be accepted.
#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/printf.h>
#include <nlohmann/json.hpp>

#include "model/model.hpp"

namespace vqx {
namespace {

using Json = nlohmann::ordered_json;  // members of collections count in document order

constexpr std::size_t kMaxFeatures = 64;
constexpr std::size_t kMaxKnots = 10;

Status malformed(std::string_view key, std::string_view what) {
  return Status(ErrorCode::kInput, fmt::format("\"{}\" {}", key, what));
}

// The text under which libvmaf stores an option value; empty for a value that is not allowed.
std::string option_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return fmt::sprintf("%g", static_cast<float>(value.get<double>()));
  return {};
}

// Watches the parser for what the finished document cannot show: an option given twice in one
// object with different values.
class DuplicateOptions {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
        scopes_.push_back({is_options_array(), {}, {}});
        break;
      case Event::array_start:
        scopes_.push_back({false, scopes_.empty() ? "" : scopes_.back().key, {}});
        break;
      case Event::object_end:
      case Event::array_end:
        scopes_.pop_back();
        break;
      case Event::key:
        scopes_.back().key = parsed.get<std::string>();
        break;
      case Event::value:
        if (!scopes_.empty() && scopes_.back().is_options)
          note(scopes_.back(), option_text(parsed));
        break;
    }
    return true;
  }
  const std::string& conflict() const { return conflict_; }

 private:
  struct Scope {
    bool is_options;
    std::string key;  // the current one; in an array, that of the array
    OptionTexts seen;
  };

  bool is_options_array() const {
    return !scopes_.empty() && scopes_.back().key == "feature_opts_dicts";
  }
  void note(Scope& scope, const std::string& text) {
    for (const auto& [key, earlier] : scope.seen)
      if (key == scope.key && earlier != text) conflict_ = key;
    scope.seen.emplace_back(scope.key, text);
  }

  std::vector<Scope> scopes_;
  std::string conflict_;
};

// The document up to the brace that closes it: what follows is not looked at.
std::string_view first_object(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return text.substr(0, i + 1);
    }
  }
  return text;
}

Result<Json> parse_document(std::string_view text) {
  DuplicateOptions duplicates;
  Json document;
  try {
    document = Json::parse(first_object(text), std::ref(duplicates));
  } catch (const Json::exception& error) {
    return Status(ErrorCode::kInput, fmt::format("not valid JSON: {}", error.what()));
  }
  if (!duplicates.conflict().empty())
    return malformed(duplicates.conflict(), "is given twice with different values");
  if (!document.is_object()) return Status(ErrorCode::kInput, "not a JSON object");
  return document;
}

// One reader per type: each turns the value of `key` into `out`.
Status read(std::string_view key, const Json& value, std::pair<double, double>& out);
Status read(std::string_view key, const Json& value, OptionTexts& out);

Status read(std::string_view key, const Json& value, double& out) {
  if (!value.is_number()) return malformed(key, "must be a number");
  out = value.get<double>();
  return {};
}

Status read(std::string_view key, const Json& value, std::optional<double>& out) {
  return read(key, value, out.emplace());
}

Status read(std::string_view key, const Json& value, std::string& out) {
  if (!value.is_string()) return malformed(key, "must be a string");
  out = value.get<std::string>();
  return {};
}

Status read(std::string_view key, const Json& value, bool& out) {
  if (!value.is_boolean()) return malformed(key, "must be true or false");
  out = value.get<bool>();
  return {};
}

template <class T>
Status read_array(std::string_view key, const Json& value, std::size_t limit, std::vector<T>& out) {
  if (!value.is_array()) return malformed(key, "must be an array");
  if (value.size() > limit) return malformed(key, fmt::format("has more than {} entries", limit));
  for (const Json& entry : value) VQX_RETURN_IF_ERROR(read(key, entry, out.emplace_back()));
  return {};
}

// A knot: [x, y]; missing coordinates are 0.
Status read(std::string_view key, const Json& value, std::pair<double, double>& out) {
  std::vector<double> point;
  VQX_RETURN_IF_ERROR(read_array(key, value, 2, point));
  point.resize(2);
  out = {point[0], point[1]};
  return {};
}

// The options of one feature.
Status read(std::string_view key, const Json& value, OptionTexts& out) {
  if (!value.is_object()) return malformed(key, "must be an array of objects");
  for (const auto& [name, option] : value.items()) {
    if (!option.is_primitive() || option.is_null())
      return malformed(name, "must be a number, a string, true or false");
    out.emplace_back(name, option_text(option));
  }
  return {};
}

Status read_transform(const Json& value, ScoreTransform& out) {
  if (!value.is_object()) return malformed("score_transform", "must be an object");
  for (const auto& [key, entry] : value.items()) {
    if (key == "enabled") VQX_RETURN_IF_ERROR(read(key, entry, out.enabled));
    if (key == "p0") VQX_RETURN_IF_ERROR(read(key, entry, out.p0));
    if (key == "p1") VQX_RETURN_IF_ERROR(read(key, entry, out.p1));
    if (key == "p2") VQX_RETURN_IF_ERROR(read(key, entry, out.p2));
    if (key == "knots") VQX_RETURN_IF_ERROR(read_array(key, entry, kMaxKnots, out.knots));
    if (key == "out_gte_in" || key == "out_lte_in") {
      std::string text;
      VQX_RETURN_IF_ERROR(read(key, entry, text));
      (key == "out_gte_in" ? out.at_least_input : out.at_most_input) = text == "true";
    }
  }
  return {};
}

Status read_clip(const Json& value, Model& model) {
  if (!value.is_array() || value.size() < 2 || !value[0].is_number() || !value[1].is_number())
    return malformed("score_clip", "must be an array that begins with two numbers");
  model.clip = {value[0].get<double>(), value[1].get<double>()};
  return {};
}

template <class Value>
Status read_choice(std::string_view key, const Json& value,
                   std::initializer_list<std::pair<std::string_view, Value>> choices, Value& out) {
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) {
      out = choice;
      return {};
    }
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
  }
  return malformed(key, "must be one of " + names);
}

Status read_regression(const Json& value, Model& model) {
  std::string text;
  VQX_RETURN_IF_ERROR(read("model", value, text));
  Result<Regression> regression = parse_regression(text);
  if (!regression.ok())
    return malformed("model", "holds no usable " + regression.status().message());
  model.regression = std::make_shared<const Regression>(std::move(*regression));
  return {};
}

// Entries as they stand in the file; finish() brings them into the shape of a Model.
struct RawModel {
  std::vector<double> slopes, intercepts;  // the output's first
  std::vector<std::string> features;
  std::vector<OptionTexts> options;
};

Status read_entry(std::string_view key, const Json& value, ModelFlags flags, RawModel& raw,
                  Model& model) {
  using Type = Model::Type;
  using Normalisation = Model::Normalisation;
  if (key == "model_type")
    return read_choice<Type>(key, value,
                             {{"LIBSVMNUSVR", Type::kPlain},
                              {"BOOTSTRAP_LIBSVMNUSVR", Type::kBootstrap},
                              {"RESIDUEBOOTSTRAP_LIBSVMNUSVR", Type::kResidueBootstrap}},
                             model.type);
  if (key == "norm_type")
    return read_choice<Normalisation>(
        key, value,
        {{"linear_rescale", Normalisation::kLinearRescale}, {"none", Normalisation::kNone}},
        model.normalisation);
  if (key == "slopes") return read_array(key, value, kMaxFeatures + 1, raw.slopes);
  if (key == "intercepts") return read_array(key, value, kMaxFeatures + 1, raw.intercepts);
  if (key == "feature_names") return read_array(key, value, kMaxFeatures, raw.features);
  if (key == "feature_opts_dicts") return read_array(key, value, kMaxFeatures, raw.options);
  if (key == "model") return read_regression(value, model);
  if (key == "score_clip" && !flags.disable_clip) return read_clip(value, model);
  if (key == "score_transform") return read_transform(value, model.transform.emplace());
  if (key == "chroma_correction_parameter") return read(key, value, model.chroma_correction);
  return {};
}

bool has_feature(const Model& model, std::string_view part) {
  for (const ModelFeature& feature : model.features)
    if (feature.name.find(part) != std::string::npos) return true;
  return false;
}

Status finish(RawModel raw, ModelFlags flags, Model& model) {
  if (model.regression == nullptr) return malformed("model", "is missing");
  raw.slopes.resize(kMaxFeatures + 1);
  raw.intercepts.resize(kMaxFeatures + 1);
  raw.options.resize(raw.features.size());
  model.output = {raw.slopes[0], raw.intercepts[0]};
  for (std::size_t i = 0; i < raw.features.size(); ++i) {
    model.features.push_back({std::move(raw.features[i]), std::move(raw.options[i])});
    model.lines.push_back({raw.slopes[i + 1], raw.intercepts[i + 1]});
  }
  if (model.transform && flags.enable_transform) model.transform->enabled = true;
  if (model.chroma_correction.value_or(0) != 0 &&
      !(has_feature(model, "adm3") && has_feature(model, "speed_chroma")))
    return malformed("chroma_correction_parameter", "needs an adm3 and a speed_chroma feature");
  return {};
}

// A single-model object: {"model_dict": {...}, ...}.
Result<Model> read_model(const Json& object, std::string name, ModelFlags flags) {
  if (!object.is_object() || !object.contains("model_dict"))
    return malformed("model_dict", "is missing");
  const Json& dict = object["model_dict"];
  if (!dict.is_object()) return malformed("model_dict", "must be an object");
  Model model;
  model.name = std::move(name);
  RawModel raw;
  for (const auto& [key, value] : dict.items())
    VQX_RETURN_IF_ERROR(read_entry(key, value, flags, raw, model));
  VQX_RETURN_IF_ERROR(finish(std::move(raw), flags, model));
  return model;
}

// Members count up from "0" in document order; keys that are out of turn are skipped.
Result<QualityModel> read_collection(const Json& document, const std::string& name,
                                     ModelFlags flags) {
  QualityModel result;
  int count = 0;
  for (const auto& [key, value] : document.items()) {
    if (key != std::to_string(count) || count > 9999) continue;
    Result<Model> model =
        read_model(value, count == 0 ? name : fmt::format("{}_{:04}", name, count), flags);
    if (!model.ok())
      return Status(ErrorCode::kInput,
                    fmt::format("member \"{}\": {}", key, model.status().message()));
    if (count == 0)
      result.main = std::move(*model);
    else
      result.members.push_back(std::move(*model));
    ++count;
  }
  if (count == 0) return malformed("model_dict", "is missing");
  if (result.members.empty()) return malformed("1", "is missing: a collection needs a member");
  for (const Model& member : result.members)
    if (member.type != result.members.front().type)
      return malformed("model_type", "must be the same in all members of a collection");
  return result;
}

}  // namespace

Result<QualityModel> parse_model(std::string_view json, const std::string& name, ModelFlags flags) {
  VQX_ASSIGN_OR_RETURN(const Json document, parse_document(json));
  if (!document.contains("model_dict")) return read_collection(document, name, flags);
  QualityModel result;
  VQX_ASSIGN_OR_RETURN(result.main, read_model(document, name, flags));
  return result;
}

Result<QualityModel> load_model_file(const std::string& path, const std::string& name,
                                     ModelFlags flags) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(ErrorCode::kInput, fmt::format("{}: cannot open the model file", path));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad())
    return Status(ErrorCode::kInput, fmt::format("{}: cannot read the model file", path));
  Result<QualityModel> model = parse_model(text, name, flags);
  if (!model.ok())
    return Status(model.status().code(), fmt::format("{}: {}", path, model.status().message()));
  return model;
}

}  // namespace vqx
