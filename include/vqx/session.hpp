// Scoring from a program: frame pairs are pushed in, scores come out.
//
//   vqx::SessionOptions options;
//   options.models.push_back({.version = "vmaf_v0.6.1"});
//   options.features.push_back({.name = "psnr"});
//   auto session = vqx::Session::create({1920, 1080, vqx::ChromaFormat::k420, 8}, options);
//   if (!session.ok()) ...                       // session.status().message() says why
//   for (...) session.value()->push(reference, distorted);
//   session.value()->finish();
//   const auto* vmaf = session.value()->scores().find("vmaf");
//
// All errors are returned; nothing throws, prints or aborts.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vqx/picture.hpp"
#include "vqx/scores.hpp"
#include "vqx/status.hpp"

namespace vqx {

// A metric to measure, by its name in `vqx metrics`; options as texts, e.g. {"enable_lcs", "true"}.
struct FeatureSpec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options{};
};

// Changes one option of all features of a model that one metric provides.
struct ModelOverload {
  std::string metric;
  std::string option;
  std::string value;
};

// A quality model: built in (`version`, see `vqx models`) or from a libvmaf JSON file (`path`).
struct ModelSpec {
  std::string version{};  // wins over `path`
  std::string path{};
  std::string name = "vmaf";      // key of its scores; unique in a session
  bool disable_clip = false;      // do not clip to the model's range
  bool enable_transform = false;  // switch on the model's score transform
  std::vector<ModelOverload> overloads{};

  const std::string& label() const { return version.empty() ? path : version; }
};

struct SessionOptions {
  std::vector<FeatureSpec> features;
  std::vector<ModelSpec> models;
  int threads = 0;           // worker threads; 0: all work on the calling thread
  int frames_in_flight = 0;  // frame pairs held at once; 0: chosen from the threads
  int subsample = 1;         // report only frames whose index is a multiple
  int first = 0;             // index of the first frame to score (see start())
  int count = 0;             // frames to score; 0: all that come

  // Where to measure: "cpu", "host" (the portable kernels on the CPU), "cuda", "hip", "sycl", or
  // "auto" (the first GPU that is there, else the CPU).  The bits are the same everywhere.  A
  // metric that a backend lacks runs on the CPU; a feature's name may end in a backend,
  // "cambi_cuda".
  std::string backend = "cpu";
  std::vector<int> devices{};  // of the backend, from 0; they share the frames; empty: the first
  bool all_devices = false;
};

class Session {
 public:
  // kUnknownName, kInvalidArgument, kUnsupportedSize, kInput (model file) or kBackend (missing
  // backend or device, failed self-test), before any frame.
  static Result<std::unique_ptr<Session>> create(const VideoFormat& format,
                                                 const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Index of the first frame to push.  Behind 0 only when `first` is: the neighbours that temporal
  // metrics need before it are pushed too, so that a slice scores as in the uncut run.
  int start() const;
  // False once `count` frames and the neighbours behind them are in.
  bool wants_more() const;

  // A picture of the session's format to fill through mutable_row() and push.  Its memory is
  // recycled, and read by the session's devices without a copy.  Any other picture will do too.
  Result<Picture> new_picture();

  // The next pair, both of the session's format.  Keeps the pictures until they are measured (and
  // while later frames need them); blocks while frames_in_flight pairs are in work.
  Status push(Picture reference, Picture distorted);
  // After the last pair: completes all scores.
  Status finish();
  // Gives up; push() and finish() then return kInterrupted.
  void cancel();

  // A score by key (e.g. "vmaf", "psnr_y", "float_ssim"), once the frame's later neighbours are in:
  // for VMAF that of frame n - 1 is there after frame n.  Waits for frames in work.
  Result<double> score(const std::string& key, int index);
  // All series, pooled values and aggregates; complete after finish().
  const Scores& scores() const;
  // Where a metric, by its name in `vqx metrics`, is measured: "cpu", "cuda", ...; empty: nowhere.
  std::string backend_of(const std::string& metric) const;

 private:
  class Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Scores two files (y4m, or anything FFmpeg opens where that module is installed) by the strict
// rules of `vqx`: same size, format, frame rate and count.
Result<Scores> score_files(const std::string& reference, const std::string& distorted,
                           const SessionOptions& options);

}  // namespace vqx
