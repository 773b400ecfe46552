// `vqx`: what a person types.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/simd.hpp"
#include "base/version.hpp"
#include "cli/interrupt.hpp"
#include "cli/vqx_commands.hpp"
#include "cli/vqx_score.hpp"

namespace vqx::cli {
namespace {

// Texts as CLI11 reads them; turned into ScoreOptions afterwards.
struct ScoreTexts {
  std::vector<std::string> features, models, fail_below;
  std::string raw_size, raw_format = "yuv420p", scale_distorted, pixel_format, precision;
  std::string device, fp64 = "auto";
};

std::string quoted_command(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    const std::string word = i == 0 ? "vqx" : argv[i];
    const bool plain = word.find_first_of(" \t\n\"'\\$`*?&|;<>()") == std::string::npos;
    text += (i == 0 ? "" : " ") + (plain && !word.empty() ? word : "'" + word + "'");
  }
  return text;
}

void add_score_options(CLI::App& app, ScoreOptions& options, ScoreTexts& texts) {
  app.add_option("reference", options.reference,
                 "Reference video (y4m, or - for standard input; "
                 "anything FFmpeg opens; raw with --raw-size)");
  app.add_option("distorted", options.distorted, "Distorted video");

  const char* what = "What to measure";
  app.add_option("-f,--feature", texts.features,
                 "Metric, with options as NAME=OPTION=VALUE:...; may be repeated (see vqx metrics)")
      ->group(what)
      ->allow_extra_args(false);
  app.add_option("-m,--model", texts.models,
                 "VMAF model: a built-in name, or version=NAME or path=FILE with further items")
      ->group(what)
      ->allow_extra_args(false);
  app.add_option("--first", options.first, "Index of the first frame to score")
      ->group(what)
      ->check(CLI::NonNegativeNumber);
  app.add_option("--count", options.count, "Number of frames to score (0: all)")
      ->group(what)
      ->check(CLI::NonNegativeNumber);
  app.add_option("--subsample", options.subsample, "Report every N-th frame only")
      ->group(what)
      ->check(CLI::PositiveNumber);

  const char* inputs = "Inputs";
  app.add_option("--raw-size", texts.raw_size, "Both inputs are headerless, of this WIDTHxHEIGHT")
      ->group(inputs);
  app.add_option("--raw-format", texts.raw_format,
                 "Pixel format of headerless inputs, such as yuv420p10 (default yuv420p)")
      ->group(inputs);
  app.add_option("--skip-reference", options.pairing.skip_reference,
                 "Drop the first N frames of the reference")
      ->group(inputs)
      ->check(CLI::NonNegativeNumber);
  app.add_option("--skip-distorted", options.pairing.skip_distorted,
                 "Drop the first N frames of the distorted video")
      ->group(inputs)
      ->check(CLI::NonNegativeNumber);
  app.add_option("--scale-distorted", texts.scale_distorted,
                 "Scale the distorted video to the reference's size: bicubic, lanczos or bilinear")
      ->group(inputs);
  app.add_option("--pixel-format", texts.pixel_format,
                 "Convert both inputs to this pixel format, such as yuv420p10")
      ->group(inputs);
  app.add_flag("--allow-shorter", options.pairing.allow_shorter,
               "Accept inputs of different frame count; score the common part")
      ->group(inputs);
  app.add_flag("--allow-rate-mismatch", options.pairing.allow_rate_mismatch,
               "Accept different frame rates; frames are paired by index")
      ->group(inputs);
  app.add_flag("--allow-aspect-mismatch", options.pairing.allow_aspect_mismatch,
               "Accept different sample aspect ratios")
      ->group(inputs);
  app.add_flag("--allow-colour-mismatch", options.pairing.allow_colour_mismatch,
               "Accept different colour range, matrix or transfer")
      ->group(inputs);
  app.add_flag("--allow-interlaced", options.pairing.allow_interlaced,
               "Score interlaced pictures as they are")
      ->group(inputs);

  const char* results = "Results";
  app.add_option("-o,--output", options.outputs,
                 "Report file; .json, .xml or .csv by its extension; may be repeated")
      ->group(results)
      ->allow_extra_args(false);
  app.add_option("--precision", texts.precision,
                 "Digits in reports: 1..17, max, full or legacy (default: enough to round-trip)")
      ->group(results);
  app.add_option("--fail-below", texts.fail_below,
                 "KEY=VALUE: exit with status 1 if the mean of KEY is below VALUE")
      ->group(results)
      ->allow_extra_args(false);
  app.add_flag("-q,--quiet", options.quiet, "No progress bar")->group(results);

  const char* machine = "Machine";
  app.add_option("-t,--threads", options.threads, "Worker threads (default: all cores)")
      ->group(machine)
      ->check(CLI::Range(1, 1024));
  app.add_option("--frames-in-flight", options.frames_in_flight,
                 "Frame pairs held in memory at once (default: threads + 1)")
      ->group(machine)
      ->check(CLI::PositiveNumber);
  app.add_option("--backend", options.backend.backend,
                 "Where to measure: auto, cpu, host (portable kernels on the CPU), cuda, hip, sycl")
      ->group(machine)
      ->check(CLI::IsMember({"auto", "cpu", "host", "cuda", "hip", "sycl"}));
  app.add_option("--device", texts.device, "Devices of the backend: a number, 0,1,... or all")
      ->group(machine);
  app.add_option("--device-fp64", texts.fp64,
                 "Binary64 in kernels: auto, hardware or software; the bits are the same")
      ->group(machine);
  app.add_flag("--profile", options.backend.profile, "Print the device time of each metric")
      ->group(machine);
}

// A bare model name is a built-in version.
std::string complete_model_text(const std::string& text) {
  const std::string head = text.substr(0, text.find(':'));
  return head.find('=') == std::string::npos && head != "disable_clip" && head != "enable_transform"
             ? "version=" + text
             : text;
}

Status convert(const ScoreTexts& texts, ScoreOptions& options) {
  for (const std::string& text : texts.features) {
    VQX_ASSIGN_OR_RETURN(FeatureSpec feature, parse_feature_spec(text));
    feature.name = expand_short_name(feature.name);
    options.features.push_back(std::move(feature));
  }
  std::set<std::string> names;
  for (const std::string& text : texts.models) {
    VQX_ASSIGN_OR_RETURN(ModelSpec model, parse_model_spec(complete_model_text(text)));
    // Several models need several names; a built-in one lends its own.
    if (texts.models.size() > 1 && text.find("name=") == std::string::npos &&
        !model.version.empty())
      model.name = model.version;
    if (!names.insert(model.name).second)
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("two models are named {}; give one another name with name=", model.name));
    options.models.push_back(std::move(model));
  }
  for (const std::string& text : texts.fail_below) {
    VQX_ASSIGN_OR_RETURN(FailBelow limit, parse_fail_below(text));
    options.fail_below.push_back(std::move(limit));
  }
  if (!texts.raw_size.empty()) {
    VQX_ASSIGN_OR_RETURN(options.raw, parse_raw(texts.raw_size, texts.raw_format));
  }
  if (!texts.scale_distorted.empty()) {
    VQX_ASSIGN_OR_RETURN(options.scale_distorted, input::parse_scale_filter(texts.scale_distorted));
  }
  if (!texts.pixel_format.empty()) {
    VQX_ASSIGN_OR_RETURN(options.pixel_format, input::parse_pixel_format(texts.pixel_format));
  }
  if (!texts.precision.empty()) {
    VQX_ASSIGN_OR_RETURN(options.number, output::NumberFormat::parse(texts.precision));
  }
  if (!texts.device.empty()) VQX_RETURN_IF_ERROR(parse_devices(texts.device, options.backend));
  VQX_ASSIGN_OR_RETURN(options.backend.fp64, parse_fp64(texts.fp64));
  if (options.threads == 0)
    options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return {};
}

// CLI11 says which words it could not place; add the nearest option.
std::string suggest(const CLI::App& app, const std::string& message, int argc, char** argv) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  std::string text = message;
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (word.size() < 3 || word.compare(0, 2, "--") != 0) continue;
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    const std::string nearest = nearest_name(word, known);
    if (!nearest.empty()) text += fmt::format("\ndid you mean {}?", nearest);
  }
  return text;
}

int fail(const Status& status) {
  fmt::print(stderr, "vqx: {}\n", status.message());
  return exit_status(status);
}

int run(int argc, char** argv) {
  CLI::App app(
      "vqx measures how close a distorted video is to its reference.\n"
      "  vqx reference.mp4 distorted.mp4\n"
      "  vqx reference.y4m distorted.y4m -f ssim -f cambi -o result.json");
  app.set_version_flag("--version", version_text());
  app.get_formatter()->column_width(36);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  ScoreOptions options;
  ScoreTexts texts;
  add_score_options(app, options, texts);
  const CommandSet commands(app);

  const Status simd = select_simd_level_from_environment();
  if (!simd.ok()) return fail(simd);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "vqx: {}\nRun vqx --help for the options.\n",
               suggest(app, error.what(), argc, argv));
    return kExitUsage;
  }
  if (commands.chosen()) return commands.run();
  if (options.reference.empty() || options.distorted.empty()) {
    fmt::print(stderr,
               "vqx: two videos are needed: vqx REFERENCE DISTORTED\n"
               "Run vqx --help for the options.\n");
    return kExitUsage;
  }
  const Status converted = convert(texts, options);
  if (!converted.ok()) return fail(converted);
  options.command_line = quoted_command(argc, argv);
  catch_interrupts();
  return run_score(options);
}

}  // namespace
}  // namespace vqx::cli

int main(int argc, char** argv) {
  try {
    return vqx::cli::run(argc, argv);
  } catch (const std::exception& error) {
    // CLI11 and the standard library throw; vqx itself does not.
    std::fprintf(stderr, "vqx: %s\n", error.what());
    return 70;
  }
}
