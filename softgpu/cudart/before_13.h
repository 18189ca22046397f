/* For programs that were written before CUDA 13: names that it has taken away (and CUDA 12
   calls deprecated), and older headers for its compiler. nvcc includes this first. */
#ifndef SOFTGPU_BEFORE_13_H
#define SOFTGPU_BEFORE_13_H

#include <cuda_runtime_api.h>

#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadSetLimit cudaDeviceSetLimit
#define cudaThreadGetLimit cudaDeviceGetLimit
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#define cudaThreadGetCacheConfig cudaDeviceGetCacheConfig

#if CUDART_VERSION < 13000 && defined(__CUDACC__) && __CUDACC_VER_MAJOR__ >= 13
/* CCCL asks once whether the compiler and the headers are of one version. These are older on purpose. */
#if __has_include(<cuda/std/__cccl/cuda_toolkit.h>)
#pragma push_macro("CUDART_VERSION")
#undef CUDART_VERSION
#define CUDART_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#include <cuda/std/__cccl/cuda_toolkit.h>
#pragma pop_macro("CUDART_VERSION")
#endif
#endif

#endif
