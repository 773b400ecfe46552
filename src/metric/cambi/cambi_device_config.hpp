// What the host hands to CAMBI's device code, and what both sides compute alike.  Compiled into
// every backend module.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/target.hpp"
#include "vqx/status.hpp"

namespace vqx::cambi {

inline constexpr int kScales = 5;
inline constexpr int kMaxSteps = 32;
inline constexpr int kMaxLevel = 1024;   // of a 10-bit plane made from more bits without a clamp
inline constexpr int kTableSize = 4226;  // the area of the largest window, plus 1
inline constexpr int kMaxRadius = 32;
inline constexpr int kMaskRadius = 3;  // flatness is judged in 7 x 7 pixels

inline constexpr std::uint16_t kKept = 0x8000;  // set in samples that the mask keeps
inline constexpr std::uint16_t kLevelBits = 0x7fff;
inline constexpr std::uint32_t kHalfBits = 0x3f000000;  // bits of 0.5, the smallest c but zero

struct DeviceSize {
  std::int32_t width;
  std::int32_t height;
  std::uint64_t pixels() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
};

// An Analysis with its Levels, as plain data (see cambi.hpp for the meanings).
struct DeviceAnalysis {
  std::int32_t width;
  std::int32_t height;
  std::int32_t antidither;
  std::int32_t halve_first;
  std::int32_t window;
  std::int32_t mask_threshold;
  std::int32_t unit;
  std::int32_t steps;
  std::int32_t first_scored;
  std::int32_t scored;
  DeviceSize scales[kScales];
  std::int64_t pooled[kScales];
  float weight[kMaxSteps];
  std::uint32_t visible[kMaxLevel + 2];
};

struct DeviceSet {
  DeviceAnalysis distorted;
  DeviceAnalysis reference;
  std::int64_t full_reference;
};

// The binary32 nearest to 1/i written with nine significant decimal digits; 0 for i = 0.
inline std::vector<float> make_reciprocals() {
  std::vector<float> values(kTableSize);
  for (std::int64_t i = 1; i < kTableSize; ++i) {
    std::int64_t power = 100'000'000;
    while (power / i < 100'000'000) power *= 10;
    const std::int64_t digits = (2 * power + i) / (2 * i);
    values[static_cast<std::size_t>(i)] =
        static_cast<float>(static_cast<double>(digits) / static_cast<double>(power));
  }
  return values;
}

// Source index of each of `out` samples of an axis of `in` samples.
inline std::vector<int> sample_positions(int in, int out) {
  const float step = static_cast<float>(in) / static_cast<float>(out);
  std::vector<int> index(static_cast<std::size_t>(out));
  float at = static_cast<float>(static_cast<double>(step / 2.0f) - 0.5);
  for (int& i : index) {
    // The running sum can drift one sample past the end.  Half up, as the specification rounds.
    i = std::min(static_cast<int>(static_cast<double>(at) + 0.5), in - 1);
    at += step;
  }
  return index;
}

// A sample above the peak as one word; the earliest in raster order has the greatest word.
VQX_FN std::uint64_t encode_bad_sample(int x, int y, int sample) {
  const std::uint64_t later = static_cast<std::uint64_t>(y) << 16 | static_cast<std::uint64_t>(x);
  return ((std::uint64_t{1} << 40) - later) << 16 | static_cast<std::uint64_t>(sample);
}

inline Status bad_sample_status(std::uint64_t word, int bit_depth, bool reference) {
  const std::uint64_t later = (std::uint64_t{1} << 40) - (word >> 16);
  return Status(ErrorCode::kSampleRange,
                "cambi: luma sample " + std::to_string(word & 0xffff) + " at (" +
                    std::to_string(later & 0xffff) + ", " + std::to_string(later >> 16) +
                    ") of the " + (reference ? "reference" : "distorted") + " picture is above " +
                    std::to_string((1 << bit_depth) - 1) + ", the largest value of " +
                    std::to_string(bit_depth) + " bits");
}

}  // namespace vqx::cambi
