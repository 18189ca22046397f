/* Names that CUDA 13 has taken away, for programs that were written before: nvcc includes this first. */
#ifndef SOFTGPU_BEFORE_13_H
#define SOFTGPU_BEFORE_13_H

#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadSetLimit cudaDeviceSetLimit
#define cudaThreadGetLimit cudaDeviceGetLimit
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#define cudaThreadGetCacheConfig cudaDeviceGetCacheConfig
#endif

#endif
