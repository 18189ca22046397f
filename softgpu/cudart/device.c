/* The device: choosing it, what it has, its limits. */
#include "cudart.h" /* first: the next one's headers may be newer */

#include <cuda_profiler_api.h>
#include <pthread.h>
#include <string.h>

typedef struct {
    CUcontext context;
    unsigned resets;
    CUresult broken; /* what a kernel did to the context, until it is reset */
} Device;

static Device devices[MOST_DEVICES];
static _Thread_local int device;
static _Thread_local int current = -1;        /* the device whose context this thread has */
static _Thread_local unsigned current_number; /* and the number of that context */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int current_device(void) { return device; }

unsigned context_number(void)
{ return __atomic_load_n(&devices[device].resets, __ATOMIC_RELAXED) + 1; }

CUresult ready(void)
{
    Device *of = &devices[device];
    if (current == device && current_number == context_number()) return of->broken;
    pthread_mutex_lock(&mutex);
    CUresult result = cuInit(0);
    if (!result && !of->context) result = cuDevicePrimaryCtxRetain(&of->context, device);
    if (!result) result = cuCtxSetCurrent(of->context);
    if (!result) current = device, current_number = of->resets + 1;
    pthread_mutex_unlock(&mutex);
    return result ?: of->broken;
}

void context_breaks(CUresult why) { devices[device].broken = why; }

CUDART cudaGetDeviceCount(int *count) { return told(cuInit(0) ?: cuDeviceGetCount(count)); }

CUDART cudaGetDevice(int *out)
{
    *out = device;
    return cudaSuccess;
}

CUDART cudaSetDevice(int wanted)
{
    CUdevice found;
    CUresult result = cuInit(0) ?: cuDeviceGet(&found, wanted);
    if (result) return told(result);
    device = wanted;
    return told(ready());
}

CUDART cudaInitDevice(int wanted, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    CUdevice found;
    return told(cuInit(0) ?: cuDeviceGet(&found, wanted));
}

CUDART cudaSetValidDevices(int *devices, int count)
{
    (void)devices, (void)count;
    return cudaSuccess;
}

CUDART cudaChooseDevice(int *out, const struct cudaDeviceProp *wanted)
{
    (void)wanted;
    *out = 0;
    return cudaSuccess;
}

CUDART cudaSetDeviceFlags(unsigned flags)
{
    (void)flags; /* how the host waits: every call here has finished when it returns */
    return cudaSuccess;
}

CUDART cudaGetDeviceFlags(unsigned *flags)
{
    *flags = cudaDeviceMapHost;
    return cudaSuccess;
}

FORWARD(cudaDeviceSynchronize, cuCtxSynchronize)

CUDART cudaDeviceReset(void)
{
    CUresult result = CUDA_SUCCESS;
    Device *of = &devices[device];
    pthread_mutex_lock(&mutex);
    if (of->context) result = cuDevicePrimaryCtxReset(device);
    of->context = NULL;
    of->broken = CUDA_SUCCESS;
    of->resets++;
    pthread_mutex_unlock(&mutex);
    return told(result);
}

CUDART cudaDriverGetVersion(int *version) { return told(cuDriverGetVersion(version)); }

CUDART cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* The runtime's attributes have the driver's numbers. */
CUDART cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int of)
{ return told(cuInit(0) ?: cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, of)); }

CUDART cudaDeviceGetPCIBusId(char *out, int bytes, int of)
{ return told(cuInit(0) ?: cuDeviceGetPCIBusId(out, bytes, of)); }

CUDART cudaDeviceGetByPCIBusId(int *out, const char *id)
{ return told(cuInit(0) ?: cuDeviceGetByPCIBusId(out, id)); }

CUDART cudaDeviceCanAccessPeer(int *can, int of, int peer)
{ return told(cuInit(0) ?: cuDeviceCanAccessPeer(can, of, peer)); }

/* The context of another device, which is made where there is none yet. */
static CUresult context_of_peer(int of, CUcontext *out)
{
    int before = device;
    CUdevice found;
    CUresult result = cuInit(0) ?: cuDeviceGet(&found, of);
    if (result || of == device) return result ?: CUDA_ERROR_INVALID_DEVICE;
    device = of;
    result = ready();
    *out = devices[of].context;
    device = before;
    return result;
}

CUDART cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    CUcontext context = NULL;
    return told(context_of_peer(peer, &context) ?: ready() ?: cuCtxEnablePeerAccess(context, flags));
}

CUDART cudaDeviceDisablePeerAccess(int peer)
{
    CUcontext context = NULL;
    return told(context_of_peer(peer, &context) ?: ready() ?: cuCtxDisablePeerAccess(context));
}

CUDART cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from, int to)
{
    return told(cuInit(0)
                    ?: cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, from, to));
}

FORWARD(cudaDeviceGetLimit, cuCtxGetLimit)
FORWARD(cudaDeviceSetLimit, cuCtxSetLimit)
FORWARD(cudaDeviceGetCacheConfig, cuCtxGetCacheConfig)
FORWARD(cudaDeviceSetCacheConfig, cuCtxSetCacheConfig)
FORWARD(cudaDeviceGetSharedMemConfig, cuCtxGetSharedMemConfig)
FORWARD(cudaDeviceSetSharedMemConfig, cuCtxSetSharedMemConfig)
FORWARD(cudaDeviceGetStreamPriorityRange, cuCtxGetStreamPriorityRange)

/* There is nothing to profile, and nothing wrong with asking. */
CUDART cudaProfilerStart(void) { return cudaSuccess; }

CUDART cudaProfilerStop(void) { return cudaSuccess; }

/* Each member that has the name of an attribute. */
#define MEMBERS(X)                                                                                 \
    X(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)                                                   \
    X(maxThreadsDim[0], MAX_BLOCK_DIM_X)                                                           \
    X(maxThreadsDim[1], MAX_BLOCK_DIM_Y)                                                           \
    X(maxThreadsDim[2], MAX_BLOCK_DIM_Z)                                                           \
    X(maxGridSize[0], MAX_GRID_DIM_X)                                                              \
    X(maxGridSize[1], MAX_GRID_DIM_Y)                                                              \
    X(maxGridSize[2], MAX_GRID_DIM_Z)                                                              \
    X(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK)                                              \
    X(totalConstMem, TOTAL_CONSTANT_MEMORY)                                                        \
    X(warpSize, WARP_SIZE)                                                                         \
    X(memPitch, MAX_PITCH)                                                                         \
    X(regsPerBlock, MAX_REGISTERS_PER_BLOCK)                                                       \
    X(textureAlignment, TEXTURE_ALIGNMENT)                                                         \
    X(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT)                                              \
    X(multiProcessorCount, MULTIPROCESSOR_COUNT)                                                   \
    X(integrated, INTEGRATED)                                                                      \
    X(canMapHostMemory, CAN_MAP_HOST_MEMORY)                                                       \
    X(surfaceAlignment, SURFACE_ALIGNMENT)                                                         \
    X(concurrentKernels, CONCURRENT_KERNELS)                                                       \
    X(ECCEnabled, ECC_ENABLED)                                                                     \
    X(pciBusID, PCI_BUS_ID)                                                                        \
    X(pciDeviceID, PCI_DEVICE_ID)                                                                  \
    X(pciDomainID, PCI_DOMAIN_ID)                                                                  \
    X(tccDriver, TCC_DRIVER)                                                                       \
    X(asyncEngineCount, ASYNC_ENGINE_COUNT)                                                        \
    X(unifiedAddressing, UNIFIED_ADDRESSING)                                                       \
    X(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)                                                     \
    X(l2CacheSize, L2_CACHE_SIZE)                                                                  \
    X(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR)                                 \
    X(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED)                                      \
    X(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED)                                           \
    X(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED)                                             \
    X(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                            \
    X(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)                                     \
    X(managedMemory, MANAGED_MEMORY)                                                               \
    X(isMultiGpuBoard, MULTI_GPU_BOARD)                                                            \
    X(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS)                                          \
    X(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS)                                                \
    X(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED)                                    \
    X(cooperativeLaunch, COOPERATIVE_LAUNCH)                                                       \
    X(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                                   \
    X(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK)                                 \
    X(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR)                                   \
    X(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED)                                                \
    X(clusterLaunch, CLUSTER_LAUNCH)                                                               \
    X(ipcEventSupported, IPC_EVENT_SUPPORTED)                                                      \
    X(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE)                                      \
    X(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE)                                    \
    X(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH)                                                       \
    X(maxTexture2D[0], MAXIMUM_TEXTURE2D_WIDTH)                                                    \
    X(maxTexture2D[1], MAXIMUM_TEXTURE2D_HEIGHT)                                                   \
    X(maxTexture2DLinear[0], MAXIMUM_TEXTURE2D_LINEAR_WIDTH)                                       \
    X(maxTexture2DLinear[1], MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)                                      \
    X(maxTexture2DLinear[2], MAXIMUM_TEXTURE2D_LINEAR_PITCH)                                       \
    X(maxTexture2DGather[0], MAXIMUM_TEXTURE2D_GATHER_WIDTH)                                       \
    X(maxTexture2DGather[1], MAXIMUM_TEXTURE2D_GATHER_HEIGHT)                                      \
    X(maxTexture3D[0], MAXIMUM_TEXTURE3D_WIDTH)                                                    \
    X(maxTexture3D[1], MAXIMUM_TEXTURE3D_HEIGHT)                                                   \
    X(maxTexture3D[2], MAXIMUM_TEXTURE3D_DEPTH)                                                    \
    X(maxTexture1DLayered[0], MAXIMUM_TEXTURE1D_LAYERED_WIDTH)                                     \
    X(maxTexture1DLayered[1], MAXIMUM_TEXTURE1D_LAYERED_LAYERS)                                    \
    X(maxTexture2DLayered[0], MAXIMUM_TEXTURE2D_LAYERED_WIDTH)                                     \
    X(maxTexture2DLayered[1], MAXIMUM_TEXTURE2D_LAYERED_HEIGHT)                                    \
    X(maxTexture2DLayered[2], MAXIMUM_TEXTURE2D_LAYERED_LAYERS)                                    \
    X(maxSurface1D, MAXIMUM_SURFACE1D_WIDTH)                                                       \
    X(maxSurface2D[0], MAXIMUM_SURFACE2D_WIDTH)                                                    \
    X(maxSurface2D[1], MAXIMUM_SURFACE2D_HEIGHT)                                                   \
    X(maxSurface3D[0], MAXIMUM_SURFACE3D_WIDTH)                                                    \
    X(maxSurface3D[1], MAXIMUM_SURFACE3D_HEIGHT)                                                   \
    X(maxSurface3D[2], MAXIMUM_SURFACE3D_DEPTH)

/* ---- the driver's functions by name ---- */

#if CUDART_VERSION >= 12050
CUDART cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                        unsigned long long flags,
                                        enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found;
    CUresult result = cuInit(0) ?: cuGetProcAddress(name, function, version, flags, &found);
    if (!result && status) *status = (enum cudaDriverEntryPointQueryResult)found;
    return told(result);
}
#endif

CUDART cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found;
    CUresult result = cuInit(0) ?: cuGetProcAddress(name, function, CUDART_VERSION, flags, &found);
    if (!result && status) *status = (enum cudaDriverEntryPointQueryResult)found;
    return told(result);
}

CUDART cudaGetDeviceProperties(struct cudaDeviceProp *out, int of)
{
    memset(out, 0, sizeof *out);
    CUresult result = cuInit(0) ?: cuDeviceGetName(out->name, sizeof out->name, of);
    if (!result) result = cuDeviceTotalMem(&out->totalGlobalMem, of);
    int value;
#define FETCH(member, attribute)                                                                   \
    if (!result && !cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_##attribute, of))             \
        out->member = value;
    MEMBERS(FETCH)
    FETCH(major, COMPUTE_CAPABILITY_MAJOR)
    FETCH(minor, COMPUTE_CAPABILITY_MINOR)
#if CUDART_VERSION < 13000
    FETCH(clockRate, CLOCK_RATE)
    FETCH(memoryClockRate, MEMORY_CLOCK_RATE)
    FETCH(kernelExecTimeoutEnabled, KERNEL_EXEC_TIMEOUT)
    FETCH(computeMode, COMPUTE_MODE)
    out->deviceOverlap = 1;
#endif
    return told(result);
}
