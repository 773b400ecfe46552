#include "engine/placement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "backend/backend.hpp"

namespace vqx {

Result<std::unique_ptr<Placement>> Placement::open(const Plan& plan,
                                                   const std::vector<std::size_t>& groups,
                                                   const backend::DeviceRunOptions& options) {
  VQX_ASSIGN_OR_RETURN(const abi::Backend* loaded, backend::load_backend(options.backend));
  auto placement = std::make_unique<Placement>();
  placement->backend_ = options.backend;
  std::vector<backend::DeviceRequest> requests;
  for (const std::size_t g : groups) {
    const Group& group = plan.groups[g];
    const backend::DeviceRequest request{group.info->name, group.metric.get(),
                                         group.instances.size()};
    if (group.needs.pictures_before > 0 || !backend::can_measure(*loaded, request)) continue;
    requests.push_back(request);
    placement->groups_.push_back(g);
  }
  if (!requests.empty()) {
    VQX_ASSIGN_OR_RETURN(placement->run_, backend::DeviceRun::open(options, plan.format, requests));
  }
  return Result<std::unique_ptr<Placement>>(std::move(placement));
}

Result<std::unique_ptr<Placement>> Placement::open(const Plan& plan,
                                                   const backend::DeviceRunOptions& options) {
  std::vector<std::size_t> all(plan.groups.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return open(plan, all, options);
}

bool Placement::holds(std::size_t group) const {
  return std::find(groups_.begin(), groups_.end(), group) != groups_.end();
}

}  // namespace vqx
