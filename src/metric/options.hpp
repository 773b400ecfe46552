// Options of metrics: what exists, and the values of one request.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "vqx/status.hpp"

namespace vqx {

enum class OptionType { kBool, kInt, kReal, kText };

struct OptionSpec {
  std::string_view name;
  std::string_view alias;  // short name in output keys; empty: the full name
  OptionType type;
  bool in_key;               // part of the output key when it differs from its default
  std::string_view initial;  // default, as text; need not lie in the range
  double min = 0;            // inclusive range of a given kInt or kReal value
  double max = 0;
  std::string_view choices;  // of a kText option, separated by '|'; empty: any text
  std::string_view help;     // one line
};

using OptionValue = std::variant<bool, int, double, std::string>;

// Texts as given: name and value.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

// The complete values of one request, defaults filled in.
class Options {
 public:
  Options(std::span<const OptionSpec> specs, std::vector<OptionValue> values)
      : specs_(specs), values_(std::move(values)) {}

  // `name` must be one of the metric's options with that type.
  bool flag(std::string_view name) const { return std::get<bool>(value(name)); }
  int integer(std::string_view name) const { return std::get<int>(value(name)); }
  double real(std::string_view name) const { return std::get<double>(value(name)); }
  const std::string& text(std::string_view name) const {
    return std::get<std::string>(value(name));
  }

  std::span<const OptionSpec> specs() const { return specs_; }
  const std::vector<OptionValue>& values() const { return values_; }
  friend bool operator==(const Options& a, const Options& b) { return a.values_ == b.values_; }

  // "_label_value" for each in_key option that differs from its default, by ascending full name.
  std::string key_suffix() const;
  // "name=value:name=value" of the options that differ from their defaults.
  std::string text() const;

 private:
  const OptionValue& value(std::string_view name) const;

  std::span<const OptionSpec> specs_;
  std::vector<OptionValue> values_;
};

// Parses as libvmaf does: leading number of the text (a zero must be spelt with a leading 0),
// booleans exactly true or false, range checked.  Names that do not exist are reported in `unknown`
// and otherwise ignored.  `metric` is for messages.
Result<Options> parse_options(std::string_view metric, std::span<const OptionSpec> specs,
                              const OptionTexts& texts, std::vector<std::string>* unknown);

// A wholly numeric text becomes the "%g" of its binary32 value, as libvmaf stores it; other texts
// stay as they are.
std::string normalise_option_text(const std::string& text);

// The candidate nearest to `name` by edit distance; empty when none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace vqx
