#include "backend/device_metrics.hpp"
#include "metric/ssim/ssim_device.hpp"

VQX_INSTANTIATE_DEVICE_METRIC(float_ms_ssim, ssim::MsSsimDevice)
