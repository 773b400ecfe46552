// One line on standard error that shows how far a run is; silent unless it is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace vqx::cli {

class ProgressBar {
 public:
  // `total`: frames to come, where known.
  ProgressBar(bool wanted, std::optional<std::int64_t> total);
  ~ProgressBar() { end(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t frame);
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool active_ = false;
  std::optional<std::int64_t> total_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
};

}  // namespace vqx::cli
