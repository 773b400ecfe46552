// Scores of a run: one series per output key, by frame index, in the order of reports.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vqx {

struct Series {
  std::string key;    // storage key, unique in a run
  std::string label;  // what reports print
  std::vector<double> values;
  std::vector<bool> present;  // beside values, by frame index minus Scores::first()

  std::optional<double> at(std::size_t position) const {
    return position < present.size() && present[position] ? std::optional(values[position])
                                                          : std::nullopt;
  }
  void set(std::size_t position, double value);
};

struct Pooled {
  double min = 0;
  double max = 0;
  double mean = 0;
  double harmonic_mean = 0;
};

class Scores {
 public:
  int first() const { return first_; }  // index of the first scored frame
  int frame_count() const {
    return count_;
  }  // scored frame pairs, skipped ones of a subsampling included
  int subsample() const { return subsample_; }  // only indices that are multiples are reported
  bool reported(int index) const { return index % subsample_ == 0; }

  const std::vector<Series>& series() const { return series_; }
  const Series* find(std::string_view key) const;
  const std::vector<std::pair<std::string, double>>& aggregates() const { return aggregates_; }

  // Over all reported frames, in ascending order; empty if one of them lacks a score.
  std::optional<Pooled> pooled(const Series& series) const;
  // The p-quantile (0..1) of the reported scores: the smallest score that at least a share p of the
  // frames does not exceed.
  std::optional<double> quantile(const Series& series, double p) const;

 private:
  friend class Engine;
  std::vector<double> reported_values(const Series& series) const;

  int first_ = 0;
  int count_ = 0;
  int subsample_ = 1;
  std::vector<Series> series_;
  std::vector<std::pair<std::string, double>> aggregates_;
};

}  // namespace vqx
