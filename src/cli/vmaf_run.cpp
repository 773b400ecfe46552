#include "cli/vmaf_run.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/version.hpp"
#include "cli/interrupt.hpp"
#include "engine/backend_choice.hpp"
#include "engine/engine.hpp"
#include "engine/model_set.hpp"
#include "input/pairing.hpp"
#include "input/video_source.hpp"

namespace vqx::cli {
namespace {

// Exit statuses of libvmaf's tool.
constexpr int kFailure = 255;  // -1 & 255: nothing could be set up
constexpr int kUsage = 1;      // and a backend that was named but does not work
constexpr int kInvalid = 234;  // -EINVAL & 255: a frame could not be read or scored

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string line = fmt::format(format, std::forward<Args>(args)...) + "\n";
  std::fputs(line.c_str(), stderr);
}

struct Sources {
  std::unique_ptr<input::VideoSource> reference;
  std::unique_ptr<input::VideoSource> distorted;
};

// `\r12 frames ⡏⠉ 34.56 FPS` on a terminal, refreshed every ten frames.
class Progress {
 public:
  explicit Progress(bool shown) : shown_(shown) {}

  void begin_frame(int begun) {
    if (!shown_) return;
    if (begun % 10 == 1 && begun > 1) {
      const double seconds = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
      rate_ = seconds > 0 ? begun / seconds : 0;
    }
    static constexpr const char* kGlyphs[] = {"⣾ ", "⣽ ", "⣻ ", "⢿ ", "⡿ ", "⣟ ", "⣯ ", "⣷ "};
    std::fprintf(stderr, "\r%d frame%s %s %.2f FPS\033[K", begun, begun == 1 ? " " : "s",
                 kGlyphs[begun % 8], rate_);
    std::fflush(stderr);
    active_ = true;
  }
  void end() {
    if (active_) std::fputc('\n', stderr);
    active_ = false;
  }

 private:
  bool shown_;
  bool active_ = false;
  double rate_ = 0;
  std::clock_t start_ = std::clock();
};

Result<std::unique_ptr<input::VideoSource>> open_side(
    const VmafOptions& options, const std::string& path,
    const std::shared_ptr<PictureMemory>& memory) {
  input::OpenOptions open;
  open.dialect = input::Dialect::kLibvmaf;
  open.mono_as_420 = true;
  if (options.backend != "cpu") {
    open.read_threads = 8;
    open.memory = memory;
  }
  if (options.raw)
    open.raw = input::RawParameters{options.raw->width, options.raw->height, options.raw->chroma,
                                    static_cast<int>(options.raw->bit_depth)};
  return input::open_source(path, open);
}

std::optional<Sources> open_sources(const VmafOptions& options,
                                    const std::shared_ptr<PictureMemory>& memory) {
  Sources sources;
  for (const bool is_reference : {true, false}) {
    const std::string& path = is_reference ? options.reference : options.distorted;
    auto source = open_side(options, path, memory);
    if (!source.ok()) {
      say("{}", source.status().message());
      say("problem with {} file: {}", is_reference ? "reference" : "distorted", path);
      return std::nullopt;
    }
    for (const std::string& warning : source.value()->info().warnings) say("{}", warning);
    (is_reference ? sources.reference : sources.distorted) = std::move(source).value();
  }
  return sources;
}

bool compatible(const VmafOptions& options, Sources& sources) {
  const std::vector<std::string> problems = input::check_pair_like_libvmaf(
      sources.reference->format(), sources.distorted->format(), options.depths_may_differ);
  for (const std::string& problem : problems) say("{}", problem);
  if (!problems.empty()) {
    say("videos are incompatible, {} problem(s).", problems.size());
    return false;
  }
  const int depth =
      std::max(sources.reference->format().bit_depth, sources.distorted->format().bit_depth);
  for (auto* source : {&sources.reference, &sources.distorted})
    if ((*source)->format().bit_depth < depth)
      *source = input::shift_to_depth(std::move(*source), depth);
  return true;
}

// A line of libvmaf itself, coloured on a terminal.
void say_like_libvmaf(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0)
    say("\033[35mlibvmaf\033[0m \033[31mERROR\033[0m {}", text);
  else
    say("libvmaf ERROR {}", text);
}

// libvmaf tries a model and then a collection.
void say_not_loaded(const ModelSpec& model) {
  const bool builtin = !model.version.empty();
  for (const char* what : {"model", "model collection"}) {
    say_like_libvmaf(builtin
                         ? fmt::format("no such built-in {}: \"{}\"", what, model.version)
                         : fmt::format("could not read {} from path: \"{}\"", what, model.path));
    if (model.label().ends_with(".pkl"))
      say_like_libvmaf("support for pkl model files has been removed, use json");
  }
}

// The following fill the plan; false when a message was printed.
bool load_models(const VmafOptions& options, ModelSet& models, PlanBuilder& builder) {
  for (const ModelSpec& argument : options.models) {
    std::string step;
    const Status status = models.add(argument, builder, step);
    if (status.ok()) continue;
    if (step.starts_with("problem loading model")) say_not_loaded(argument);
    say("{}\n{}", status.message(), step);
    return false;
  }
  return true;
}

bool register_features(const std::vector<FeatureSpec>& features, PlanBuilder& builder) {
  for (const FeatureSpec& feature : features) {
    const Status status = builder.add(feature.name, feature.options);
    if (status.ok()) continue;
    say("{}", status.message());
    say("problem loading feature extractor: {}", feature.name);
    return false;
  }
  return true;
}

// What one turn of the frame loop found.
enum class Turn { kPair, kEnd, kFailed };

Turn read_pair(const VmafOptions& options, Sources& sources, Picture& reference,
               Picture& distorted) {
  Result<std::optional<Picture>> sides[2] = {sources.reference->read(), sources.distorted->read()};
  // A reader whose writer was interrupted as well breaks off: no reason to complain of the input.
  if (interrupted_by() != 0) return Turn::kFailed;
  for (const auto& side : sides)
    if (!side.ok()) {
      say("\n{}", side.status().message());
      say("problem while reading pictures");
      return Turn::kFailed;
    }
  const bool has_reference = sides[0]->has_value();
  const bool has_distorted = sides[1]->has_value();
  if (has_reference && has_distorted) {
    reference = **std::move(sides[0]);
    distorted = **std::move(sides[1]);
    return Turn::kPair;
  }
  if (has_reference != has_distorted) {
    const std::string& shorter = has_reference ? options.distorted : options.reference;
    const std::string& longer = has_reference ? options.reference : options.distorted;
    say("\n\"{}\" ended before \"{}\".", shorter, longer);
  }
  return Turn::kEnd;
}

// Returns 0 or an exit status.
int score_frames(const VmafOptions& options, Sources& sources, Engine& engine) {
  Progress progress(isatty(STDERR_FILENO) != 0 && !options.quiet);
  int begun = 0;
  for (;;) {
    if (const int signal = interrupted_by()) {
      progress.end();
      engine.cancel();
      return 128 + signal;
    }
    if (options.frame_count != 0 && static_cast<unsigned>(begun) >= options.frame_count) break;
    if (options.backend == "cpu") engine.wait_for_space();
    Picture reference;
    Picture distorted;
    const Turn turn = read_pair(options, sources, reference, distorted);
    if (interrupted_by() != 0) continue;
    if (turn == Turn::kFailed) {
      engine.cancel();
      return kInvalid;
    }
    if (turn == Turn::kEnd) break;
    progress.begin_frame(++begun);
    const Status status = engine.push(std::move(reference), std::move(distorted));
    if (!status.ok()) {
      progress.end();
      say("\n{}\nproblem reading pictures", status.message());
      say("problem flushing context");
      return kInvalid;
    }
  }
  progress.end();
  if (begun == 0) {
    say("\"{}\" and \"{}\" hold no frame pair to score", options.reference, options.distorted);
    say("problem flushing context");
    return kInvalid;
  }
  const Status status = engine.finish();
  if (!status.ok()) {
    say("\n{}\nproblem reading pictures", status.message());
    say("problem flushing context");
    return kInvalid;
  }
  return 0;
}

void warn_of_non_finite(const Scores& scores) {
  for (const Series& series : scores.series())
    for (std::size_t i = 0; i < series.values.size(); ++i)
      if (series.present[i] && !std::isfinite(series.values[i])) {
        say("warning: frame {}: {} is not finite", scores.first() + static_cast<int>(i),
            series.label);
        break;  // one line per key is enough to find the rest in the report
      }
}

// Whether every model has a pooled score; says so if not.
bool pools(const Scores& scores, const std::vector<LoadedModel>& models) {
  for (const LoadedModel& model : models) {
    const Series* series = scores.find(model.key);
    if (series != nullptr && scores.pooled(*series)) continue;
    say("problem generating pooled VMAF score");
    return false;
  }
  return true;
}

double pooled_mean(const Scores& scores, const std::string& key) {
  const Series* series = scores.find(key);
  const auto pooled = series != nullptr ? scores.pooled(*series) : std::nullopt;
  return pooled ? pooled->mean : std::numeric_limits<double>::quiet_NaN();
}

void print_results(const VmafOptions& options, const std::vector<LoadedModel>& models,
                   const Scores& scores) {
  const auto print = [&](double value) { return options.result_number().print(value); };
  for (const LoadedModel& model : models)
    say("{}: {}", model.label, print(pooled_mean(scores, model.key)));
  for (const LoadedModel& model : models)
    if (model.is_collection)
      say("{}: {}, ci.p95: [{}, {}], stddev: {}", model.label,
          print(pooled_mean(scores, model.key + "_bagging")),
          print(pooled_mean(scores, model.key + "_ci_p95_lo")),
          print(pooled_mean(scores, model.key + "_ci_p95_hi")),
          print(pooled_mean(scores, model.key + "_stddev")));
}

int write_report(const VmafOptions& options, const VideoFormat& format, const Scores& scores,
                 double cpu_seconds) {
  if (options.output.empty()) return 0;
  output::LibvmafReport report;
  report.version = kVersionText;
  report.width = format.width;
  report.height = format.height;
  report.fps = cpu_seconds > 0 ? scores.frame_count() / cpu_seconds
                               : std::numeric_limits<double>::infinity();
  report.scores = &scores;
  report.number = options.report_number();
  const Status status =
      output::write_file(options.output, output::format_report(report, options.format));
  if (!status.ok()) {
    say("{}", status.message());
    return kFailure;
  }
  return 0;
}

}  // namespace

int run_vmaf(const VmafOptions& options) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal && !options.quiet) say("VMAF version {}", kVersionText);

  const auto pinned = std::make_shared<backend::PinnedMemory>();
  std::optional<Sources> sources = open_sources(options, pinned);
  if (!sources || !compatible(options, *sources)) return kFailure;
  const VideoFormat format = sources->reference->format();

  PlanBuilder builder(/*strict=*/false);
  ModelSet models;
  if (!load_models(options, models, builder)) return kFailure;
  std::vector<FeatureSpec> features = options.features;
  BackendChoice backend{
      .backend = options.backend == "auto" ? best_backend(options.forbidden) : options.backend,
      .pinned = pinned};
  if (options.device) backend.devices = {*options.device};
  const Status named = take_backends_from_names(features, backend);
  if (!named.ok()) {
    say("{}", named.message());
    return kUsage;
  }
  if (!register_features(features, builder)) return kFailure;

  Result<Plan> plan = std::move(builder).build(format);
  if (!plan.ok()) {
    say("{}\nproblem reading pictures", plan.status().message());
    return kInvalid;
  }
  for (const std::string& warning : plan->warnings) say("warning: {}", warning);

  const Result<Placements> placements = place(*plan, backend);
  if (!placements.ok()) {
    say("{}", placements.status().message());
    return kUsage;
  }
  EngineOptions engine_options;
  engine_options.threads =
      static_cast<int>(std::min(options.threads, 1024U)) + frames_in_flight(*placements);
  engine_options.placements = *placements;
  engine_options.subsample = static_cast<int>(std::clamp(options.subsample, 1U, 1U << 30));
  const std::vector<LoadedModel> loaded = models.models();
  std::vector<std::unique_ptr<Predictor>> predictors;
  if (!options.no_prediction) predictors = std::move(models).take_predictors();
  auto engine = Engine::create(std::move(plan).value(), std::move(predictors), engine_options);
  if (!engine.ok()) {
    say("{}\nproblem initializing VMAF context", engine.status().message());
    return kFailure;
  }
  // A failed read while skipping is found again by the first read of the loop.
  (void)sources->reference->skip(options.skip_reference);
  (void)sources->distorted->skip(options.skip_distorted);

  const std::clock_t start = std::clock();
  const int status = score_frames(options, *sources, **engine);
  if (status != 0) return status;
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;

  const Scores& scores = engine.value()->scores();
  warn_of_non_finite(scores);
  if (!options.no_prediction && !pools(scores, loaded)) return kFailure;
  if (terminal && !options.quiet && !options.output.empty()) print_results(options, loaded, scores);
  return write_report(options, format, scores, seconds);
}

}  // namespace vqx::cli
