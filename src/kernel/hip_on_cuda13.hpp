// Lets the HIP 5.2 headers for NVIDIA (Debian 12) compile with CUDA 13, which removed entry points
// that they name.  Included before <hip/hip_runtime.h>.  The removed ones come back as overloads;
// those that no longer exist at all return cudaErrorNotSupported.
#pragma once
#if defined(__CUDACC__) && !defined(__HIP_PLATFORM_AMD__)
#include <cuda.h>
#include <cuda_runtime.h>
#include <climits>
#include <cstring>
#if CUDART_VERSION >= 13000
inline cudaMemLocation vqx_hip_location(int d) {
  cudaMemLocation l{};
  l.type = d == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  l.id = d < 0 ? 0 : d;
  return l;
}
inline cudaError_t cudaMemAdvise(const void* p, size_t n, cudaMemoryAdvise a, int d) {
  return cudaMemAdvise(p, n, a, vqx_hip_location(d));
}
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t n, int d, cudaStream_t s = 0) {
  return cudaMemPrefetchAsync(p, n, vqx_hip_location(d), 0, s);
}
inline CUresult cuCtxCreate_v4(CUcontext* c, unsigned f, CUdevice d) {
  return cuCtxCreate_v4(c, nullptr, f, d);
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t* a,
                                            const cudaGraphNode_t* b, size_t n) {
  return cudaGraphAddDependencies(g, a, b, nullptr, n);
}
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t g, const cudaGraphNode_t* a,
                                               const cudaGraphNode_t* b, size_t n) {
  return cudaGraphRemoveDependencies(g, a, b, nullptr, n);
}
inline cudaError_t cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t* a, cudaGraphNode_t* b,
                                     size_t* n) {
  return cudaGraphGetEdges(g, a, b, nullptr, n);
}
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t v, cudaGraphNode_t* p, size_t* n) {
  return cudaGraphNodeGetDependencies(v, p, nullptr, n);
}
inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t v, cudaGraphNode_t* p,
                                                  size_t* n) {
  return cudaGraphNodeGetDependentNodes(v, p, nullptr, n);
}
inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t s, cudaStreamCaptureStatus* st,
                                               unsigned long long* id = 0, cudaGraph_t* g = 0,
                                               const cudaGraphNode_t** d = 0, size_t* n = 0) {
  return cudaStreamGetCaptureInfo(s, st, id, g, d, nullptr, n);
}
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t s, cudaGraphNode_t* d, size_t n,
                                                       unsigned f = 0) {
  return cudaStreamUpdateCaptureDependencies(s, d, nullptr, n, f);
}
struct textureReference {
  int unused;
};
template <class T, int dim = 1, cudaTextureReadMode m = cudaReadModeElementType>
struct texture : textureReference {};
template <class... A>
inline cudaError_t cudaBindTexture(const A&...) {
  return cudaErrorNotSupported;
}
template <class... A>
inline cudaError_t cudaBindTexture2D(const A&...) {
  return cudaErrorNotSupported;
}
template <class... A>
inline cudaError_t cudaBindTextureToArray(const A&...) {
  return cudaErrorNotSupported;
}
template <class... A>
inline cudaError_t cudaUnbindTexture(const A&...) {
  return cudaErrorNotSupported;
}
template <class... A>
inline cudaError_t cudaGetTextureAlignmentOffset(const A&...) {
  return cudaErrorNotSupported;
}
template <class... A>
inline cudaError_t cudaLaunchCooperativeKernelMultiDevice(const A&...) {
  return cudaErrorNotSupported;
}
#define cudaDevAttrCooperativeMultiDeviceLaunch cudaDevAttrCooperativeLaunch
struct vqx_hip_properties : cudaDeviceProp {
  int clockRate, memoryClockRate, computeMode, cooperativeMultiDeviceLaunch,
      kernelExecTimeoutEnabled;
};
inline cudaError_t vqx_hip_properties_of(vqx_hip_properties* p, int d) {
  cudaError_t e = cudaGetDeviceProperties(p, d);
  if (e != cudaSuccess) return e;
  cudaDeviceGetAttribute(&p->clockRate, cudaDevAttrClockRate, d);
  cudaDeviceGetAttribute(&p->memoryClockRate, cudaDevAttrMemoryClockRate, d);
  cudaDeviceGetAttribute(&p->computeMode, cudaDevAttrComputeMode, d);
  cudaDeviceGetAttribute(&p->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout, d);
  p->cooperativeMultiDeviceLaunch = 0;
  return cudaSuccess;
}
#define cudaDeviceProp vqx_hip_properties
#define cudaGetDeviceProperties vqx_hip_properties_of
#endif
#endif
