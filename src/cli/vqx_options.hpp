// What a user asked `vqx REFERENCE DISTORTED` for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/vmaf_options.hpp"
#include "engine/backend_choice.hpp"
#include "input/pairing.hpp"
#include "input/video_source.hpp"

namespace vqx::cli {

struct FailBelow {
  std::string key;
  double value = 0;
};

struct ScoreOptions {
  std::string reference;
  std::string distorted;
  std::vector<FeatureSpec> features;
  std::vector<ModelSpec> models;
  std::vector<std::string> outputs;  // report files, format by extension
  std::vector<FailBelow> fail_below;

  std::optional<input::RawParameters> raw;
  std::optional<input::ScaleFilter> scale_distorted;
  std::optional<input::PixelFormat> pixel_format;
  input::PairingRules pairing;

  int threads = 0;  // at least 1
  int frames_in_flight = 0;
  int first = 0;
  int count = 0;
  int subsample = 1;
  BackendChoice backend{.backend = "auto"};
  bool quiet = false;
  std::optional<output::NumberFormat> number;  // of reports; default: round-trip
  std::string command_line;                    // for provenance
};

// "ssim" -> "float_ssim" and the like; other names unchanged.
std::string expand_short_name(const std::string& name);
// One `-f` argument, with short names expanded.  kInvalidArgument or kUnknownName, with the nearest
// name, or with the model where that is what was meant.
Result<FeatureSpec> parse_metric(const std::string& text);
// "KEY=VALUE".
Result<FailBelow> parse_fail_below(const std::string& text);
// "1920x1080" and a pixel format name.
Result<input::RawParameters> parse_raw(const std::string& size, const std::string& format);

}  // namespace vqx::cli
