// Any lines as the arguments of both programs, up to the point where a run would begin: every
// parser, the options of every metric, and the construction of the metrics asked for.
//
// vqx_main.cpp is compiled into this target with the names of what follows the parsing replaced,
// so that nothing is opened, written or scored.
#include <unistd.h>

#include <getopt.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/vmaf_options.hpp"
#include "cli/vqx_score.hpp"
#include "engine/backend_choice.hpp"
#include "engine/model_set.hpp"
#include "engine/plan.hpp"

int vqx_main_for_fuzzing(int argc, char** argv);

namespace vqx::cli {
namespace {

// A refusal says why.
bool accepted(const Status& status) {
  if (!status.ok() && status.message().empty()) std::abort();
  return status.ok();
}

// What the text of an option set says is that option set.
void check_option_text(const Instance& instance) {
  OptionTexts texts;
  std::string text = instance.options.text();
  for (const OptionValue& value : instance.options.values())
    if (const auto* given = std::get_if<std::string>(&value))
      if (given->find_first_of(":=") != std::string::npos) return;  // text() does not escape
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    texts.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    begin = end + 1;
  }
  const auto again =
      parse_options(instance.info->name, instance.info->options, texts, /*unknown=*/nullptr);
  if (!again.ok() || !(*again == instance.options)) std::abort();
}

// As both programs plan a run.
void plan(std::vector<FeatureSpec> features, const std::vector<ModelSpec>& models, bool strict) {
  BackendChoice backend;
  if (!accepted(take_backends_from_names(features, backend))) return;
  PlanBuilder builder(strict);
  ModelSet loaded;
  for (const ModelSpec& model : models) {
    if (model.version.empty()) continue;  // files have a target of their own
    std::string step;
    if (!accepted(loaded.add(model, builder, step))) return;
  }
  for (const FeatureSpec& feature : features)
    if (!accepted(builder.add(feature.name, feature.options))) return;
  const Result<Plan> plan = std::move(builder).build(VideoFormat{320, 200, ChromaFormat::k420, 10});
  if (!accepted(plan.status())) return;
  for (const Instance& instance : plan->instances) check_option_text(instance);
}

}  // namespace

int run_score_for_fuzzing(const ScoreOptions& options) {
  plan(options.features, options.models, /*strict=*/true);
  return 0;
}

void catch_interrupts_for_fuzzing() {}

}  // namespace vqx::cli

namespace {

// Commands that write files, open devices or run for minutes.
bool has_effects(const std::string& word) {
  return word == "sample" || word == "devices" || word == "verify";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words = {"program"};
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    words.emplace_back(line.substr(0, line.find('\0')));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  const auto arguments = [&words] {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
  };
  const int count = static_cast<int>(words.size());

  std::vector<char*> argv = arguments();  // getopt reorders it
  const auto options = vqx::cli::parse_vmaf_options(count, argv.data());
  if (vqx::cli::accepted(options.status()))
    vqx::cli::plan(options->features, options->models, /*strict=*/false);

  if (std::none_of(words.begin(), words.end(), has_effects)) {
    argv = arguments();
    vqx_main_for_fuzzing(count, argv.data());
  }
  for (const std::string& word : words) {
    const std::string normal = vqx::normalise_option_text(word);
    if (vqx::normalise_option_text(normal) != normal) std::abort();
  }
  return 0;
}
