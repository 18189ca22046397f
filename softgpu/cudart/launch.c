/* Kernels: launches, attributes, occupancy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

#define DEEPEST 16 /* <<<>>> in the arguments of <<<>>> */

typedef struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} Configuration;

static _Thread_local Configuration pushed[DEEPEST];
static _Thread_local unsigned depth;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                            cudaStream_t stream)
{
    if (depth == DEEPEST) return cudaErrorLaunchOutOfResources;
    pushed[depth++] = (Configuration){grid, block, shared, stream};
    return cudaSuccess;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (!depth) return cudaErrorMissingConfiguration;
    Configuration *last = &pushed[--depth];
    *grid = last->grid;
    *block = last->block;
    *shared = last->shared;
    *(cudaStream_t *)stream = last->stream;
    return cudaSuccess;
}

/* ---- launches ---- */

/* What was wrong with asking for it is the launch's error; what happened while it ran is the error of every
   call from then on. */
CUresult told_aloud(CUresult result)
{
    if (result) fprintf(stderr, "softgpu: %s\n", cudaGetErrorString((cudaError_t)result));
    if (result < CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
        result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE ||
        (result >= CUDA_ERROR_NOT_SUPPORTED && result != CUDA_ERROR_UNKNOWN))
        return result;
    context_breaks(result);
    return CUDA_SUCCESS;
}

static cudaError_t launch(const void *host, void **arguments, const CUlaunchConfig *config)
{
    CUfunction function;
    CUresult result = ready();
    if (result) return told(result);
    result = function_of(host, &function);
    if (!result) result = cuLaunchKernelEx(config, function, arguments, NULL);
    result = told_aloud(result);
    bool before = CUDART_VERSION < 13000 && result == CUDA_ERROR_INVALID_VALUE;
    return told(before ? (CUresult)cudaErrorInvalidConfiguration : result);
}

static CUlaunchConfig configured(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    return (CUlaunchConfig){.gridDimX = grid.x,
                            .gridDimY = grid.y,
                            .gridDimZ = grid.z,
                            .blockDimX = block.x,
                            .blockDimY = block.y,
                            .blockDimZ = block.z,
                            .sharedMemBytes = shared,
                            .hStream = stream};
}

CUDART cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared,
                        cudaStream_t stream)
{
    CUlaunchConfig config = configured(grid, block, shared, stream);
    return launch(host, arguments, &config);
}

CUDART cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments,
                                   size_t shared, cudaStream_t stream)
{
    CUlaunchAttribute together = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = configured(grid, block, shared, stream);
    config.attrs = &together;
    config.numAttrs = 1;
    return launch(host, arguments, &config);
}

/* The driver's attributes have other names, and the same numbers and values. */
static CUlaunchConfig driver_config(const cudaLaunchConfig_t *of)
{
    CUlaunchConfig config = configured(of->gridDim, of->blockDim, of->dynamicSmemBytes, of->stream);
    config.attrs = (CUlaunchAttribute *)of->attrs;
    config.numAttrs = of->numAttrs;
    return config;
}

CUDART cudaLaunchKernelExC(const cudaLaunchConfig_t *of, const void *host, void **arguments)
{
    CUlaunchConfig config = driver_config(of);
    return launch(host, arguments, &config);
}

/* What `<<<>>>` has become: the kernel's handle is the host's address of it. */
EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
    *out = (cudaKernel_t)host;
    return cudaSuccess;
}

EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                      size_t shared, cudaStream_t stream)
{ return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream); }

/* ---- what a kernel needs, and how many of its blocks fit ---- */

CUDART cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *host)
{
    CUfunction function;
    CUresult result = ready() ?: function_of(host, &function);
    memset(out, 0, sizeof *out);
    int value;
#define FETCH(member, attribute)                                                                   \
    if (!result &&                                                                                 \
        !(result = cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_##attribute, function)))           \
        out->member = value;
    FETCH(sharedSizeBytes, SHARED_SIZE_BYTES)
    FETCH(constSizeBytes, CONST_SIZE_BYTES)
    FETCH(localSizeBytes, LOCAL_SIZE_BYTES)
    FETCH(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)
    FETCH(numRegs, NUM_REGS)
    FETCH(ptxVersion, PTX_VERSION)
    FETCH(binaryVersion, BINARY_VERSION)
    FETCH(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES)
    FETCH(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT)
    FETCH(requiredClusterWidth, REQUIRED_CLUSTER_WIDTH)
    FETCH(requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT)
    FETCH(requiredClusterDepth, REQUIRED_CLUSTER_DEPTH)
    FETCH(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    return told(result);
}

CUDART cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value)
{
    CUfunction function;
    CUresult result = ready() ?: function_of(host, &function);
    return told(result ?: cuFuncSetAttribute(function, (CUfunction_attribute)attribute, value));
}

CUDART cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
    CUfunction function;
    CUresult result = ready() ?: function_of(host, &function);
    return told(result ?: cuFuncSetCacheConfig(function, (CUfunc_cache)config));
}

CUDART cudaFuncSetSharedMemConfig(const void *host, enum cudaSharedMemConfig config)
{
    CUfunction function;
    CUresult result = ready() ?: function_of(host, &function);
    return told(result ?: cuFuncSetSharedMemConfig(function, (CUsharedconfig)config));
}

CUDART cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host,
                                                              int threads, size_t shared,
                                                              unsigned flags)
{
    (void)flags;
    CUfunction function;
    CUresult result = ready() ?: function_of(host, &function);
    return told(
        result ?: cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared));
}

CUDART cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
                                                     size_t shared)
{ return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0); }

CUDART cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const cudaLaunchConfig_t *of)
{
    CUfunction function;
    CUlaunchConfig config = driver_config(of);
    CUresult result = ready() ?: function_of(host, &function);
    return told(result ?: cuOccupancyMaxActiveClusters(clusters, function, &config));
}

CUDART cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host,
                                            const cudaLaunchConfig_t *of)
{
    CUfunction function;
    CUlaunchConfig config = driver_config(of);
    CUresult result = ready() ?: function_of(host, &function);
    return told(result ?: cuOccupancyMaxPotentialClusterSize(blocks, function, &config));
}
