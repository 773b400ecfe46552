#include "model/model.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "metric/registry.hpp"

namespace vqx {
namespace {

// Later segments overwrite earlier ones at a shared knot; a falling or vertical one ends the map.
double piecewise_linear(const std::vector<std::pair<double, double>>& knots, double x) {
  if (knots.size() < 2) return x;
  double result = 0;
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const auto [x0, y0] = knots[i];
    const auto [x1, y1] = knots[i + 1];
    if (!(x0 < x1 && y0 <= y1)) break;
    const bool inside = x0 <= x && x <= x1;
    const bool below = i == 0 && x < x0;
    const bool above = i + 2 == knots.size() && x > x1;
    if (!inside && !below && !above) continue;
    if (y0 == y1) {
      result = y0;
    } else if (x0 == 0) {
      result = (y1 - y0) / x1 * x + y0;
    } else {
      const double slope = (y1 - y0) / (x1 - x0);
      result = slope * x + (y0 - x0 * slope);
    }
  }
  return result;
}

// Of an ascending, non-empty sequence.
double percentile(const std::vector<double>& sorted, double percent) {
  const double position = percent * static_cast<double>(sorted.size() - 1) / 100.0;
  const double low = std::floor(position);
  const double high = std::ceil(position);
  const double at_low = sorted[static_cast<std::size_t>(low)];
  if (low == high) return at_low;
  return at_low * (high - position) + sorted[static_cast<std::size_t>(high)] * (position - low);
}

Status cannot_predict(const std::string& model, std::string_view why) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("model \"{}\": {}", model, why));
}

void set_option(OptionTexts& options, const std::string& name, const std::string& text) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const auto& option) { return option.first == name; });
  if (found == options.end())
    options.emplace_back(name, text);
  else
    found->second = text;
}

}  // namespace

double ScoreTransform::operator()(double score) const {
  double result = score;
  if (p0 || p1 || p2) {
    result = 0;
    if (p0) result += *p0;
    if (p1) result += *p1 * score;
    if (p2) result += *p2 * score * score;
  }
  result = piecewise_linear(knots, result);
  if (at_most_input && result > score) result = score;
  if (at_least_input && result < score) result = score;
  return result;
}

void Model::overload(std::string_view metric, const std::string& option, const std::string& value) {
  for (ModelFeature& feature : features) {
    const MetricInfo* info = find_metric_of_feature(feature.name);
    if (info != nullptr && info->name == metric)
      set_option(feature.options, option, normalise_option_text(value));
  }
}

double Model::normalise(std::size_t feature, double value) const {
  if (normalisation != Normalisation::kLinearRescale) return value;
  return lines[feature].slope * value + lines[feature].intercept;
}

double Model::denormalise(std::size_t feature, double value) const {
  if (normalisation != Normalisation::kLinearRescale) return value;
  return (value - lines[feature].intercept) / lines[feature].slope;
}

// A picture without chroma content, whose chroma score is exactly 0, borrows its chroma distortion
// from the luma detail loss.
Status Model::correct_chroma(std::span<double> x) const {
  std::optional<double> guide;
  std::optional<std::size_t> target;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].name.find("adm3") != std::string::npos) {
      if (guide) return cannot_predict(name, "chroma correction with more than one adm3 feature");
      guide = denormalise(i, x[i]);
    }
    if (features[i].name.find("speed_chroma") != std::string::npos) {
      if (target)
        return cannot_predict(name, "chroma correction with more than one speed_chroma feature");
      if (denormalise(i, x[i]) != 0) return {};
      target = i;
    }
  }
  if (!guide || !target)
    return cannot_predict(name, "chroma correction needs an adm3 and a speed_chroma feature");
  x[*target] = normalise(*target, -*chroma_correction * *guide + *chroma_correction);
  return {};
}

Result<double> Model::regress(std::span<const double> values) const {
  assert(values.size() == features.size());
  if (normalisation == Normalisation::kUnknown) return cannot_predict(name, "norm_type is missing");
  if (chroma_correction && *chroma_correction == 0)
    return cannot_predict(name, "chroma_correction_parameter is 0");
  std::vector<double> x(values.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = normalise(i, values[i]);
  if (chroma_correction) VQX_RETURN_IF_ERROR(correct_chroma(x));
  const double y = (*regression)(x);
  if (normalisation != Normalisation::kLinearRescale) return y;
  return (y - output.intercept) / output.slope;
}

double Model::shape(double score) const {
  if (transform && transform->enabled) score = (*transform)(score);
  if (clip) {
    if (score < clip->first) score = clip->first;
    if (score > clip->second) score = clip->second;
  }
  return score;
}

Result<double> Model::predict(std::span<const double> values) const {
  VQX_ASSIGN_OR_RETURN(const double score, regress(values));
  return shape(score);
}

void QualityModel::overload(std::string_view metric, const std::string& option,
                            const std::string& value) {
  main.overload(metric, option, value);
  for (Model& member : members) member.overload(metric, option, value);
}

std::vector<std::string> QualityModel::collection_keys() const {
  std::vector<std::string> keys;
  for (const Model& member : members) keys.push_back(member.name);
  for (const char* suffix : {"_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi"})
    keys.push_back(main.name + suffix);
  return keys;
}

Status QualityModel::predict_collection(std::span<const double> values,
                                        std::span<double> scores) const {
  assert(is_collection() && scores.size() == members.size() + 4);
  const Model::Type type = members.front().type;
  if (type != Model::Type::kBootstrap && type != Model::Type::kResidueBootstrap)
    return cannot_predict(main.name, "the members of the collection are not bootstrap models");
  std::vector<double> raw;
  raw.reserve(members.size());
  for (const Model& member : members) {
    VQX_ASSIGN_OR_RETURN(const double score, member.regress(values.first(member.features.size())));
    values = values.subspan(member.features.size());
    scores[raw.size()] = member.shape(score);
    raw.push_back(score);
  }
  const auto count = static_cast<double>(raw.size());
  double total = 0;
  for (const double score : raw) total += score;
  const double mean = total / count;
  double squares = 0;
  for (const double score : raw) squares += (score - mean) * (score - mean);
  const double deviation = std::sqrt(squares / count);
  // NaN sorts last: an order must be total.
  std::sort(raw.begin(), raw.end(),
            [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });

  const Model& shaping = members.front();
  constexpr double kDelta = 0.01;
  const double slope =
      (shaping.shape(mean + kDelta) - shaping.shape(mean - kDelta)) / (2.0 * kDelta);
  const std::span<double> statistics = scores.last(4);
  statistics[0] = shaping.shape(mean);
  statistics[1] = deviation * slope;
  statistics[2] = shaping.shape(percentile(raw, 2.5));
  statistics[3] = shaping.shape(percentile(raw, 97.5));
  return {};
}

}  // namespace vqx
