// Every metric there is, and the names of its outputs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "metric/metric.hpp"

namespace vqx {

// In the order in which model features search their metric.
std::span<const MetricInfo* const> metrics();
const MetricInfo* find_metric(std::string_view name);                // null: there is none
const MetricInfo* find_metric_of_feature(std::string_view feature);  // by long name; null: none

// The key under which a score is stored and looked up: the long name, or with non-default options
// its alias and their suffix, cut to 255 characters.
std::string storage_key(std::string_view long_name, std::string_view suffix);
// What reports print for a storage key.
std::string display_key(std::string_view key);

}  // namespace vqx
