#include "cli/vqx_score.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/simd.hpp"
#include "base/version.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress_bar.hpp"
#include "cli/terminal.hpp"
#include "engine/engine.hpp"
#include "engine/model_set.hpp"
#include "input/ffmpeg_source.hpp"
#include "output/vqx_report.hpp"

namespace vqx::cli {
namespace {

// Everything between the command line and the report.
class ScoreRun {
 public:
  explicit ScoreRun(const ScoreOptions& options) : options_(options) {}

  Status prepare();
  // Ok, or why the run broke off; finished frames are in scores() either way.
  Status score_frames();
  // Writes all that can be written; the first failure.
  Status write_reports(const Status& outcome) const;
  const Scores& scores() const { return engine_->scores(); }
  void print_table() const;
  void print_start(const backend::StartTimes& times) const;
  Status print_profile() const;
  int check_limits() const;

 private:
  Status open();
  Status plan();
  void describe(output::VqxReport& report, const Status& outcome) const;
  Status check_limit_names() const;
  void note(const std::string& text);  // on the terminal and in reports
  Status choose_placements(const Plan& plan, BackendChoice backend);
  Result<std::unique_ptr<input::VideoSource>> open_side(
      const std::string& path, std::optional<input::ScaleTarget> scale) const;
  Result<std::vector<ModelSpec>> default_models();
  std::optional<std::int64_t> expected_frames() const;  // about
  Result<bool> push_pair(std::int64_t frames_read);
  std::vector<const Series*> table_rows() const;

  const ScoreOptions& options_;
  std::unique_ptr<input::VideoSource> reference_;
  std::unique_ptr<input::VideoSource> distorted_;
  std::vector<std::string> notes_;
  std::string backend_ = "cpu";
  std::shared_ptr<backend::PinnedMemory> pinned_ = std::make_shared<backend::PinnedMemory>();
  Placements placements_;
  std::vector<output::VqxReport::Source> metric_sources_;
  std::vector<output::VqxReport::Source> model_sources_;
  std::vector<std::string> requested_keys_;  // printed: models and --feature, not model inputs
  std::unique_ptr<Engine> engine_;
};

Result<std::unique_ptr<input::VideoSource>> ScoreRun::open_side(
    const std::string& path, std::optional<input::ScaleTarget> scale) const {
  input::OpenOptions open;
  open.dialect = input::Dialect::kVqx;
  open.raw = options_.raw;
  open.scale = scale;
  open.pixel_format = options_.pixel_format;
  if (options_.backend.backend != "cpu") {
    open.read_threads = std::min(options_.threads, 8);
    open.memory = pinned_;
  }
  open.allow_interlaced = options_.pairing.allow_interlaced;
  return input::open_source(path, open);
}

Status ScoreRun::open() {
  VQX_ASSIGN_OR_RETURN(reference_, open_side(options_.reference, std::nullopt));
  VQX_ASSIGN_OR_RETURN(distorted_, open_side(options_.distorted, std::nullopt));
  const VideoFormat& wanted = reference_->format();
  const bool size_differs =
      distorted_->format().width != wanted.width || distorted_->format().height != wanted.height;
  if (options_.scale_distorted && size_differs) {
    const input::ScaleTarget target{wanted.width, wanted.height, *options_.scale_distorted};
    VQX_ASSIGN_OR_RETURN(distorted_, open_side(options_.distorted, target));
  }
  for (const auto* source : {reference_.get(), distorted_.get()})
    for (const std::string& warning : source->info().warnings) complain("warning: " + warning);

  input::PairingRules rules = options_.pairing;
  rules.frame_limit = options_.count > 0 ? std::int64_t{options_.first} + options_.count : 0;
  const input::PairCheck check = input::check_pair(*reference_, *distorted_, rules);
  VQX_RETURN_IF_ERROR(check.status());
  for (const std::string& text : check.notes) note(text);
  return {};
}

void ScoreRun::note(const std::string& text) {
  complain("note: " + text);
  notes_.push_back(text);
}

// The defaults that these pictures allow: small ones, and luma alone, lack what some models
// measure.
Result<std::vector<ModelSpec>> ScoreRun::default_models() {
  ModelSpec classic;
  classic.version = "vmaf_v0.6.1";
  ModelSpec current;
  current.version =
      reference_->format().height > 1080 ? "vmaf_v1.0.16_3d0h_2160" : "vmaf_v1.0.16_3d0h";
  current.name = "vmaf_v1";
  std::vector<ModelSpec> fitting;
  std::vector<std::string> left_out;
  Status refused;
  for (const ModelSpec& model : {classic, current}) {
    PlanBuilder builder(/*strict=*/true);
    ModelSet models;
    std::string step;
    VQX_RETURN_IF_ERROR(models.add(model, builder, step));
    const Status built = std::move(builder).build(reference_->format()).status();
    if (built.ok()) {
      fitting.push_back(model);
    } else {
      left_out.push_back(fmt::format("model {} is left out: {}", model.version, built.message()));
      refused = built;
    }
  }
  if (fitting.empty()) return refused;
  for (const std::string& text : left_out) note(text);
  return fitting;
}

Status ScoreRun::plan() {
  PlanBuilder builder(/*strict=*/true);
  const bool nothing_named = options_.features.empty() && options_.models.empty();
  std::vector<ModelSpec> models = options_.models;
  if (nothing_named) {
    VQX_ASSIGN_OR_RETURN(models, default_models());
  }
  ModelSet model_set;
  for (const ModelSpec& argument : models) {
    std::string step;
    VQX_RETURN_IF_ERROR(model_set.add(argument, builder, step));
    const LoadedModel& model = model_set.models().back();
    requested_keys_.insert(requested_keys_.end(), model.output_keys.begin(),
                           model.output_keys.end());
    std::string features;
    for (const std::string& key : model.feature_keys)
      features += (features.empty() ? "features=" : ",") + key;
    model_sources_.push_back({model.label, features, "cpu", model.output_keys});
  }
  std::vector<FeatureSpec> features = options_.features;
  BackendChoice backend = options_.backend;
  backend.pinned = pinned_;
  VQX_RETURN_IF_ERROR(take_backends_from_names(features, backend));
  for (const FeatureSpec& feature : features)
    VQX_RETURN_IF_ERROR(builder.add(feature.name, feature.options));

  VQX_ASSIGN_OR_RETURN(Plan plan, std::move(builder).build(reference_->format()));
  VQX_RETURN_IF_ERROR(choose_placements(plan, backend));
  for (const Instance& instance : plan.instances) {
    output::VqxReport::Source source;
    source.name = instance.info->name;
    source.options = instance.options.text();
    source.backend = backend_of(placements_, instance.group);
    for (const std::string& key : instance.keys) source.keys.push_back(display_key(key));
    const bool requested = std::any_of(features.begin(), features.end(), [&](const auto& feature) {
      return feature.name == instance.info->name;
    });
    if (requested)
      requested_keys_.insert(requested_keys_.end(), source.keys.begin(), source.keys.end());
    metric_sources_.push_back(std::move(source));
  }

  EngineOptions engine_options;
  engine_options.threads = options_.threads + frames_in_flight(placements_);
  engine_options.placements = placements_;
  engine_options.frames_in_flight = options_.frames_in_flight;
  engine_options.subsample = options_.subsample;
  engine_options.first = options_.first;
  engine_options.count = options_.count;
  VQX_ASSIGN_OR_RETURN(
      engine_,
      Engine::create(std::move(plan), std::move(model_set).take_predictors(), engine_options));
  return check_limit_names();
}

// Now, not after hours of scoring.
Status ScoreRun::check_limit_names() const {
  for (const FailBelow& limit : options_.fail_below) {
    if (scores().find(limit.key) != nullptr) continue;
    std::string known;
    for (const Series& each : scores().series()) known += (known.empty() ? "" : ", ") + each.label;
    return Status(ErrorCode::kUnknownName,
                  fmt::format("--fail-below {}: no such score; there are {}", limit.key, known));
  }
  return {};
}

// "auto" takes a device only where the clip is long enough to pay for its start-up, and falls back
// to the CPU; a named backend must work.
Status ScoreRun::choose_placements(const Plan& plan, BackendChoice backend) {
  constexpr std::int64_t kWorthADevice = 200;  // frames
  const bool automatic = backend.backend == "auto";
  if (automatic)
    backend.backend = expected_frames().value_or(0) >= kWorthADevice ? best_backend() : "cpu";
  Result<Placements> placements = place(plan, backend);
  if (!placements.ok() && automatic && backend.exceptions.empty()) {
    note("backend auto fell back to cpu: " + placements.status().message());
    backend_ = "cpu";
    return {};
  }
  VQX_RETURN_IF_ERROR(placements.status());
  placements_ = std::move(placements).value();
  backend_ = backend.backend;
  return {};
}

Status ScoreRun::prepare() {
  for (const std::string& path : options_.outputs)
    VQX_RETURN_IF_ERROR(output::check_report_path(path));
  VQX_RETURN_IF_ERROR(open());
  VQX_RETURN_IF_ERROR(plan());
  VQX_RETURN_IF_ERROR(reference_->skip(options_.pairing.skip_reference + engine_->start()));
  return distorted_->skip(options_.pairing.skip_distorted + engine_->start());
}

std::optional<std::int64_t> ScoreRun::expected_frames() const {
  std::optional<std::int64_t> frames;
  for (const auto& [source, skipped] :
       {std::pair(reference_.get(), options_.pairing.skip_reference),
        std::pair(distorted_.get(), options_.pairing.skip_distorted)}) {
    const input::SourceInfo& info = source->info();
    const auto& known = info.frame_count ? info.frame_count : info.estimated_frame_count;
    if (!known) continue;
    const std::int64_t left = std::max<std::int64_t>(*known - skipped - options_.first, 0);
    frames = frames ? std::min(*frames, left) : left;
  }
  if (options_.count > 0)
    frames = frames ? std::min<std::int64_t>(*frames, options_.count) : options_.count;
  return frames;
}

// False at the end of the inputs.
Result<bool> ScoreRun::push_pair(std::int64_t frames_read) {
  // Devices want the next pair in memory before they are done with one.
  if (placements_.empty()) engine_->wait_for_space();
  VQX_ASSIGN_OR_RETURN(auto reference, reference_->read());
  VQX_ASSIGN_OR_RETURN(auto distorted, distorted_->read());
  if (!reference && !distorted) return false;
  if (!reference || !distorted) {
    if (options_.pairing.allow_shorter) return false;
    return reference ? input::ended_early(*distorted_, frames_read, *reference_)
                     : input::ended_early(*reference_, frames_read, *distorted_);
  }
  VQX_RETURN_IF_ERROR(engine_->push(*std::move(reference), *std::move(distorted)));
  return true;
}

Status ScoreRun::score_frames() {
  ProgressBar progress(!options_.quiet, expected_frames());
  std::int64_t read = engine_->start();
  Status broken;
  while (engine_->wants_more()) {
    if (interrupted_by() != 0) break;
    const Result<bool> pushed = push_pair(read);
    if (!pushed.ok()) {
      broken = pushed.status();
      break;
    }
    if (!*pushed) break;
    progress.show(++read - options_.first);
  }
  // A reader that was interrupted, or whose writer was, breaks off as well.
  if (interrupted_by() != 0) {
    engine_->cancel();
    engine_->drain();
    return Status(ErrorCode::kInterrupted, "interrupted");
  }
  if (!broken.ok()) {
    // What was read before the break is scored as far as it is certain.
    engine_->drain();
    return broken;
  }
  if (read <= options_.first)
    return Status(
        ErrorCode::kInput,
        fmt::format("{} and {} hold no frame pair{}", options_.reference, options_.distorted,
                    options_.first == 0 ? "" : fmt::format(" at --first {}", options_.first)));
  return engine_->finish();
}

output::Facts source_facts(const input::VideoSource& source) {
  const input::SourceInfo& info = source.info();
  const VideoFormat& format = source.format();
  output::Facts facts = {{"path", info.path},
                         {"container", info.container},
                         {"codec", info.codec},
                         {"size", fmt::format("{}x{}", format.width, format.height)},
                         {"chroma", chroma_name(format.chroma)},
                         {"bit_depth", std::to_string(format.bit_depth)},
                         {"pixel_format", info.pixel_format}};
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) facts.emplace_back(name, *value);
  };
  if (info.range) facts.emplace_back("range", input::range_name(*info.range));
  add("matrix", info.matrix);
  add("transfer", info.transfer);
  add("primaries", info.primaries);
  if (info.scan) facts.emplace_back("scan", input::scan_name(*info.scan));
  if (info.frame_rate) facts.emplace_back("frame_rate", input::to_string(*info.frame_rate));
  if (info.variable_frame_rate)
    facts.emplace_back("variable_frame_rate", "frames are paired by index");
  if (info.sample_aspect)
    facts.emplace_back("sample_aspect", input::to_string(*info.sample_aspect));
  if (info.rotation != 0) facts.emplace_back("rotation_applied", std::to_string(info.rotation));
  if (!info.notes.empty())
    facts.emplace_back("conversion", fmt::format("{}", fmt::join(info.notes, "; ")));
  return facts;
}

void ScoreRun::describe(output::VqxReport& report, const Status& outcome) const {
  report.version = kVersionText;
  report.command = options_.command_line;
  report.complete = outcome.ok();
  report.error = outcome.message();
  report.reference = source_facts(*reference_);
  report.distorted = source_facts(*distorted_);
  report.environment = {{"backend", backend_},
                        {"simd", std::string(simd_level_name(active_simd_level()))},
                        {"threads", std::to_string(options_.threads)}};
  const auto is_own = [](const input::VideoSource& source) {
    return source.info().container == "YUV4MPEG2" || source.info().container == "raw";
  };
  if (!is_own(*reference_) || !is_own(*distorted_))
    if (const Result<std::string> ffmpeg = input::ffmpeg_versions(); ffmpeg.ok())
      report.environment.emplace_back("ffmpeg", *ffmpeg);
  report.notes = notes_;
  report.metrics = metric_sources_;
  report.models = model_sources_;
  report.scores = &scores();
  if (options_.number) report.number = *options_.number;
}

Status ScoreRun::write_reports(const Status& outcome) const {
  output::VqxReport report;
  describe(report, outcome);
  Status first;
  for (const std::string& path : options_.outputs) {
    const Result<std::string> text = output::format_for_path(report, path);
    const Status written = text.ok() ? output::write_file(path, *text) : text.status();
    if (written.ok()) continue;
    complain(written.message());
    if (first.ok()) first = written;
  }
  return first;
}

std::vector<const Series*> ScoreRun::table_rows() const {
  std::vector<const Series*> rows;
  for (const std::string& key : requested_keys_)
    if (const Series* series = scores().find(key))
      if (std::find(rows.begin(), rows.end(), series) == rows.end()) rows.push_back(series);
  return rows;
}

// A list with commas as indented lines that fit a terminal.
std::string wrapped(const std::string& list) {
  constexpr std::size_t kColumns = 100;
  std::string text;
  std::string line;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin) + (end < list.size() ? "," : "");
    if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "  " : " ") + word;
    begin = end + 1;
  }
  return text + line + "\n";
}

void ScoreRun::print_table() const {
  const std::vector<const Series*> rows = table_rows();
  std::size_t width = 6;
  for (const Series* row : rows) width = std::max(width, row->label.size());
  fmt::print("{:<{}} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "", width, "mean", "min", "1% low",
             "5% low", "harmonic");
  for (const Series* row : rows) {
    const auto pooled = scores().pooled(*row);
    if (!pooled) {
      fmt::print("{:<{}} {:>12}\n", row->label, width, "-");
      continue;
    }
    fmt::print("{:<{}} {:>12.6f} {:>12.6f} {:>12.6f} {:>12.6f} {:>12.6f}\n", row->label, width,
               pooled->mean, pooled->min, scores().quantile(*row, 0.01).value_or(NAN),
               scores().quantile(*row, 0.05).value_or(NAN), pooled->harmonic_mean);
  }
  for (const auto& [name, value] : scores().aggregates())
    fmt::print("{:<{}} {:>12.6f}\n", name, width, value);
  fmt::print("{} frame{}, {}x{} {} {} bit, on {}\n", scores().frame_count(),
             scores().frame_count() == 1 ? "" : "s", reference_->format().width,
             reference_->format().height, chroma_name(reference_->format().chroma),
             reference_->format().bit_depth, backend_);
  for (const auto& model : model_sources_)
    if (!model.keys.empty())
      fmt::print("{} is model {} on\n{}", model.keys.front(), model.name,
                 wrapped(model.options.substr(model.options.find('=') + 1)));
}

void ScoreRun::print_start(const backend::StartTimes& times) const {
  const double first =
      std::chrono::duration<double>(engine_->first_score() - times.context_ready).count();
  fmt::print(
      "start: context {:.0f} ms; then self-test {:.0f} ms, pipeline {:.0f} ms, first score after "
      "{:.0f} ms\n",
      times.context_seconds * 1e3, times.self_test_seconds * 1e3, times.pipeline_seconds * 1e3,
      first * 1e3);
}

Status ScoreRun::print_profile() const {
  std::vector<backend::ProfileEntry> entries;
  for (const auto& placement : placements_) {
    if (placement->run() == nullptr) continue;
    print_start(placement->run()->start_times());
    VQX_ASSIGN_OR_RETURN(const auto measured, placement->run()->profile());
    entries.insert(entries.end(), measured.begin(), measured.end());
  }
  if (entries.empty()) {
    fmt::print("profile: nothing ran on a device\n");
    return {};
  }
  fmt::print("{:<16} {:>8} {:>12} {:>10} {:>14}\n", "on device", "frames", "ms a frame", "GB/s",
             "of copy rate");
  for (const backend::ProfileEntry& entry : entries) {
    const double frames = static_cast<double>(std::max<std::uint64_t>(1, entry.frames));
    fmt::print("{:<16} {:>8} {:>12.4f} {:>10.1f} {:>13.1f}%\n", entry.name, entry.frames,
               entry.seconds / frames * 1e3,
               entry.seconds > 0 ? static_cast<double>(entry.bytes) / entry.seconds / 1e9 : 0.0,
               entry.bandwidth_share * 100);
  }
  return {};
}

int ScoreRun::check_limits() const {
  int status = kExitOk;
  for (const FailBelow& limit : options_.fail_below) {
    const Series* series = scores().find(limit.key);
    const auto pooled = series != nullptr ? scores().pooled(*series) : std::nullopt;
    const double mean = pooled ? pooled->mean : NAN;
    // Negated so that a NaN fails.
    if (!(mean >= limit.value)) {
      complain(fmt::format("{} is {:.6f}, below {:g}", limit.key, mean, limit.value));
      status = kExitBelow;
    }
  }
  return status;
}

void warn_of_non_finite(const Scores& scores) {
  for (const Series& series : scores.series())
    for (std::size_t i = 0; i < series.values.size(); ++i)
      if (series.present[i] && !std::isfinite(series.values[i])) {
        complain(fmt::format("warning: frame {}: {} is not finite",
                             scores.first() + static_cast<int>(i), series.label));
        break;
      }
}

}  // namespace

int exit_status(const Status& status) {
  switch (status.code()) {
    case ErrorCode::kOk:
      return kExitOk;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnknownName:
    case ErrorCode::kUnsupportedSize:
      return kExitUsage;
    case ErrorCode::kInput:
    case ErrorCode::kMismatch:
      return kExitInput;
    case ErrorCode::kTruncated:
    case ErrorCode::kSampleRange:
      return kExitBroken;
    case ErrorCode::kOutput:
      return kExitOutput;
    case ErrorCode::kBackend:
    case ErrorCode::kOutOfMemory:
      return kExitBackend;
    case ErrorCode::kInterrupted:
      return 128 + interrupted_by();
    case ErrorCode::kInternal:
      return 70;
  }
  return 70;
}

int fail(const Status& status) {
  complain(status.message());
  return exit_status(status);
}

int run_score(const ScoreOptions& options) {
  ScoreRun run(options);
  const Status prepared = run.prepare();
  if (!prepared.ok()) return fail(prepared);
  const Status outcome = run.score_frames();
  if (!outcome.ok()) complain(outcome.message());
  warn_of_non_finite(run.scores());

  const Status written = run.write_reports(outcome);
  if (outcome.ok() || run.scores().frame_count() > 0) run.print_table();
  if (options.backend.profile && outcome.ok()) {
    if (const Status profiled = run.print_profile(); !profiled.ok()) complain(profiled.message());
  }
  if (!outcome.ok()) {
    fmt::print("incomplete: the run broke off after {} frames\n", run.scores().frame_count());
    return exit_status(outcome);
  }
  return written.ok() ? run.check_limits() : exit_status(written);
}

}  // namespace vqx::cli
