/* Functions: what is asked of a kernel, as a function of a module or as a kernel of a library. */
#include "internal.h"

#define NEED_LIBRARY_KERNEL(handle)                                                                \
    if (!handle_object(LIBRARY_KERNEL, handle))                                                    \
    return fail(CUDA_ERROR_INVALID_HANDLE, "no such kernel")

/* ---- attributes ---- */

enum {
    MAX_THREADS,
    SHARED_BYTES,
    CONST_BYTES,
    LOCAL_BYTES,
    REGISTERS,
    PTX_VERSION,
    BINARY_VERSION,
    CACHE_MODE,
    MAX_DYNAMIC_SHARED,
    CARVEOUT,
    CLUSTER_MUST_BE_SET,
    CLUSTER_WIDTH,
    CLUSTER_HEIGHT,
    CLUSTER_DEPTH,
    LARGE_CLUSTERS,
    CLUSTER_POLICY /* a hint */
};

static _Thread_local const Kernel *asked_about;

const char *sg_asked_about(void **module)
{
    *module = asked_about ? asked_about->module->handle : NULL;
    return asked_about ? asked_about->name : NULL;
}

CUAPI cuFuncGetAttribute(int *value, int attribute, CUfunction function)
{
    NEED_KERNEL(kernel, function);
    asked_about = kernel;
    bool from_ptxas =
        attribute == LOCAL_BYTES || attribute == REGISTERS || attribute == CONST_BYTES;
    CUresult result = from_ptxas ? kernel_learn_attributes(kernel) : CUDA_SUCCESS;
    if (result) return result;
    switch (attribute) {
    case MAX_THREADS: *value = kernel->max_threads; break;
    case SHARED_BYTES: *value = kernel->static_shared; break;
    case CONST_BYTES: *value = kernel->reported_const; break;
    case LOCAL_BYTES: *value = kernel->reported_local; break;
    case REGISTERS: *value = kernel->registers; break;
    case PTX_VERSION: *value = kernel->ptx_version; break;
    case BINARY_VERSION: *value = ARCHITECTURE; break;
    case MAX_DYNAMIC_SHARED: *value = kernel->max_dynamic_shared; break;
    case CARVEOUT: *value = kernel->carveout; break;
    case CLUSTER_WIDTH:
    case CLUSTER_HEIGHT:
    case CLUSTER_DEPTH: *value = kernel->cluster[attribute - CLUSTER_WIDTH]; break;
    case LARGE_CLUSTERS: *value = kernel->large_clusters; break;
    default:
        if (attribute < 0 || attribute > CLUSTER_POLICY)
            return fail(CUDA_ERROR_INVALID_VALUE, "there is no attribute %d", attribute);
        *value = 0;
    }
    return CUDA_SUCCESS;
}

CUAPI cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
    NEED_KERNEL(kernel, function);
    if (attribute == MAX_DYNAMIC_SHARED) {
        int most = BLOCK_MOST_SHARED - kernel->static_shared;
        if (value < 0 || value > most)
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s can have 0 to %d bytes of dynamic "
                        "shared memory, not %d",
                        kernel->shown, most, value);
        kernel->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    }
    if (attribute == CARVEOUT) {
        if (value < -1 || value > 100)
            return fail(CUDA_ERROR_INVALID_VALUE, "a carveout is -1 or a percentage");
        kernel->carveout = value;
        return CUDA_SUCCESS;
    }
    if (attribute == LARGE_CLUSTERS && (value == 0 || value == 1)) {
        kernel->large_clusters = value;
        return CUDA_SUCCESS;
    }
    if (attribute == CLUSTER_POLICY && value >= 0 && value <= 2) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_VALUE, "attribute %d cannot be set to %d", attribute, value);
}

/* ---- what else is asked of functions ---- */

ANSWERS(cuFuncGetModule, (CUmodule * out, CUfunction function), NEED_KERNEL(kernel, function),
        *out = kernel->module->handle)

CUAPI cuFuncGetName(const char **out, CUfunction function)
{
    if (!function) return fail(CUDA_ERROR_INVALID_VALUE, "no function is given");
    NEED_KERNEL(kernel, function);
    *out = kernel->name;
    return CUDA_SUCCESS;
}

CUAPI cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    NEED_KERNEL(kernel, function);
    if (index >= kernel->param_count)
        return fail(CUDA_ERROR_INVALID_VALUE, "kernel %s has %u parameters, not more than %zu",
                    kernel->shown, kernel->param_count, index);
    *offset = kernel->params[index][0];
    if (bytes) *bytes = kernel->params[index][1];
    return CUDA_SUCCESS;
}

CUAPI cuFuncIsLoaded(int *loaded, CUfunction function)
{
    NEED_KERNEL(kernel, function);
    const Code *plain = &kernel->code[BUILD_PLAIN];
    *loaded = plain->entry[TIER_QUICK] || plain->entry[TIER_FULL];
    return CUDA_SUCCESS;
}

CUAPI cuFuncLoad(CUfunction function)
{
    NEED_KERNEL(kernel, function);
    Entry entry;
    return kernel_compile(kernel, BUILD_PLAIN, 0, &entry);
}

CUAPI cuFuncSetSharedMemConfig(CUfunction function, int config)
{
    NEED_KERNEL(kernel, function);
    (void)kernel;
    if (config < 0 || config > 2)
        return fail(CUDA_ERROR_INVALID_VALUE, "shared memory config %d", config);
    return CUDA_SUCCESS; /* four-byte banks, always */
}

CUAPI cuFuncSetCacheConfig(CUfunction function, int config)
{
    NEED_KERNEL(kernel, function);
    (void)kernel;
    if (config < 0 || config > 3) return fail(CUDA_ERROR_INVALID_VALUE, "cache config %d", config);
    return CUDA_SUCCESS;
}

/* ---- kernels of libraries, which every call above takes as well ---- */

CUAPI cuKernelGetParamInfo(void *handle, size_t index, size_t *offset, size_t *bytes)
{
    NEED_LIBRARY_KERNEL(handle);
    return cuFuncGetParamInfo(handle, index, offset, bytes);
}

CUAPI cuKernelGetAttribute(int *value, int attribute, void *handle, CUdevice device)
{
    NEED_DEVICE(device);
    NEED_LIBRARY_KERNEL(handle);
    return cuFuncGetAttribute(value, attribute, handle);
}

CUAPI cuKernelSetAttribute(int attribute, int value, void *handle, CUdevice device)
{
    NEED_DEVICE(device);
    NEED_LIBRARY_KERNEL(handle);
    return cuFuncSetAttribute(handle, attribute, value);
}

CUAPI cuKernelSetCacheConfig(void *handle, int config, CUdevice device)
{
    NEED_DEVICE(device);
    NEED_LIBRARY_KERNEL(handle);
    return cuFuncSetCacheConfig(handle, config);
}
