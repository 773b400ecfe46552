// The metrics that have a device side.  One row here, and a file in backend/metrics/ that
// instantiates it, so that a module's metrics compile side by side.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "backend/platform.hpp"
#include "kernel/device_metric.hpp"

namespace vqx::backend {

using CreateDeviceMetric = Result<std::unique_ptr<kernel::DeviceMetric>> (*)(
    Platform::Executor& executor, const VideoFormat& format,
    std::span<const kernel::DeviceConfig> sets);

#define VQX_DEVICE_METRIC_FUNCTION(name)                       \
  Result<std::unique_ptr<kernel::DeviceMetric>> create_##name( \
      Platform::Executor& executor, const VideoFormat& format, \
      std::span<const kernel::DeviceConfig> sets)

VQX_DEVICE_METRIC_FUNCTION(cambi);
VQX_DEVICE_METRIC_FUNCTION(float_ms_ssim);
VQX_DEVICE_METRIC_FUNCTION(float_ssim);
VQX_DEVICE_METRIC_FUNCTION(psnr);

// Null: the metric has no device side.
inline CreateDeviceMetric find_device_metric(std::string_view name) {
  if (name == "cambi") return create_cambi;
  if (name == "float_ms_ssim") return create_float_ms_ssim;
  if (name == "float_ssim") return create_float_ssim;
  if (name == "psnr") return create_psnr;
  return nullptr;
}

// In backend/metrics/<name>.cpp: VQX_INSTANTIATE_DEVICE_METRIC(psnr, psnr::PsnrDevice)
// NOLINTBEGIN(bugprone-macro-parentheses): the name of a class template cannot stand in them.
#define VQX_INSTANTIATE_DEVICE_METRIC(name, Class)                    \
  namespace vqx::backend {                                            \
  VQX_DEVICE_METRIC_FUNCTION(name) {                                  \
    return Class<Platform::Executor>::create(executor, format, sets); \
  }                                                                   \
  }
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace vqx::backend
