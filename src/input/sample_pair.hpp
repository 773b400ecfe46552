// A pair of videos that the program makes itself, to have something to score when nothing is at
// hand: a synthetic scene (drifting clouds, a bouncing ball, a panning grating) and the same scene
// after coarse transform coding.  Integer arithmetic only: the files are the same everywhere, byte
// for byte.
#pragma once

#include <string>

#include "vqx/status.hpp"

namespace vqx::input {

struct SamplePair {
  int width = 640;   // 16 .. 4096
  int height = 360;  // 16 .. 4096
  int frames = 24;   // at least 1
  int loss = 24;     // 0 (none) .. 255: step of the quantizer that makes the distorted video
};

// Writes two YUV4MPEG2 files (8 bits, 4:2:0, 24 frames a second); files that exist are replaced.
Status write_sample_pair(const std::string& reference, const std::string& distorted,
                         const SamplePair& pair = {});

}  // namespace vqx::input
