#include "cli/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace vqx::cli {

ProgressBar::ProgressBar(bool wanted, std::optional<std::int64_t> total)
    : shown_(wanted && isatty(STDERR_FILENO) != 0), total_(total) {}

void ProgressBar::show(std::int64_t frame) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (active_ && now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  active_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(frame) / seconds : 0;
  std::string line;
  if (total_ && *total_ > 0) {
    constexpr int kWidth = 30;
    const double share = std::min(1.0, static_cast<double>(frame) / static_cast<double>(*total_));
    const int filled = static_cast<int>(share * kWidth);
    line = fmt::format("[{}{}] {:3.0f} %  frame {} of {}", std::string(filled, '#'),
                       std::string(kWidth - filled, ' '), share * 100, frame, *total_);
  } else {
    line = fmt::format("frame {}", frame);
  }
  line += fmt::format("  {:.1f} fps", rate);
  if (total_ && rate > 0) {
    const auto left = static_cast<std::int64_t>(static_cast<double>(*total_ - frame) / rate);
    line += fmt::format("  {}:{:02} left", left / 60, left % 60);
  }
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
}

void ProgressBar::end() {
  if (active_) std::fputs("\r\033[K", stderr);
  active_ = false;
}

}  // namespace vqx::cli
