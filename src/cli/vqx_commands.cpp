#include "cli/vqx_commands.hpp"

#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "backend/backend.hpp"
#include "base/simd.hpp"
#include "base/version.hpp"
#include "cli/terminal.hpp"
#include "cli/vqx_options.hpp"
#include "cli/vqx_score.hpp"
#include "engine/backend_choice.hpp"
#include "input/ffmpeg_source.hpp"
#include "input/sample_pair.hpp"
#include "metric/registry.hpp"
#include "model/model.hpp"
#include "verify/verify.hpp"

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
  const Result<FeatureSpec> request = parse_metric(name);
  if (!request.ok()) return fail(request.status());
  print_metric(*find_metric(split_backend_name(request->name).metric));
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
  if (!status.ok()) return fail(status);
  fmt::print("wrote {0}/reference.y4m and {0}/distorted.y4m\n", folder);
  return kExitOk;
}

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

int list_all_devices() {
  for (const backend::BackendDevices& backend : backend::list_devices()) {
    if (!backend.state.ok())
      fmt::print("{:<5} not available: {}\n", backend.backend, backend.state.message());
    for (const backend::Device& device : backend.devices)
      fmt::print("{:<5} {}: {} ({}), {} of {} free, {} compute units, fp64 in {}, self-test {}\n",
                 backend.backend, device.index, device.name, device.architecture,
                 mebibytes(device.memory_free), mebibytes(device.memory), device.compute_units,
                 device.has_fp64 ? "hardware" : "software",
                 device.self_test.ok()
                     ? fmt::format("passed in {:.0f} ms", device.self_test_seconds * 1e3)
                     : "FAILED: " + device.self_test.message());
  }
  return kExitOk;
}

struct VerifyTexts {
  std::string backend;
  std::string device;
  std::string fp64 = "auto";
  std::vector<std::string> metrics;
  bool small = false;
};

int verify_backend(const VerifyTexts& texts) {
  BackendChoice choice;
  if (!texts.device.empty()) {
    const Status parsed = parse_devices(texts.device, choice);
    if (!parsed.ok()) return fail(parsed);
  }
  const Result<abi::Fp64> fp64 = parse_fp64(texts.fp64);
  if (!fp64.ok()) return fail(fp64.status());
  verify::VerifyOptions options;
  options.device.backend = texts.backend;
  options.device.devices = choice.devices;
  options.device.all_devices = choice.all_devices;
  options.device.fp64 = *fp64;
  options.large = !texts.small;
  for (const std::string& metric : texts.metrics)
    options.metrics.push_back(expand_short_name(metric));
  bool equal = true;
  const auto results = verify::verify(options, [&](const verify::MetricResult& result) {
    fmt::print("{}\n", verify::to_text(result));
    std::fflush(stdout);
    equal = equal && result.difference.empty();
  });
  if (!results.ok()) return fail(results.status());
  if (results->empty()) {
    complain(fmt::format("backend {} has none of the metrics asked for", texts.backend));
    return kExitUsage;
  }
  fmt::print("{}: {}\n", texts.backend, equal ? "all equal to the CPU" : "DIFFERS from the CPU");
  return equal ? kExitOk : kExitBelow;
}

}  // namespace

std::string version_text() {
  std::string levels;
  for (const SimdLevel level : supported_simd_levels())
    levels += " " + std::string(simd_level_name(level));
  std::string backends = "cpu, host";
  for (const char* name : {"cuda", "hip", "sycl"})
    if (backend::load_backend(name).ok()) backends += std::string(", ") + name;
  const Result<std::string> ffmpeg = input::ffmpeg_versions();
  return fmt::format("{}\nSIMD levels of this machine:{} (VQX_SIMD forces one)\nbackends: {}\n{}",
                     kVersionText, levels, backends,
                     ffmpeg.ok() ? *ffmpeg : "FFmpeg inputs: " + ffmpeg.status().message());
}

class CommandSet::Impl {
 public:
  explicit Impl(CLI::App& app) {
    metrics_ = app.add_subcommand("metrics", "List metrics and their options");
    metrics_->add_option("name", metric_name_, "One metric only");
    models_ = app.add_subcommand("models", "List the built-in VMAF models");
    sample_ = app.add_subcommand("sample", "Write a small sample pair of y4m files");
    sample_->add_option("folder", sample_folder_, "Where to write (default: here)");
    devices_ = app.add_subcommand("devices", "List backends and devices, each tested");
    verify_ = app.add_subcommand(
        "verify", "Compare a backend with the CPU, bit for bit, over the table of cases");
    verify_->add_option("--backend", verify_texts_.backend, "host, cuda, hip or sycl")->required();
    verify_->add_option("--device", verify_texts_.device, "A number, 0,1,... or all");
    verify_->add_option("--device-fp64", verify_texts_.fp64, "auto, hardware or software");
    verify_->add_option("-f,--feature", verify_texts_.metrics, "Only this metric; repeatable");
    verify_->add_flag("--small", verify_texts_.small, "Leave out 1080p and 4K pictures");
    for (CLI::App* command : app.get_subcommands({})) command->group("Commands");
    app.require_subcommand(0, 1);
  }
  bool chosen() const {
    return metrics_->parsed() || models_->parsed() || sample_->parsed() || devices_->parsed() ||
           verify_->parsed();
  }
  int run() const {
    if (metrics_->parsed()) return list_metrics(metric_name_);
    if (models_->parsed()) return list_models();
    if (devices_->parsed()) return list_all_devices();
    if (verify_->parsed()) return verify_backend(verify_texts_);
    return write_sample(sample_folder_);
  }

 private:
  CLI::App* metrics_;
  CLI::App* models_;
  CLI::App* sample_;
  CLI::App* devices_;
  CLI::App* verify_;
  VerifyTexts verify_texts_;
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
