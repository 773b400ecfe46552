// What the compiler at hand builds for, and the function attributes that follow from it.
//
// The same headers are read by the host compiler, nvcc (CUDA, or HIP on NVIDIA), hipcc (HIP on AMD)
// and SYCL compilers.  A backend module defines VQX_TARGET_CUDA, VQX_TARGET_HIP or VQX_TARGET_SYCL;
// without one of them kernels run on the host executor.
#pragma once

#if defined(VQX_TARGET_HIP)
#if defined(__CUDACC__)
#include "kernel/hip_on_cuda13.hpp"
#endif
#include <hip/hip_runtime.h>
#elif defined(VQX_TARGET_SYCL)
#include <sycl/sycl.hpp>
#endif

#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
#define VQX_FN __host__ __device__ __forceinline__  // arithmetic: for kernels and host code
#define VQX_KERNEL_FN __device__ __forceinline__    // bodies of kernels and what only they call
#else
#define VQX_FN inline __attribute__((always_inline))
#define VQX_KERNEL_FN inline __attribute__((always_inline))
#endif

// True while device code for NVIDIA is compiled by nvcc: its intrinsics are never contracted.
#if defined(__CUDA_ARCH__) && !defined(VQX_TARGET_SYCL)
#define VQX_NVIDIA_DEVICE 1
#endif

// True while device code for NVIDIA is compiled by a SYCL compiler.  NVIDIA's intrinsics are
// nvcc's; the instructions behind them can be written here too.
#if defined(VQX_TARGET_SYCL) && defined(__NVPTX__) && \
    (defined(__CUDA_ARCH__) || defined(__SYCL_DEVICE_ONLY__))
#define VQX_SYCL_ON_NVIDIA 1
#endif

// The iterations of the loop below do not depend on each other.
#if defined(__clang__)
#define VQX_SIMD_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define VQX_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define VQX_SIMD_LOOP
#define VQX_UNROLL _Pragma("unroll")
#else
#define VQX_SIMD_LOOP _Pragma("GCC ivdep")
#define VQX_UNROLL _Pragma("GCC unroll 32")
#endif
