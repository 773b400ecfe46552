// Where the metrics of a run are measured, as users say it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/placement.hpp"
#include "engine/plan.hpp"
#include "vqx/session.hpp"
#include "vqx/status.hpp"

namespace vqx {

using Placements = std::vector<std::shared_ptr<const Placement>>;

struct BackendChoice {
  std::string backend = "cpu";                      // "cpu", "host", "cuda", "hip", "sycl"
  std::map<std::string, std::string> exceptions{};  // by metric: another backend
  std::vector<int> devices{};                       // empty: the first
  bool all_devices = false;
  abi::Fp64 fp64 = abi::kFp64Auto;
  bool profile = false;
  std::shared_ptr<backend::PinnedMemory> pinned{};  // memory of the inputs' pictures; may be null
};

// Takes the backend out of feature names such as "cambi_sycl" and notes it for the metric.
// kInvalidArgument when two names disagree about a metric's backend.
Status take_backends_from_names(std::vector<FeatureSpec>& features, BackendChoice& choice);

// "0", "0,1" or "all"; kInvalidArgument otherwise.
Status parse_devices(const std::string& text, BackendChoice& choice);
// "auto", "hardware" or "software".
Result<abi::Fp64> parse_fp64(const std::string& text);

// Opens the devices.  A metric that its backend lacks stays on the CPU.  kBackend when a backend is
// missing, has no such device, or fails its self-test.
Result<Placements> place(const Plan& plan, const BackendChoice& choice);

// Where a group of the plan is measured.
std::string backend_of(const Placements& placements, std::size_t group);
// Frames that the devices hold at once; 0 without devices.
int frames_in_flight(const Placements& placements);

// The first backend with a usable device among cuda, hip and sycl, those of `without` left out;
// "cpu" if there is none.
std::string best_backend(const std::set<std::string>& without = {});

}  // namespace vqx
