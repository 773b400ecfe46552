#include "vqx/scores.hpp"

#include <algorithm>
#include <cmath>

namespace vqx {

void Series::set(std::size_t position, double value) {
  if (position >= values.size()) {
    values.resize(position + 1);
    present.resize(position + 1);
  }
  values[position] = value;
  present[position] = true;
}

const Series* Scores::find(std::string_view key) const {
  for (const Series& series : series_)
    if (series.key == key || series.label == key) return &series;
  return nullptr;
}

std::vector<double> Scores::reported_values(const Series& series) const {
  std::vector<double> values;
  for (int i = 0; i < count_; ++i) {
    if (!reported(first_ + i)) continue;
    const std::optional<double> value = series.at(static_cast<std::size_t>(i));
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

std::optional<Pooled> Scores::pooled(const Series& series) const {
  const std::vector<double> values = reported_values(series);
  if (values.empty()) return std::nullopt;
  Pooled pooled;
  pooled.min = pooled.max = values.front();
  double sum = 0;
  double inverse_sum = 0;
  for (const double value : values) {
    // Strict comparisons: a NaN that comes first stays, a later one is never taken.
    if (value < pooled.min) pooled.min = value;
    if (value > pooled.max) pooled.max = value;
    sum += value;
    inverse_sum += 1.0 / (value + 1.0);
  }
  const auto count = static_cast<double>(values.size());
  pooled.mean = sum / count;
  pooled.harmonic_mean = count / inverse_sum - 1.0;
  return pooled;
}

std::optional<double> Scores::quantile(const Series& series, double p) const {
  std::vector<double> values = reported_values(series);
  if (values.empty() ||
      std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }))
    return std::nullopt;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(p * static_cast<double>(values.size()));
  const auto position = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return values[std::min(position, values.size() - 1)];
}

}  // namespace vqx
