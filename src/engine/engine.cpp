#include "engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "base/parallel.hpp"
namespace vqx {
namespace {

// Parts of one measurement on the arena of the calling worker.
class TbbRunner final : public TaskRunner {
 public:
  explicit TbbRunner(int concurrency) : concurrency_(concurrency) {}

  void run(int count, const std::function<void(int)>& part) const override {
    if (count == 1 || concurrency_ == 1) {
      for (int i = 0; i < count; ++i) part(i);
      return;
    }
    // A worker that waited for its bands and started another frame on top of this one would hold
    // twice the scratch memory and could wait for itself in Frame::derived.
    parallel_for(count, part);
  }
  int concurrency() const override { return concurrency_; }

 private:
  int concurrency_;
};

// A frame pair in work, and afterwards its measured words while neighbours still need them.
struct Job {
  int index = 0;
  std::vector<std::shared_ptr<const Frame>> window;  // earlier frames, then this one
  std::vector<std::vector<Measured>> measured;       // by group, by option set
  std::vector<char> runs;                            // by group: whether it measures this frame
  std::atomic<int> remaining{0};
  bool done = false;
};

// What one task measures: a group on the CPU, or all groups of a placement.
struct Unit {
  const Placement* placement = nullptr;
  std::vector<std::size_t> groups;
};

struct Prediction {
  std::unique_ptr<Predictor> predictor;
  std::vector<std::size_t> inputs;   // series
  std::vector<std::size_t> outputs;  // series
};

}  // namespace

class Engine::Impl {
 public:
  Impl(Plan plan, const EngineOptions& options)
      : plan_(std::move(plan)),
        options_(options),
        runner_(std::max(1, options.threads)),
        warnings_(plan_.warnings) {
    make_units();
    if (options_.frames_in_flight < 1)
      options_.frames_in_flight = options_.threads > 0 ? frames_worth_holding() : 1;
    if (options_.threads > 0) {
      // One more than the workers: oneTBB counts the thread that hands out work.
      parallelism_ =
          std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                static_cast<std::size_t>(tasks_at_once()) + 1);
      arena_ = std::make_unique<tbb::task_arena>(tasks_at_once(), 0);
    }
  }

  ~Impl() {
    cancel();
    std::unique_lock lock(mutex_);
    wait_idle(lock);
  }

  Status prepare(std::vector<std::unique_ptr<Predictor>> predictors);
  int start() const { return start_; }
  bool wants_more() const { return options_.count == 0 || next_push_ < last_needed(); }
  void wait_for_space() {
    std::unique_lock lock(mutex_);
    wait_for_space(lock);
  }
  Status push(Picture reference, Picture distorted);
  Status finish();
  void drain() {
    std::unique_lock lock(mutex_);
    wait_idle(lock);
  }
  void cancel();
  int finished_frames() const {
    const std::lock_guard lock(mutex_);
    return scores_.count_;
  }
  std::chrono::steady_clock::time_point first_score() const {
    const std::lock_guard lock(mutex_);
    return first_score_;
  }
  Result<double> score(const std::string& key, int index);
  const Scores& scores() const { return scores_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void create_series();
  std::size_t add_series(const std::string& key);
  // One past the last index that has to be pushed when a count was given.
  int last_needed() const { return options_.first + options_.count + max_after_; }
  bool measures(const Group& group, int index) const;
  std::shared_ptr<Job> make_job(Picture reference, Picture distorted);
  void make_units();
  // Threads that wait for a device do not count: with no work for the CPU there are enough of them
  // to keep the devices busy.
  int tasks_at_once() const {
    int in_flight = 0;
    for (const Unit& unit : units_) {
      if (unit.placement == nullptr) return options_.threads;
      in_flight += unit.placement->run()->frames_in_flight();
    }
    return std::max(options_.threads, in_flight);
  }
  // What keeps all workers busy; where devices do everything, one frame more to read to and one
  // that is finished suffice.
  int frames_worth_holding() const {
    int in_flight = 0;
    for (const Unit& unit : units_) {
      if (unit.placement == nullptr) return tasks_at_once() + 1;
      in_flight += unit.placement->run()->frames_in_flight();
    }
    return in_flight + 2;
  }
  static bool runs(const Job& job, const Unit& unit) {
    return std::any_of(unit.groups.begin(), unit.groups.end(),
                       [&](std::size_t g) { return job.runs[g] != 0; });
  }
  Status measure(Job& job, std::size_t group) const;
  Status measure_on_device(Job& job, const Unit& unit) const;
  void run_unit(const std::shared_ptr<Job>& job, const Unit& unit);
  void complete(const std::shared_ptr<Job>& job);
  // Both under the lock.  The earliest frame's error is the one told, whichever thread was first.
  void fail(int index, const Status& status);
  Status settled_failure(std::unique_lock<std::mutex>& lock);
  void retire();
  bool neighbours_ready(int index) const;
  Status finish_frame(int index);
  Status finish_instances(int index, bool reported, std::size_t position);
  Status predict(std::size_t position);
  void set_aggregates();
  void wait_for_space(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return in_flight_ < options_.frames_in_flight; });
  }
  void wait_idle(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return in_flight_ == 0; });
  }

  Plan plan_;
  EngineOptions options_;
  TbbRunner runner_;
  mutable ScratchPool scratch_;
  std::vector<std::string> warnings_;
  std::vector<Unit> units_;
  std::vector<Prediction> predictions_;
  std::vector<std::vector<std::ptrdiff_t>> series_of_;  // by instance, by output; -1: not stored
  std::vector<Measured> totals_;                        // by instance
  int start_ = 0;
  int max_after_ = 0;
  int max_before_ = 0;
  int max_pictures_ = 0;

  std::unique_ptr<tbb::global_control> parallelism_;
  std::unique_ptr<tbb::task_arena> arena_;

  // Of the pushing thread alone.
  int next_push_ = 0;
  std::deque<std::shared_ptr<const Frame>> recent_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, std::shared_ptr<Job>> jobs_;
  int in_flight_ = 0;
  int pushed_end_ = 0;   // one past the last pushed index
  int next_finish_ = 0;  // first index whose scores are not complete
  bool ended_ = false;
  std::chrono::steady_clock::time_point first_score_;
  // Frames from here on are not measured: one failed, or the caller cancelled.
  std::atomic<int> stop_at_{std::numeric_limits<int>::max()};
  Status failure_;
  Scores scores_;
};

Status Engine::Impl::prepare(std::vector<std::unique_ptr<Predictor>> predictors) {
  if (options_.threads < 0 || options_.subsample < 1 || options_.first < 0 || options_.count < 0)
    return Status(ErrorCode::kInvalidArgument,
                  "threads, first and count must not be negative, subsample at least 1");
  if (options_.first > kMaxFrames)
    return Status(
        ErrorCode::kInvalidArgument,
        fmt::format("first is {}: a video has at most {} frames", options_.first, kMaxFrames));
  options_.count = std::min(options_.count, kMaxFrames);
  int lead = 0;
  for (const Group& group : plan_.groups) {
    max_after_ = std::max(max_after_, group.needs.measured_after);
    max_before_ = std::max(max_before_, group.needs.measured_before);
    max_pictures_ = std::max(max_pictures_, group.needs.pictures_before);
    lead = std::max(lead, group.needs.measured_before + group.needs.pictures_before);
  }
  start_ = std::max(0, options_.first - lead);
  next_push_ = pushed_end_ = start_;
  next_finish_ = options_.first;
  scores_.first_ = options_.first;
  scores_.subsample_ = options_.subsample;
  create_series();
  for (auto& predictor : predictors) {
    Prediction prediction;
    for (const std::string& key : predictor->input_keys()) {
      const Series* series = scores_.find(key);
      if (series == nullptr)
        return Status(ErrorCode::kInternal, "no metric provides the model feature " + key);
      prediction.inputs.push_back(static_cast<std::size_t>(series - scores_.series_.data()));
    }
    for (const std::string& key : predictor->output_keys())
      prediction.outputs.push_back(add_series(key));
    prediction.predictor = std::move(predictor);
    predictions_.push_back(std::move(prediction));
  }
  return {};
}

std::size_t Engine::Impl::add_series(const std::string& key) {
  scores_.series_.push_back(Series{key, display_key(key), {}, {}});
  return scores_.series_.size() - 1;
}

void Engine::Impl::create_series() {
  totals_.resize(plan_.instances.size());
  for (const Instance& instance : plan_.instances)
    series_of_.emplace_back(instance.outputs.size(), -1);
  for (const Appearance appearance :
       {Appearance::kFirstFrame, Appearance::kSecondFrame, Appearance::kFlush})
    for (std::size_t i = 0; i < plan_.instances.size(); ++i) {
      const Instance& instance = plan_.instances[i];
      for (std::size_t o = 0; o < instance.outputs.size(); ++o)
        if (instance.outputs[o].appearance == appearance && !instance.keys[o].empty())
          series_of_[i][o] = static_cast<std::ptrdiff_t>(add_series(instance.keys[o]));
    }
}

bool Engine::Impl::measures(const Group& group, int index) const {
  if (options_.subsample > 1 && !group.needs.contiguous && index % options_.subsample != 0)
    return false;
  if (index < options_.first - group.needs.measured_before) return false;
  return options_.count == 0 ||
         index < options_.first + options_.count + group.needs.measured_after;
}

std::shared_ptr<Job> Engine::Impl::make_job(Picture reference, Picture distorted) {
  auto job = std::make_shared<Job>();
  job->index = next_push_++;
  recent_.push_back(
      std::make_shared<Frame>(job->index, std::move(reference), std::move(distorted)));
  while (recent_.size() > static_cast<std::size_t>(max_pictures_) + 1) recent_.pop_front();
  job->window.assign(recent_.begin(), recent_.end());
  job->measured.resize(plan_.groups.size());
  job->runs.resize(plan_.groups.size());
  for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
    job->measured[g].resize(plan_.groups[g].instances.size());
    job->runs[g] = static_cast<char>(measures(plan_.groups[g], job->index));
  }
  job->remaining = static_cast<int>(std::count_if(
      units_.begin(), units_.end(), [&](const Unit& unit) { return runs(*job, unit); }));
  return job;
}

Status Engine::Impl::push(Picture reference, Picture distorted) {
  if (reference.format() != plan_.format || distorted.format() != plan_.format)
    return Status(ErrorCode::kMismatch,
                  fmt::format("frame {} has another size or format than the run", next_push_));
  {
    std::unique_lock lock(mutex_);
    if (ended_) return Status(ErrorCode::kInvalidArgument, "a frame after the end of the run");
    wait_for_space(lock);
    if (!failure_.ok()) return settled_failure(lock);
  }
  const std::shared_ptr<Job> job = make_job(std::move(reference), std::move(distorted));
  {
    const std::lock_guard lock(mutex_);
    jobs_[job->index] = job;
    pushed_end_ = next_push_;
    ++in_flight_;
  }
  if (job->remaining == 0) {
    complete(job);
  } else {
    for (const Unit& unit : units_) {
      if (!runs(*job, unit)) continue;
      if (arena_)
        enqueue(*arena_, [this, job, &unit] { run_unit(job, unit); });
      else
        run_unit(job, unit);
    }
  }
  std::unique_lock lock(mutex_);
  return settled_failure(lock);
}

Status Engine::Impl::measure(Job& job, std::size_t group) const {
  const Group& work = plan_.groups[group];
  const std::size_t wanted = static_cast<std::size_t>(work.needs.pictures_before) + 1;
  const std::span<const std::shared_ptr<const Frame>> window(job.window);
  const MeasureContext context(window.last(std::min(wanted, window.size())), runner_, scratch_);
  try {
    return work.metric->measure(context, job.measured[group]);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory,
                  fmt::format("not enough memory to measure {} of a {}x{} picture", work.info->name,
                              plan_.format.width, plan_.format.height));
  }
}

Status Engine::Impl::measure_on_device(Job& job, const Unit& unit) const {
  std::vector<std::vector<Measured>> measured(unit.groups.size());
  VQX_RETURN_IF_ERROR(unit.placement->run()->measure(*job.window.back(), runner_, measured));
  for (std::size_t i = 0; i < unit.groups.size(); ++i) {
    const std::size_t g = unit.groups[i];
    if (job.runs[g] != 0) job.measured[g] = std::move(measured[i]);
  }
  return {};
}

void Engine::Impl::run_unit(const std::shared_ptr<Job>& job, const Unit& unit) {
  if (job->index < stop_at_) {
    const Status status = unit.placement != nullptr ? measure_on_device(*job, unit)
                                                    : measure(*job, unit.groups.front());
    if (!status.ok()) {
      const std::lock_guard lock(mutex_);
      fail(job->index, status);
    }
  }
  if (--job->remaining == 0) complete(job);
}

void Engine::Impl::make_units() {
  std::vector<bool> placed(plan_.groups.size(), false);
  for (const auto& placement : options_.placements) {
    if (placement->run() == nullptr) continue;
    units_.push_back({placement.get(), placement->groups()});
    for (const std::size_t g : placement->groups()) placed[g] = true;
  }
  for (std::size_t g = 0; g < placed.size(); ++g)
    if (!placed[g]) units_.push_back({nullptr, {g}});
}

void Engine::Impl::fail(int index, const Status& status) {
  if (index >= stop_at_) return;
  stop_at_ = index;
  failure_ = Status(status.code(), fmt::format("frame {}: {}", index, status.message()));
}

// Frames before the failed one are still in work and may fail as well.
Status Engine::Impl::settled_failure(std::unique_lock<std::mutex>& lock) {
  if (!failure_.ok()) wait_idle(lock);
  return failure_;
}

void Engine::Impl::complete(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  job->window.clear();
  job->done = job->index < stop_at_;
  --in_flight_;
  retire();
  changed_.notify_all();
}

bool Engine::Impl::neighbours_ready(int index) const {
  // From behind, too: with threads the frames before the first scored one may still be in work.
  for (int i = std::max(start_, index - max_before_); i <= index + max_after_; ++i) {
    if (i >= pushed_end_) return ended_ && i > index;
    const auto job = jobs_.find(i);
    if (job == jobs_.end() || !job->second->done) return false;
  }
  return true;
}

void Engine::Impl::retire() {
  const int end =
      options_.count == 0 ? pushed_end_ : std::min(pushed_end_, options_.first + options_.count);
  while (next_finish_ < end && neighbours_ready(next_finish_)) {
    const Status status = finish_frame(next_finish_);
    if (!status.ok()) return fail(next_finish_, status);
    ++next_finish_;
    if (++scores_.count_ == 1) first_score_ = std::chrono::steady_clock::now();
    while (!jobs_.empty() && jobs_.begin()->first < next_finish_ - max_before_)
      jobs_.erase(jobs_.begin());
  }
}

Status Engine::Impl::finish_frame(int index) {
  const auto position = static_cast<std::size_t>(index - options_.first);
  const bool reported = scores_.reported(index);
  VQX_RETURN_IF_ERROR(finish_instances(index, reported, position));
  return reported ? predict(position) : Status();
}

Status Engine::Impl::finish_instances(int index, bool reported, std::size_t position) {
  std::vector<double> values;
  for (std::size_t i = 0; i < plan_.instances.size(); ++i) {
    const Instance& instance = plan_.instances[i];
    const Group& group = plan_.groups[instance.group];
    const auto lookup = [&](int other) -> const Measured* {
      const auto job = jobs_.find(other);
      if (job == jobs_.end() || !job->second->done || job->second->runs[instance.group] == 0)
        return nullptr;
      return &job->second->measured[instance.group][instance.set];
    };
    const Measured* here = lookup(index);
    if (here == nullptr) continue;  // left out by the subsampling
    group.metric->accumulate(instance.set, *here, totals_[i]);
    if (!reported) continue;
    values.assign(instance.outputs.size(), 0.0);
    VQX_RETURN_IF_ERROR(
        group.metric->finish_frame(instance.set, MeasuredWindow(index, lookup), values));
    for (std::size_t o = 0; o < values.size(); ++o)
      if (series_of_[i][o] >= 0)
        scores_.series_[static_cast<std::size_t>(series_of_[i][o])].set(position, values[o]);
  }
  return {};
}

Status Engine::Impl::predict(std::size_t position) {
  std::vector<double> inputs;
  std::vector<double> outputs;
  for (const Prediction& prediction : predictions_) {
    inputs.clear();
    for (const std::size_t series : prediction.inputs)
      inputs.push_back(scores_.series_[series].values[position]);
    outputs.assign(prediction.outputs.size(), 0.0);
    VQX_RETURN_IF_ERROR(prediction.predictor->predict(inputs, outputs));
    for (std::size_t o = 0; o < outputs.size(); ++o)
      scores_.series_[prediction.outputs[o]].set(position, outputs[o]);
  }
  return {};
}

void Engine::Impl::set_aggregates() {
  for (std::size_t i = 0; i < plan_.instances.size(); ++i) {
    const Instance& instance = plan_.instances[i];
    const Metric& metric = *plan_.groups[instance.group].metric;
    for (auto& aggregate : metric.aggregates(instance.set, totals_[i]))
      scores_.aggregates_.push_back(std::move(aggregate));
  }
}

Status Engine::Impl::finish() {
  std::unique_lock lock(mutex_);
  wait_idle(lock);
  recent_.clear();
  if (!failure_.ok()) return failure_;
  if (ended_) return {};
  ended_ = true;
  retire();
  changed_.notify_all();
  if (!failure_.ok()) return failure_;
  set_aggregates();
  // A key that never got a score (its frames were all left out) is not part of the results.
  std::erase_if(scores_.series_, [](const Series& series) { return series.values.empty(); });
  return {};
}

void Engine::Impl::cancel() {
  const std::lock_guard lock(mutex_);
  stop_at_ = 0;
  if (failure_.ok() && !ended_) failure_ = Status(ErrorCode::kInterrupted, "cancelled");
}

Result<double> Engine::Impl::score(const std::string& key, int index) {
  std::unique_lock lock(mutex_);
  const Series* series = scores_.find(key);
  if (series == nullptr) return Status(ErrorCode::kUnknownName, "no score named " + key);
  changed_.wait(
      lock, [&] { return next_finish_ > index || !failure_.ok() || ended_ || in_flight_ == 0; });
  if (index >= options_.first && index < next_finish_)
    if (const auto value = series->at(static_cast<std::size_t>(index - options_.first)))
      return *value;
  if (!failure_.ok()) return failure_;
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("frame {} has no score {} (yet)", index, key));
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::create(Plan plan,
                                               std::vector<std::unique_ptr<Predictor>> predictors,
                                               const EngineOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(plan), options);
  VQX_RETURN_IF_ERROR(impl->prepare(std::move(predictors)));
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

int Engine::start() const {
  return impl_->start();
}
bool Engine::wants_more() const {
  return impl_->wants_more();
}
void Engine::wait_for_space() {
  impl_->wait_for_space();
}
Status Engine::push(Picture reference, Picture distorted) {
  return impl_->push(std::move(reference), std::move(distorted));
}
Status Engine::finish() {
  return impl_->finish();
}
void Engine::drain() {
  impl_->drain();
}
void Engine::cancel() {
  impl_->cancel();
}
std::chrono::steady_clock::time_point Engine::first_score() const {
  return impl_->first_score();
}
int Engine::finished_frames() const {
  return impl_->finished_frames();
}
Result<double> Engine::score(const std::string& key, int index) {
  return impl_->score(key, index);
}
const Scores& Engine::scores() const {
  return impl_->scores();
}
const std::vector<std::string>& Engine::warnings() const {
  return impl_->warnings();
}

}  // namespace vqx
