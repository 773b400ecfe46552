// Which groups of a plan are measured on the devices of a backend.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/device_run.hpp"
#include "engine/plan.hpp"
#include "vqx/status.hpp"

namespace vqx {

class Placement {
 public:
  // Takes those of `groups` (indices into plan.groups) that the backend can measure and opens its
  // devices for them; the others stay on the CPU.  Without any, no device is opened.  An error
  // tells of a missing backend or device, a failed self-test, or too little device memory.
  static Result<std::unique_ptr<Placement>> open(const Plan& plan,
                                                 const std::vector<std::size_t>& groups,
                                                 const backend::DeviceRunOptions& options);
  // Likewise for all groups.
  static Result<std::unique_ptr<Placement>> open(const Plan& plan,
                                                 const backend::DeviceRunOptions& options);

  const std::string& backend() const { return backend_; }
  const std::vector<std::size_t>& groups() const { return groups_; }
  bool holds(std::size_t group) const;
  // Null when the backend can measure none of the groups.
  backend::DeviceRun* run() const { return run_.get(); }

 private:
  std::string backend_;
  std::vector<std::size_t> groups_;
  std::unique_ptr<backend::DeviceRun> run_;
};

}  // namespace vqx
