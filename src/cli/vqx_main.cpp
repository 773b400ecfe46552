// `vqx`: what a person types.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/simd.hpp"
#include "base/version.hpp"
#include "cli/interrupt.hpp"
#include "cli/terminal.hpp"
#include "cli/vqx_commands.hpp"
#include "cli/vqx_score.hpp"
#include "engine/engine.hpp"

namespace vqx::cli {
namespace {

// Texts as CLI11 reads them; turned into ScoreOptions afterwards.
struct ScoreTexts {
  std::vector<std::string> features, models, fail_below;
  std::string raw_size, raw_format, scale_distorted, pixel_format, precision;
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
                 "Reference video: y4m (- for standard input), anything FFmpeg opens, or raw with "
                 "--raw-size")
      ->option_text(" ");
  app.add_option("distorted", options.distorted, "Distorted video, likewise")->option_text(" ");

  const char* group = "What to measure";
  const auto add = [&](const char* names, auto& target, const char* value, const char* help) {
    return app.add_option(names, target, help)->group(group)->option_text(value);
  };
  const auto repeatable = [&](const char* names, std::vector<std::string>& target,
                              const char* value, const char* help) {
    add(names, target, value, help)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  const auto flag = [&](const char* names, bool& target, const char* help) {
    app.add_flag(names, target, help)->group(group);
  };

  repeatable("-f,--feature", texts.features, "METRIC",
             "Metric, with options as METRIC=OPTION=VALUE:...; repeatable (see vqx metrics)");
  repeatable("-m,--model", texts.models, "MODEL",
             "VMAF model: a name of vqx models, or path=FILE, with further items; repeatable");
  add("--first", options.first, "N", "Index of the first frame to score")
      ->check(CLI::Range(0, kMaxFrames));
  add("--count", options.count, "N", "Number of frames to score (0: all)")
      ->check(CLI::Range(0, kMaxFrames));
  add("--subsample", options.subsample, "N", "Report every N-th frame only")
      ->check(CLI::Range(1, kMaxFrames));

  group = "Inputs";
  add("--raw-size", texts.raw_size, "WxH", "Both inputs are headerless, of this size");
  add("--raw-format", texts.raw_format, "FORMAT",
      "Pixel format of headerless inputs, such as yuv420p10 (default yuv420p)");
  add("--skip-reference", options.pairing.skip_reference, "N",
      "Drop the first N frames of the reference")
      ->check(CLI::Range(0, kMaxFrames));
  add("--skip-distorted", options.pairing.skip_distorted, "N",
      "Drop the first N frames of the distorted video")
      ->check(CLI::Range(0, kMaxFrames));
  add("--scale-distorted", texts.scale_distorted, "FILTER",
      "Scale the distorted video to the reference's size: bicubic, lanczos or bilinear");
  add("--pixel-format", texts.pixel_format, "FORMAT",
      "Convert both inputs to this pixel format, such as yuv420p10");
  flag("--allow-shorter", options.pairing.allow_shorter,
       "Accept inputs of different frame count; score the common part");
  flag("--allow-rate-mismatch", options.pairing.allow_rate_mismatch,
       "Accept different frame rates; frames are paired by index");
  flag("--allow-aspect-mismatch", options.pairing.allow_aspect_mismatch,
       "Accept different sample aspect ratios");
  flag("--allow-colour-mismatch", options.pairing.allow_colour_mismatch,
       "Accept different colour range, matrix, transfer or primaries");
  flag("--allow-interlaced", options.pairing.allow_interlaced,
       "Score interlaced pictures as they are");

  group = "Results";
  repeatable("-o,--output", options.outputs, "FILE",
             "Report: .json, .xml, .csv or .html by its extension; repeatable");
  add("--precision", texts.precision, "SPEC",
      "Digits in reports: 1..17, max, full or legacy (default: enough to round-trip)");
  repeatable("--fail-below", texts.fail_below, "KEY=VALUE",
             "Exit with status 1 if the mean of KEY is below VALUE; repeatable");
  flag("-q,--quiet", options.quiet, "No progress bar");

  group = "Machine";
  add("-t,--threads", options.threads, "N", "Worker threads (default: all cores)")
      ->check(CLI::Range(1, 1024));
  add("--frames-in-flight", options.frames_in_flight, "N",
      "Frame pairs held in memory at once (default: threads + 1)")
      ->check(CLI::Range(1, 65536));
  add("--backend", options.backend.backend, "NAME",
      "Where to measure: auto, cpu, host (portable kernels on the CPU), cuda, hip, sycl")
      ->check(CLI::IsMember({"auto", "cpu", "host", "cuda", "hip", "sycl"}));
  add("--device", texts.device, "N", "Devices of the backend: a number, 0,1,... or all");
  add("--device-fp64", texts.fp64, "MODE",
      "Binary64 in kernels: auto, hardware or software; the bits are the same");
  flag("--profile", options.backend.profile, "Print the device time of each metric");
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
    VQX_ASSIGN_OR_RETURN(FeatureSpec feature, parse_metric(text));
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
    VQX_ASSIGN_OR_RETURN(
        options.raw,
        parse_raw(texts.raw_size, texts.raw_format.empty() ? "yuv420p" : texts.raw_format));
  } else if (!texts.raw_format.empty()) {
    return Status(ErrorCode::kInvalidArgument, "--raw-format needs --raw-size WxH beside it");
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

// CLI11's own layout, with a short usage line and no doubled blank lines.
class HelpLayout : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_parent() != nullptr) return CLI::Formatter::make_usage(app, std::move(name));
    return "Usage: vqx REFERENCE DISTORTED [OPTIONS]\n       vqx COMMAND\n";
  }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    const std::string text = CLI::Formatter::make_group(std::move(group), is_positional, options);
    return is_positional ? text + "\n" : text.substr(1);
  }
};

std::string nearest_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  return nearest_name(word, known);
}

// Why the words that CLI11 could not place are not accepted; empty: there are none.
std::string unplaced(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(/*recurse=*/true);
  if (words.empty()) return {};
  const auto option = std::find_if(words.begin(), words.end(),
                                   [](const auto& word) { return word.starts_with('-'); });
  if (option == words.end())
    return fmt::format("unexpected argument \"{}\"; two videos are scored at a time",
                       words.front());
  const std::string name = option->substr(0, option->find('='));
  const std::string nearest = nearest_option(app, name);
  return fmt::format("there is no option {}{}", name,
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

// What to say when not both videos are named.
std::string missing_videos(const CLI::App& app, const ScoreOptions& options) {
  std::string text = "two videos are needed: vqx REFERENCE DISTORTED";
  if (options.reference.empty()) return text;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  const std::string nearest = nearest_name(options.reference, commands);
  return nearest.empty() ? text : fmt::format("{}; did you mean vqx {}?", text, nearest);
}

int refuse(const std::string& message) {
  complain(message + "\nRun vqx --help for the options.");
  return kExitUsage;
}

int run(int argc, char** argv) {
  CLI::App app(
      "vqx measures how close a distorted video is to its reference.\n"
      "  vqx reference.mp4 distorted.mp4\n"
      "  vqx reference.y4m distorted.y4m -f ssim -f cambi -o result.html");
  // As a function: it loads every module to see which work here.
  app.set_version_flag("--version", version_text, "Print versions, SIMD levels and backends");
  app.formatter(std::make_shared<HelpLayout>());
  app.get_formatter()->column_width(32);
  app.allow_extras();
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
    return refuse(error.what());
  }
  if (const std::string problem = unplaced(app); !problem.empty()) return refuse(problem);
  if (commands.chosen()) return commands.run();
  if (options.reference.empty() || options.distorted.empty())
    return refuse(missing_videos(app, options));
  const Status converted = convert(texts, options);
  if (!converted.ok()) return fail(converted);
  if (options.reference == "-" && options.distorted == "-")
    return refuse("standard input can be one of the two videos only");
  options.command_line = quoted_command(argc, argv);
  catch_interrupts();
  return run_score(options);
}

}  // namespace
}  // namespace vqx::cli

int main(int argc, char** argv) {
  vqx::cli::open_standard_streams();
  try {
    const int status = vqx::cli::run(argc, argv);
    const vqx::Status written = vqx::cli::flush_standard_output();
    return written.ok() ? status : vqx::cli::fail(written);
  } catch (const std::system_error& error) {
    // fmt::print cannot write.
    vqx::cli::complain(error.what());
    return vqx::cli::kExitOutput;
  } catch (const std::exception& error) {
    // CLI11 and the standard library throw; vqx itself does not.
    vqx::cli::complain(error.what());
    return 70;
  }
}
