#include "engine/backend_choice.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "backend/backend.hpp"

namespace vqx {

Status take_backends_from_names(std::vector<FeatureSpec>& features, BackendChoice& choice) {
  for (FeatureSpec& feature : features) {
    const BackendName parts = split_backend_name(feature.name);
    if (parts.backend.empty()) continue;
    const auto [present, inserted] = choice.exceptions.emplace(parts.metric, parts.backend);
    if (!inserted && present->second != parts.backend)
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("{} is asked for on two backends, {} and {}", parts.metric,
                                present->second, parts.backend));
    feature.name = parts.metric;
  }
  return {};
}

Status parse_devices(const std::string& text, BackendChoice& choice) {
  if (text == "all") {
    choice.all_devices = true;
    return {};
  }
  const char* position = text.data();
  const char* const end = text.data() + text.size();
  for (;;) {
    int device = -1;
    const auto [stop, error] = std::from_chars(position, end, device);
    if (error != std::errc() || device < 0 || (stop != end && *stop != ','))
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("--device {}: expected a number, several with commas, or all", text));
    choice.devices.push_back(device);
    if (stop == end) return {};
    position = stop + 1;
  }
}

Result<abi::Fp64> parse_fp64(const std::string& text) {
  if (text == "auto") return abi::kFp64Auto;
  if (text == "hardware") return abi::kFp64Hardware;
  if (text == "software") return abi::kFp64Software;
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("--device-fp64 {}: expected auto, hardware or software", text));
}

Result<Placements> place(const Plan& plan, const BackendChoice& choice) {
  std::map<std::string, std::vector<std::size_t>> groups;  // by backend
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const auto exception = choice.exceptions.find(std::string(plan.groups[g].info->name));
    const std::string& backend =
        exception != choice.exceptions.end() ? exception->second : choice.backend;
    if (backend != "cpu") groups[backend].push_back(g);
  }
  Placements placements;
  for (const auto& [backend, members] : groups) {
    backend::DeviceRunOptions options;
    options.backend = backend;
    options.devices = choice.devices;
    options.all_devices = choice.all_devices;
    options.fp64 = choice.fp64;
    options.profile = choice.profile;
    options.pinned = choice.pinned;
    VQX_ASSIGN_OR_RETURN(std::unique_ptr<Placement> placement,
                         Placement::open(plan, members, options));
    placements.push_back(std::move(placement));
  }
  return placements;
}

std::string backend_of(const Placements& placements, std::size_t group) {
  for (const auto& placement : placements)
    if (placement->run() != nullptr && placement->holds(group)) return placement->backend();
  return "cpu";
}

int frames_in_flight(const Placements& placements) {
  int frames = 0;
  for (const auto& placement : placements)
    if (placement->run() != nullptr) frames += placement->run()->frames_in_flight();
  return frames;
}

std::string best_backend(const std::set<std::string>& without) {
  for (const char* name : {"cuda", "hip", "sycl"}) {
    if (without.count(name) != 0) continue;
    const Result<const abi::Backend*> backend = backend::load_backend(name);
    if (!backend.ok()) continue;
    abi::Error error;
    if ((*backend)->device_count(&error) > 0 && error.code == 0) return name;
  }
  return "cpu";
}

}  // namespace vqx
