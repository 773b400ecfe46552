// The engine: frame pairs go in, in order; scores come out, in order, whatever the threads.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/placement.hpp"
#include "engine/plan.hpp"
#include "vqx/picture.hpp"
#include "vqx/scores.hpp"
#include "vqx/status.hpp"

namespace vqx {

// Far more than any video has; the sum of two such numbers and a window does not overflow.
inline constexpr int kMaxFrames = 1'000'000'000;

struct EngineOptions {
  int threads = 0;           // worker threads; 0: all work on the calling thread
  int frames_in_flight = 0;  // frame pairs held at once, at least 1; 0: chosen from the threads
  int subsample = 1;         // report only indices that are multiples of this
  int first = 0;             // index of the first frame to score, at most kMaxFrames
  int count = 0;             // frames to score; 0: all that come
  // Groups measured on devices, each group in at most one; all others run on the CPU.
  std::vector<std::shared_ptr<const Placement>> placements;
};

// Turns the scores of one frame into further scores (VMAF models).  Runs in frame order.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual std::vector<std::string> input_keys() const = 0;  // storage keys, e.g. of model features
  virtual std::vector<std::string> output_keys() const = 0;
  // `inputs` in the order of input_keys(), `outputs` in that of output_keys().
  virtual Status predict(std::span<const double> inputs, std::span<double> outputs) const = 0;
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> create(Plan plan,
                                                std::vector<std::unique_ptr<Predictor>> predictors,
                                                const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Index of the first frame to push: that of the first scored frame less the neighbours that the
  // metrics need before it.
  int start() const;
  // Whether more frames are needed: false once the requested count and the neighbours behind it
  // are in.
  bool wants_more() const;

  // Blocks until push() would not: who waits before reading the next pair holds one pair less.
  void wait_for_space();
  // Takes the next pair, which must have the plan's format.  Blocks while frames_in_flight pairs
  // are unfinished.  The first error of any frame ends the run and is returned from then on.
  Status push(Picture reference, Picture distorted);
  // No more pairs: waits for all work, finishes the last frames and the aggregates.
  Status finish();
  // Waits for the frames in work, for a run that broke off: those whose scores are certain are
  // finished, no end of the sequence is assumed.
  void drain();
  // Drops the frames that have not been measured; push() and finish() return kInterrupted.
  void cancel();

  // Frames whose scores are complete; they can be read while later ones are in work.
  int finished_frames() const;
  // When the first frame's scores were complete; the clock's epoch before that.
  std::chrono::steady_clock::time_point first_score() const;
  // A score of a finished frame; blocks until it is finished or the run failed.
  Result<double> score(const std::string& key, int index);

  // Complete after finish(); also after an error, with the frames finished before it.
  const Scores& scores() const;
  const std::vector<std::string>& warnings() const;

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vqx
