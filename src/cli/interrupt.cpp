#include "cli/interrupt.hpp"

#include <csignal>
#include <initializer_list>

namespace vqx::cli {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void remember(int signal) {
  received_signal = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, remember);
}

int interrupted_by() {
  return received_signal;
}

}  // namespace vqx::cli
