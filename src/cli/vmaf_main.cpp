#include <cstdio>
#include <exception>

#include "base/simd.hpp"
#include "base/version.hpp"
#include "cli/interrupt.hpp"
#include "cli/terminal.hpp"
#include "cli/vmaf_options.hpp"
#include "cli/vmaf_run.hpp"

namespace {

int run(int argc, char** argv) {
  const vqx::Result<vqx::cli::VmafOptions> options = vqx::cli::parse_vmaf_options(argc, argv);
  if (!options.ok()) {
    std::fprintf(stderr, "%s\n\n%s\n", options.status().message().c_str(),
                 vqx::cli::vmaf_usage(argv[0]).c_str());
    return 1;
  }
  if (options->show_version) {
    std::fprintf(stderr, "%s\n", vqx::kVersionText);
    return 0;
  }
  const vqx::Status simd = vqx::select_simd_level_from_environment();
  if (!simd.ok()) {
    std::fprintf(stderr, "%s\n", simd.message().c_str());
    return 1;
  }
  vqx::cli::catch_interrupts();
  return vqx::cli::run_vmaf(*options);
}

}  // namespace

int main(int argc, char** argv) {
  vqx::cli::open_standard_streams();
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    // The standard library throws when memory is out; vqx itself does not.
    std::fprintf(stderr, "vmaf: %s\n", error.what());
    return 70;
  }
}
