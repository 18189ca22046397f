/* What the hardware's driver checks before a launch: the device, the grid, the blocks, the clusters, shared
   memory, the size of the arguments. */
#include <string.h>

#include "internal.h"

uint32_t launch_cluster(const Kernel *kernel, const Shape *shape, int axis)
{
    return shape->together.cluster[axis] ? shape->together.cluster[axis]
                                         : MAX(kernel->cluster[axis], 1);
}

static CUresult check_cluster(const Kernel *kernel, const Shape *shape)
{
    const uint32_t most = kernel->large_clusters ? MOST_CLUSTER : PORTABLE_CLUSTER;
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t along = launch_cluster(kernel, shape, i), grid = shape->grid[i];
        blocks *= along;
        if (kernel->cluster[i] > 1 && along != kernel->cluster[i])
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s was compiled for clusters of %u blocks along %c, not %u",
                        kernel->shown, kernel->cluster[i], "xyz"[i], along);
        if (grid % along)
            return fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                        "kernel %s: the grid has %u blocks along %c; its clusters of %u must "
                        "divide them",
                        kernel->shown, grid, "xyz"[i], along);
    }
    if (blocks <= most) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                "kernel %s: clusters of %llu blocks; at most %u are possible%s", kernel->shown,
                (unsigned long long)blocks, most,
                most < MOST_CLUSTER ? ", 16 with NON_PORTABLE_CLUSTER_SIZE_ALLOWED" : "");
}

const uint32_t *launch_block(const Kernel *kernel, const Shape *shape)
{
    const uint32_t *block = shape->block;
    const bool one = block[0] == 1 && block[1] == 1 && block[2] == 1;
    return kernel->required[0] && one ? kernel->required : block; /* as an H100's driver does */
}

static CUresult check_required(const Kernel *kernel, const Shape *shape)
{
    const uint32_t *own = kernel->required, *block = launch_block(kernel, shape);
    if (!own[0] || !memcmp(own, block, sizeof kernel->required)) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_VALUE,
                "kernel %s was compiled for blocks of %u x %u x %u threads; launch it with these, "
                "not %u x %u x %u",
                kernel->shown, own[0], own[1], own[2], block[0], block[1], block[2]);
}

static CUresult check_shape(const Kernel *kernel, const Shape *shape)
{
    const uint32_t *grid = shape->grid, *block = shape->block, shared = shape->shared;
    static const uint32_t most_blocks[3] = {2147483647, 65535, 65535};
    static const uint32_t most_threads[3] = {BLOCK_THREADS, BLOCK_THREADS, 64};
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    const char *name = kernel->shown;
    for (int i = 0; i < 3; i++) {
        if (!grid[i] || grid[i] > most_blocks[i])
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s: the grid has %u blocks along %c; "
                        "1 to %u are possible",
                        name, grid[i], "xyz"[i], most_blocks[i]);
        if (!block[i] || block[i] > most_threads[i])
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s: the block has %u threads along %c; "
                        "1 to %u are possible",
                        name, block[i], "xyz"[i], most_threads[i]);
    }
    if (threads > BLOCK_THREADS)
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "kernel %s: the block has %u x %u x %u = %llu "
                    "threads; at most %d are possible",
                    name, block[0], block[1], block[2], (unsigned long long)threads, BLOCK_THREADS);
    CUresult result = check_required(kernel, shape);
    if (result) return result;
    if (threads > kernel->max_threads)
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "kernel %s was compiled for at most %u threads a "
                    "block; the block has %llu",
                    name, kernel->max_threads, (unsigned long long)threads);
    if (shared > kernel->max_dynamic_shared || shared + kernel->static_shared > BLOCK_MOST_SHARED)
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "kernel %s: %u bytes of dynamic shared memory asked "
                    "for; %u are allowed beside its %u static ones (up to %u after "
                    "MAX_DYNAMIC_SHARED_SIZE_BYTES is set)",
                    name, shared, kernel->max_dynamic_shared, kernel->static_shared,
                    BLOCK_MOST_SHARED - kernel->static_shared);
    return check_cluster(kernel, shape);
}

static CUresult check_arguments(const Kernel *kernel, size_t bytes)
{
    if (bytes < kernel->param_bytes)
        return fail(CUDA_ERROR_INVALID_VALUE, "kernel %s takes %zu bytes of arguments%s, not %zu",
                    kernel->shown, kernel->param_bytes, kernel->takes, bytes);
    if (bytes > kernel->param_bytes)
        return fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                    "kernel %s takes %zu bytes of arguments%s, not %zu: a NumPy array, np.int64 or "
                    "one argument too many? Arrays go through gpuarray.to_gpu",
                    kernel->shown, kernel->param_bytes, kernel->takes, bytes);
    return CUDA_SUCCESS;
}

CUresult launch_check_device(const Kernel *kernel, CUstream stream)
{
    NEED_CONTEXT(context);
    if (kernel->module->owner->device != context->device)
        return fail(CUDA_ERROR_INVALID_HANDLE,
                    "kernel %s was loaded on device %d, the current context is of device %d",
                    kernel->shown, kernel->module->owner->device, context->device);
    return stream_on_device(stream, context);
}

CUresult launch_check(const Kernel *kernel, const Shape *shape, size_t argument_bytes)
{
    CUresult result = check_shape(kernel, shape);
    return result ? result : check_arguments(kernel, argument_bytes);
}
