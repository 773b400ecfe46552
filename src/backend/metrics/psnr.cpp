#include "metric/psnr/psnr_device.hpp"

#include "backend/device_metrics.hpp"

VQX_INSTANTIATE_DEVICE_METRIC(psnr, psnr::PsnrDevice)
