// A run of the `vmaf` drop-in.
#pragma once

#include <string>

#include "cli/vmaf_options.hpp"

namespace vqx::cli {

// Reads, scores and reports; messages go to standard error.  Returns the exit status.
int run_vmaf(const VmafOptions& options);

}  // namespace vqx::cli
