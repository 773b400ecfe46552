// May these two sources be compared?  Two sets of rules: those of Netflix's `vmaf` for its drop-in,
// and the strict ones of vqx, which never compare what the user may not know to be different.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/video_source.hpp"
#include "vqx/status.hpp"

namespace vqx::input {

// libvmaf's lines, one per problem; none when the pair is fine.  `any_depth`: depths may differ
// (the presets aom_ctc v6.0 and v7.0), for shift_to_depth() to make equal.
std::vector<std::string> check_pair_like_libvmaf(const VideoFormat& reference,
                                                 const VideoFormat& distorted, bool any_depth);

struct PairingRules {
  bool allow_shorter = false;          // --allow-shorter
  bool allow_rate_mismatch = false;    // --allow-rate-mismatch
  bool allow_aspect_mismatch = false;  // --allow-aspect-mismatch
  bool allow_colour_mismatch = false;  // --allow-colour-mismatch
  bool allow_interlaced = false;       // --allow-interlaced
  std::int64_t skip_reference = 0;     // frames that will be dropped at the start
  std::int64_t skip_distorted = 0;
  std::int64_t frame_limit = 0;  // pairs that will be scored at most; 0: all
};

struct PairCheck {
  ErrorCode code = ErrorCode::kOk;    // kMismatch, or kInput where a file holds no frame
  std::vector<std::string> problems;  // each says what differs, both values, and the flag to give
  std::vector<std::string> notes;     // differences that the rules accept, for the report

  bool ok() const { return problems.empty(); }
  Status status() const;  // all problems, a line each
};

PairCheck check_pair(const VideoSource& reference, const VideoSource& distorted,
                     const PairingRules& rules);

// The error of a run in which one side ended first although `allow_shorter` was not given.
Status ended_early(const VideoSource& shorter, std::int64_t shorter_frames,
                   const VideoSource& longer);

}  // namespace vqx::input
