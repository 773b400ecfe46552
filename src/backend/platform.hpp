// The backend that this translation unit is compiled for, as `Platform`.
#pragma once

#include "kernel/target.hpp"

#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
#include "backend/gpu_platform.hpp"
#elif defined(VQX_TARGET_SYCL)
#include "backend/sycl_platform.hpp"
#else
#include "backend/host_platform.hpp"
#endif
