#include "cli/vqx_commands.hpp"

#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/simd.hpp"
#include "base/version.hpp"
#include "cli/vqx_score.hpp"
#include "input/sample_pair.hpp"
#include "metric/registry.hpp"
#include "model/model.hpp"

namespace vqx::cli {
namespace {

std::string range_text(const OptionSpec& spec) {
  switch (spec.type) {
    case OptionType::kBool:
      return "true or false";
    case OptionType::kInt:
    case OptionType::kReal:
      return fmt::format("{:g}..{:g}", spec.min, spec.max);
    case OptionType::kText:
      return spec.choices.empty() ? "text" : std::string(spec.choices);
  }
  return "";
}

void print_metric(const MetricInfo& info) {
  fmt::print("{}\n  {}\n", info.name, info.summary);
  for (const OptionSpec& spec : info.options)
    fmt::print("    {:<26} {:<18} default {:<8} {}\n", spec.name, range_text(spec),
               spec.initial.empty() ? "none" : spec.initial, spec.help);
}

int list_metrics(const std::string& name) {
  if (name.empty()) {
    for (const MetricInfo* info : metrics()) print_metric(*info);
    return kExitOk;
  }
  const MetricInfo* info = find_metric(expand_short_name(name));
  if (info == nullptr) {
    std::vector<std::string> names;
    for (const MetricInfo* each : metrics()) names.emplace_back(each->name);
    const std::string nearest = nearest_name(name, names);
    fmt::print(stderr, "vqx: there is no metric \"{}\"{}\n", name,
               nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?");
    return kExitUsage;
  }
  print_metric(*info);
  return kExitOk;
}

int list_models() {
  for (const std::string& name : builtin_model_names())
    fmt::print("{}{}\n", name, name == kDefaultModel ? " (default of vmaf)" : "");
  return kExitOk;
}

int write_sample(const std::string& folder) {
  const Status status =
      input::write_sample_pair(folder + "/reference.y4m", folder + "/distorted.y4m");
  if (!status.ok()) {
    fmt::print(stderr, "vqx: {}\n", status.message());
    return exit_status(status);
  }
  fmt::print("wrote {0}/reference.y4m and {0}/distorted.y4m\n", folder);
  return kExitOk;
}

}  // namespace

std::string version_text() {
  std::string levels;
  for (const SimdLevel level : supported_simd_levels())
    levels += " " + std::string(simd_level_name(level));
  return fmt::format("{}\nSIMD levels of this machine:{} (VQX_SIMD forces one)", kVersionText,
                     levels);
}

class CommandSet::Impl {
 public:
  explicit Impl(CLI::App& app) {
    metrics_ = app.add_subcommand("metrics", "List metrics and their options");
    metrics_->add_option("name", metric_name_, "One metric only");
    models_ = app.add_subcommand("models", "List the built-in VMAF models");
    sample_ = app.add_subcommand("sample", "Write a small sample pair of y4m files");
    sample_->add_option("folder", sample_folder_, "Where to write (default: here)");
    app.require_subcommand(0, 1);
  }
  bool chosen() const { return metrics_->parsed() || models_->parsed() || sample_->parsed(); }
  int run() const {
    if (metrics_->parsed()) return list_metrics(metric_name_);
    if (models_->parsed()) return list_models();
    return write_sample(sample_folder_);
  }

 private:
  CLI::App* metrics_;
  CLI::App* models_;
  CLI::App* sample_;
  std::string metric_name_;
  std::string sample_folder_ = ".";
};

CommandSet::CommandSet(CLI::App& app) : impl_(std::make_unique<Impl>(app)) {}
CommandSet::~CommandSet() = default;
bool CommandSet::chosen() const {
  return impl_->chosen();
}
int CommandSet::run() const {
  return impl_->run();
}

}  // namespace vqx::cli
