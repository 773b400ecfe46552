// `vqx REFERENCE DISTORTED`: scores one pair.
#pragma once

#include "cli/vqx_options.hpp"

namespace vqx::cli {

// Exit statuses of vqx.
enum ExitStatus {
  kExitOk = 0,
  kExitBelow = 1,    // a --fail-below limit was not reached
  kExitUsage = 2,    // an option, name or size that is not accepted
  kExitInput = 3,    // an input that cannot be read, or a pair that does not match
  kExitBroken = 4,   // an input that breaks off, or samples out of range
  kExitOutput = 5,   // a report that cannot be written
  kExitBackend = 6,  // a backend that is missing, failed its self-test or ran out of memory
};
int exit_status(const Status& status);
// Says what went wrong on standard error; returns the exit status.
int fail(const Status& status);

int run_score(const ScoreOptions& options);

}  // namespace vqx::cli
