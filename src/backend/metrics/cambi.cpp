#include "metric/cambi/cambi_device.hpp"

#include "backend/device_metrics.hpp"

VQX_INSTANTIATE_DEVICE_METRIC(cambi, cambi::CambiDevice)
