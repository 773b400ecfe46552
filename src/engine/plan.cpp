#include "engine/plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace vqx {
namespace {

std::string known_metrics() {
  std::string names;
  for (const MetricInfo* info : metrics())
    names += (names.empty() ? "" : ", ") + std::string(info->name);
  return names;
}

Status unknown_metric(const std::string& name) {
  std::vector<std::string> candidates;
  for (const MetricInfo* info : metrics()) candidates.emplace_back(info->name);
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty())
    return Status(ErrorCode::kUnknownName,
                  fmt::format("there is no metric \"{}\"; did you mean \"{}\"?", name, nearest));
  return Status(ErrorCode::kUnknownName,
                fmt::format("there is no metric \"{}\"; there are {}", name, known_metrics()));
}

Needs larger(const Needs& a, const Needs& b) {
  return {std::max(a.pictures_before, b.pictures_before),
          std::max(a.measured_before, b.measured_before),
          std::max(a.measured_after, b.measured_after), a.contiguous || b.contiguous};
}

}  // namespace

BackendName split_backend_name(const std::string& name) {
  for (const char* backend : {"cuda", "hip", "sycl", "host"}) {
    const std::string suffix = std::string("_") + backend;
    if (name.size() > suffix.size() && name.ends_with(suffix) && find_metric(name) == nullptr)
      return {name.substr(0, name.size() - suffix.size()), backend};
  }
  return {name, ""};
}

Result<Options> PlanBuilder::parse(const MetricInfo& info, const OptionTexts& options,
                                   bool strict) {
  std::vector<std::string> unknown;
  VQX_ASSIGN_OR_RETURN(Options parsed, parse_options(info.name, info.options, options, &unknown));
  for (const std::string& name : unknown) {
    std::vector<std::string> candidates;
    for (const OptionSpec& spec : info.options) candidates.emplace_back(spec.name);
    const std::string nearest = nearest_name(name, candidates);
    std::string message = fmt::format("{} has no option \"{}\"", info.name, name);
    if (!nearest.empty()) message += fmt::format("; did you mean \"{}\"?", nearest);
    if (strict) return Status(ErrorCode::kUnknownName, message);
    plan_.warnings.push_back(message);
  }
  return parsed;
}

Status PlanBuilder::insert(const MetricInfo& info, Options options) {
  const std::string suffix = options.key_suffix();
  for (const Instance& present : plan_.instances) {
    if (present.info != &info || present.options.key_suffix() != suffix) continue;
    if (present.options == options) return {};
    const std::string message = fmt::format(
        "{} is requested twice with different options but the same output keys", info.name);
    if (strict_) return Status(ErrorCode::kInvalidArgument, message);
    plan_.warnings.push_back(message + "; the first request counts");
    return {};
  }
  plan_.instances.push_back(Instance{&info, std::move(options), 0, 0, {}, {}});
  return {};
}

Status PlanBuilder::add(const std::string& metric, const OptionTexts& options) {
  const MetricInfo* info = find_metric(metric);
  if (info == nullptr) return unknown_metric(metric);
  VQX_ASSIGN_OR_RETURN(Options parsed, parse(*info, options, strict_));
  return insert(*info, std::move(parsed));
}

Result<std::string> PlanBuilder::add_model_feature(const std::string& feature,
                                                   const OptionTexts& options) {
  const MetricInfo* info = find_metric_of_feature(feature);
  if (info == nullptr)
    return Status(ErrorCode::kUnknownName,
                  fmt::format("could not initialize feature extractor \"{}\"", feature));
  // A model may carry options of other extractor versions: libvmaf ignores them, and so a model's
  // unknown options never fail.
  VQX_ASSIGN_OR_RETURN(Options parsed, parse_options(info->name, info->options, options, nullptr));
  std::string key = storage_key(feature, parsed.key_suffix());
  const std::string suffix = parsed.key_suffix();
  for (const Instance& present : plan_.instances)
    if (present.info == info && present.options.key_suffix() == suffix) return key;
  plan_.instances.push_back(Instance{info, std::move(parsed), 0, 0, {}, {}});
  return key;
}

Result<Plan> PlanBuilder::build(const VideoFormat& format) && {
  plan_.format = format;
  for (std::size_t i = 0; i < plan_.instances.size(); ++i) {
    Instance& instance = plan_.instances[i];
    auto group = std::find_if(plan_.groups.begin(), plan_.groups.end(),
                              [&](const Group& g) { return g.info == instance.info; });
    if (group == plan_.groups.end()) {
      plan_.groups.push_back(Group{instance.info, nullptr, {}, {}});
      group = std::prev(plan_.groups.end());
    }
    instance.group = static_cast<std::size_t>(group - plan_.groups.begin());
    instance.set = group->instances.size();
    group->instances.push_back(i);
  }
  for (Group& group : plan_.groups) {
    std::vector<Options> sets;
    for (const std::size_t i : group.instances) sets.push_back(plan_.instances[i].options);
    VQX_ASSIGN_OR_RETURN(group.metric, group.info->create(MetricSetup{format, strict_, sets}));
    for (std::size_t set = 0; set < sets.size(); ++set)
      group.needs = larger(group.needs, group.metric->needs(set));
  }
  std::set<std::string> taken;
  for (Instance& instance : plan_.instances) {
    instance.outputs = plan_.groups[instance.group].metric->outputs(instance.set);
    const std::string suffix = instance.options.key_suffix();
    for (const Output& output : instance.outputs) {
      std::string key = storage_key(output.name, output.with_suffix ? suffix : "");
      if (!taken.insert(key).second) {
        const std::string message =
            fmt::format("{}{} would write \"{}\", which another request writes",
                        instance.info->name, suffix, display_key(key));
        if (strict_) return Status(ErrorCode::kInvalidArgument, message);
        plan_.warnings.push_back(message + "; the first request counts");
        key.clear();
      }
      instance.keys.push_back(std::move(key));
    }
  }
  return std::move(plan_);
}

}  // namespace vqx
