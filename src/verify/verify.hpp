// The parity gate: measures the case table on a device and on the CPU and compares every word and
// every published double with ==.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backend/device_run.hpp"
#include "vqx/status.hpp"

namespace vqx::verify {

struct VerifyOptions {
  backend::DeviceRunOptions device;
  std::vector<std::string> metrics;  // empty: all that the backend has
  bool large = true;                 // also 1080p and 4K
  int stride = 1;                    // every N-th picture only
};

struct MetricResult {
  std::string metric;
  int cases = 0;             // pictures x options
  std::uint64_t words = 0;   // compared
  std::uint64_t scores = 0;  // compared
  double seconds_on_device = 0;
  std::string difference;  // empty: all equal; else the case and the first differing value
};

// Calls `done` after each metric, which stops at its first difference.  An error is one of the
// backend or of a metric; differences are results.
Result<std::vector<MetricResult>> verify(const VerifyOptions& options,
                                         const std::function<void(const MetricResult&)>& done);

// "psnr: 1040 cases equal (3120 words, 3120 scores)" or "psnr: DIFFERS: ...".
std::string to_text(const MetricResult& result);

}  // namespace vqx::verify
