// The command line of the `vmaf` drop-in: libvmaf's options, words and rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan.hpp"
#include "output/libvmaf_report.hpp"
#include "vqx/picture.hpp"

namespace vqx::cli {

struct ModelOverload {
  std::string extractor;
  std::string option;
  std::string value;
};

// `--model ITEM:ITEM:...`
struct ModelArgument {
  std::string path;
  std::string version;
  std::string name = "vmaf";
  bool disable_clip = false;
  bool enable_transform = false;
  std::vector<ModelOverload> overloads;

  // What result lines and messages call it.
  const std::string& label() const { return version.empty() ? path : version; }
};

// `--feature NAME=OPTION=VALUE:...`
struct FeatureArgument {
  std::string name;
  OptionTexts options;
};

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
  std::vector<ModelArgument> models;
  std::vector<FeatureArgument> features;
  std::string output;
  output::LibvmafFormat format = output::LibvmafFormat::kXml;
  output::NumberFormat number = output::NumberFormat::libvmaf();
  unsigned threads = 0;
  unsigned subsample = 0;
  unsigned frame_count = 0;
  unsigned skip_reference = 0;
  unsigned skip_distorted = 0;
  std::string backend = "cpu";
  bool no_prediction = false;
  bool quiet = false;
  bool show_version = false;
  bool depths_may_differ = false;  // --aom_ctc v6.0 and later
};

// kInvalidArgument with the message of a usage error.  getopt's own complaints go to standard
// error, as libvmaf has it, and the run continues.
Result<VmafOptions> parse_vmaf_options(int argc, char** argv);

// `Usage: PROGRAM [options]` and the summary of options.
std::string vmaf_usage(const std::string& program);

// One `--model` or `--feature` argument.
Result<ModelArgument> parse_model_argument(const std::string& text);
Result<FeatureArgument> parse_feature_argument(const std::string& text);

}  // namespace vqx::cli
