// Quality models: from the features of a frame pair to one number (spec: model.md).
//
//   features -> linear normalisation -> chroma correction -> support-vector regression ->
//   inverse normalisation -> score transform -> clip
//
// (VMAF: Li et al., "Toward a practical perceptual video quality metric", 2016.)  A collection
// holds a main model and members trained on resampled data; their spread gives a confidence
// interval. All arithmetic is binary64 in the order of the specification; exp is correctly rounded.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metric/options.hpp"
#include "model/regression.hpp"
#include "vqx/status.hpp"

namespace vqx {

inline constexpr std::string_view kDefaultModel = "vmaf_v0.6.1";

struct ModelFlags {
  bool disable_clip = false;
  bool enable_transform = false;  // also where the model leaves its transform off
};

// An input: a long feature name and the options of the metric that provides it.
struct ModelFeature {
  std::string name;
  OptionTexts options;
};

struct ScoreTransform {
  bool enabled = false;
  std::optional<double> p0, p1, p2;              // polynomial
  std::vector<std::pair<double, double>> knots;  // piecewise-linear map
  bool at_least_input = false;                   // out_gte_in
  bool at_most_input = false;                    // out_lte_in

  double operator()(double score) const;
};

class Model {
 public:
  enum class Type { kUnknown, kPlain, kBootstrap, kResidueBootstrap };
  enum class Normalisation { kUnknown, kNone, kLinearRescale };
  struct Line {
    double slope = 0;
    double intercept = 0;
  };

  std::string name;
  Type type = Type::kUnknown;
  Normalisation normalisation = Normalisation::kUnknown;
  std::vector<ModelFeature> features;
  std::vector<Line> lines;  // one per feature
  Line output;
  std::shared_ptr<const Regression> regression;
  std::optional<std::pair<double, double>> clip;
  std::optional<ScoreTransform> transform;
  std::optional<double> chroma_correction;

  // Sets one option of every feature that `metric` provides; numbers are normalised as in files.
  void overload(std::string_view metric, const std::string& option, const std::string& value);

  // The score for feature values in the order of `features`.  kInvalidArgument when the model
  // cannot predict (model.md: no norm_type, two chroma targets, ...).
  Result<double> predict(std::span<const double> values) const;

  // predict() in two halves: the regression, and transform and clip.
  Result<double> regress(std::span<const double> values) const;
  double shape(double score) const;

 private:
  double normalise(std::size_t feature, double value) const;
  double denormalise(std::size_t feature, double value) const;
  Status correct_chroma(std::span<double> x) const;
};

// What a file or a built-in name holds: one model, or a collection.
struct QualityModel {
  Model main;
  std::vector<Model> members;  // empty: a single model

  bool is_collection() const { return !members.empty(); }
  void overload(std::string_view metric, const std::string& option, const std::string& value);

  // The scores of a collection: each member, then the statistics, in the order of reports.
  // predict_collection() takes the values of each member's features, one member after the other.
  std::vector<std::string> collection_keys() const;
  Status predict_collection(std::span<const double> values, std::span<double> scores) const;
};

// Names of the built-in models, the default first.
std::vector<std::string> builtin_model_names();

// `name` is the key of the score.  kUnknownName suggests the nearest name.
Result<QualityModel> load_builtin_model(std::string_view version, const std::string& name,
                                        ModelFlags flags);

// A model or a collection in libvmaf's JSON format.  kInput names the file and the key that is
// wrong.
Result<QualityModel> load_model_file(const std::string& path, const std::string& name,
                                     ModelFlags flags);
Result<QualityModel> parse_model(std::string_view json, const std::string& name, ModelFlags flags);

}  // namespace vqx
