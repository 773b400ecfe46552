#include "metric/options.hpp"

#include <locale.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/printf.h>

namespace vqx {
namespace {

// Numbers are read as in the "C" locale, whatever locale the program that uses vqx has set: a
// decimal comma must not change an option.
locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

double leading_real(const std::string& text) {
  return strtod_l(text.c_str(), nullptr, c_locale());
}

OptionValue initial_value(const OptionSpec& spec) {
  const std::string text(spec.initial);
  switch (spec.type) {
    case OptionType::kBool:
      return text == "true";
    case OptionType::kInt:
      return static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
    case OptionType::kReal:
      return leading_real(text);
    case OptionType::kText:
      return text;
  }
  return text;
}

Status bad_value(std::string_view metric, const OptionSpec& spec, const std::string& text,
                 const std::string& accepted) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("{}: {}={} is not accepted; it takes {}",
                                                         metric, spec.name, text, accepted));
}

bool in_choices(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
  return false;
}

Result<OptionValue> parse_value(std::string_view metric, const OptionSpec& spec,
                                const std::string& text) {
  switch (spec.type) {
    case OptionType::kBool:
      if (text != "true" && text != "false") return bad_value(metric, spec, text, "true or false");
      return OptionValue(text == "true");
    case OptionType::kInt: {
      errno = 0;
      const long value = std::strtol(text.c_str(), nullptr, 10);
      const bool zero_spelt = value != 0 || (!text.empty() && text[0] == '0');
      if (errno != 0 || !zero_spelt || static_cast<double>(value) < spec.min ||
          static_cast<double>(value) > spec.max)
        return bad_value(metric, spec, text,
                         fmt::format("an integer from {:g} to {:g}", spec.min, spec.max));
      return OptionValue(static_cast<int>(value));
    }
    case OptionType::kReal: {
      const double value = leading_real(text);
      const bool zero_spelt = value != 0 || (!text.empty() && text[0] == '0');
      // Written so that a NaN is refused too.
      if (!zero_spelt || !(value >= spec.min && value <= spec.max))
        return bad_value(metric, spec, text,
                         fmt::format("a number from {:g} to {:g}", spec.min, spec.max));
      return OptionValue(value);
    }
    case OptionType::kText:
      if (!spec.choices.empty() && !in_choices(spec.choices, text))
        return bad_value(metric, spec, text, "one of " + std::string(spec.choices));
      return OptionValue(text);
  }
  return Status(ErrorCode::kInternal, "option without a type");
}

}  // namespace

const OptionValue& Options::value(std::string_view name) const {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (specs_[i].name == name) return values_[i];
  assert(false && "a metric asked for an option that it does not declare");
  std::abort();
}

std::string Options::key_suffix() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (specs_[i].in_key && values_[i] != initial_value(specs_[i])) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return specs_[a].name < specs_[b].name; });
  std::string suffix;
  for (const std::size_t i : order) {
    suffix += "_";
    suffix += specs_[i].alias.empty() ? specs_[i].name : specs_[i].alias;
    if (const int* n = std::get_if<int>(&values_[i])) suffix += fmt::format("_{}", *n);
    if (const double* d = std::get_if<double>(&values_[i])) suffix += fmt::sprintf("_%g", *d);
    if (const std::string* s = std::get_if<std::string>(&values_[i])) suffix += "_" + *s;
  }
  return suffix;
}

std::string Options::text() const {
  std::string text;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (values_[i] == initial_value(specs_[i])) continue;
    if (!text.empty()) text += ":";
    text += specs_[i].name;
    text += "=";
    if (const bool* b = std::get_if<bool>(&values_[i])) text += *b ? "true" : "false";
    if (const int* n = std::get_if<int>(&values_[i])) text += fmt::format("{}", *n);
    if (const double* d = std::get_if<double>(&values_[i])) text += fmt::format("{}", *d);
    if (const std::string* s = std::get_if<std::string>(&values_[i])) text += *s;
  }
  return text;
}

Result<Options> parse_options(std::string_view metric, std::span<const OptionSpec> specs,
                              const OptionTexts& texts, std::vector<std::string>* unknown) {
  std::vector<OptionValue> values;
  values.reserve(specs.size());
  for (const OptionSpec& spec : specs) values.push_back(initial_value(spec));
  for (const auto& [name, text] : texts) {
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&name = name](const OptionSpec& s) { return s.name == name; });
    if (spec == specs.end()) {
      if (unknown != nullptr) unknown->push_back(name);
      continue;
    }
    VQX_ASSIGN_OR_RETURN(values[static_cast<std::size_t>(spec - specs.begin())],
                         parse_value(metric, *spec, text));
  }
  return Options(specs, std::move(values));
}

std::string normalise_option_text(const std::string& text) {
  if (text.empty()) return text;
  char* end = nullptr;
  const float value = strtof_l(text.c_str(), &end, c_locale());
  if (end == text.c_str()) return text;
  if (text.find_first_not_of(" \t\n\v\f\r", static_cast<std::size_t>(end - text.c_str())) !=
      std::string::npos)
    return text;
  return fmt::sprintf("%g", value);
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t substitute = diagonal + (name[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace vqx
