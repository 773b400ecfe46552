// A small pair of videos that vqx makes itself, for trying it out: a moving scene, and the same
// after coarse block coding.  Integer arithmetic only, so that it is the same everywhere.
#pragma once

#include <string>

#include "vqx/status.hpp"

namespace vqx::input {

// Writes 24 frames of 640 x 360, 8-bit 4:2:0, as YUV4MPEG2.  kOutput when a file cannot be written.
Status write_sample_pair(const std::string& reference_path, const std::string& distorted_path);

}  // namespace vqx::input
