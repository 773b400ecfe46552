// The command line of the `vmaf` drop-in: libvmaf's options, words and rules.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan.hpp"
#include "output/libvmaf_report.hpp"
#include "vqx/picture.hpp"
#include "vqx/session.hpp"

namespace vqx::cli {

struct RawFormat {
  unsigned width = 0;
  unsigned height = 0;
  ChromaFormat chroma = ChromaFormat::k420;
  unsigned bit_depth = 0;
};

struct VmafOptions {
  std::string reference;
  std::string distorted;
  std::optional<RawFormat> raw;
  std::vector<ModelSpec> models;
  std::vector<FeatureSpec> features;
  std::string output;
  output::LibvmafFormat format = output::LibvmafFormat::kXml;
  std::optional<output::NumberFormat> precision;
  unsigned threads = 0;
  unsigned subsample = 0;
  unsigned frame_count = 0;
  unsigned skip_reference = 0;
  unsigned skip_distorted = 0;
  std::string backend = "cpu";
  std::optional<int> device;        // of the backend; empty: the first
  std::set<std::string> forbidden;  // backends that "auto" must not choose
  bool no_prediction = false;
  bool quiet = false;
  bool show_version = false;
  bool depths_may_differ = false;  // --aom_ctc v6.0 and later

  // Without --precision reports follow libvmaf's rule, result lines have six decimals.
  output::NumberFormat report_number() const {
    return precision.value_or(output::NumberFormat::libvmaf());
  }
  output::NumberFormat result_number() const {
    return precision.value_or(output::NumberFormat::fixed());
  }
};

// kInvalidArgument with the message of a usage error.  getopt's own complaints go to standard
// error, as libvmaf has it, and the run continues.
Result<VmafOptions> parse_vmaf_options(int argc, char** argv);

// `Usage: PROGRAM [options]` and the summary of options.
std::string vmaf_usage(const std::string& program);

// One `--model` or `--feature` argument.
Result<ModelSpec> parse_model_spec(const std::string& text);
Result<FeatureSpec> parse_feature_spec(const std::string& text);

}  // namespace vqx::cli
