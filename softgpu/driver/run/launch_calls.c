/* The calls that launch a kernel: each makes a Shape of what it is given. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define OLD_PARAM_BYTES 4096 /* through cuParamSet... */

CUAPI cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                     CUstream stream, void **params, void **extra)
{
    const uint32_t grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    return launch_accept(function, &(Shape){grid, block, shared, stream}, params, extra);
}

/* All blocks are there at once, and may wait for each other. */
CUAPI cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared, CUstream stream, void **params)
{
    const uint32_t grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    return launch_accept(function, &(Shape){grid, block, shared, stream, {.cooperative = true}},
                         params, NULL);
}

static CUresult heed(const LaunchAttribute *attribute, Shape *shape)
{
    switch (attribute->id) {
    case LAUNCH_COOPERATIVE: shape->together.cooperative = attribute->on; return CUDA_SUCCESS;
    case LAUNCH_CLUSTER:
        for (int i = 0; i < 3; i++) {
            shape->together.cluster[i] = attribute->dimension[i];
            if (!shape->together.cluster[i])
                return fail(CUDA_ERROR_INVALID_VALUE, "clusters of 0 blocks along %c", "xyz"[i]);
        }
        return CUDA_SUCCESS;
    case LAUNCH_DEVICE_UPDATABLE:
        return fail(CUDA_ERROR_INVALID_VALUE, "launch attribute %d is one of graphs",
                    attribute->id);
    default:
        if (attribute->id < 0 || attribute->id > LAUNCH_LAST)
            return fail(CUDA_ERROR_INVALID_VALUE, "there is no launch attribute %d", attribute->id);
        return CUDA_SUCCESS;
    }
}

CUAPI cuLaunchKernelEx(const LaunchConfig *config, CUfunction function, void **params, void **extra)
{
    Shape shape = {config->grid, config->block, config->shared, config->stream};
    const LaunchAttribute *attributes = config->attributes;
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; !result && i < config->attribute_count; i++)
        result = heed(&attributes[i], &shape);
    if (!result) result = launch_accept(function, &shape, params, extra);
    for (unsigned i = 0; !result && i < config->attribute_count; i++)
        if (attributes[i].id == LAUNCH_PROGRAMMATIC_EVENT ||
            attributes[i].id == LAUNCH_COMPLETION_EVENT)
            result = cuEventRecordWithFlags(attributes[i].event, shape.stream, 0);
    return result;
}

/* ---- the calls from before cuLaunchKernel ---- */

CUAPI cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    NEED_KERNEL(kernel, function);
    if (x < 1 || y < 1 || z < 1)
        return fail(CUDA_ERROR_INVALID_VALUE, "a block of %d x %d x %d threads", x, y, z);
    kernel->block_shape[0] = x;
    kernel->block_shape[1] = y;
    kernel->block_shape[2] = z;
    return CUDA_SUCCESS;
}

CUAPI cuFuncSetSharedSize(CUfunction function, unsigned bytes)
{
    NEED_KERNEL(kernel, function);
    kernel->shared_size = bytes;
    return CUDA_SUCCESS;
}

CUAPI cuParamSetSize(CUfunction function, unsigned bytes)
{
    NEED_KERNEL(kernel, function);
    if (bytes > OLD_PARAM_BYTES) return fail(CUDA_ERROR_INVALID_VALUE, "%u bytes", bytes);
    kernel->param_size = bytes;
    return CUDA_SUCCESS;
}

CUAPI cuParamSetv(CUfunction function, int offset, const void *value, unsigned bytes)
{
    NEED_KERNEL(kernel, function);
    if (offset < 0 || offset > OLD_PARAM_BYTES || bytes > OLD_PARAM_BYTES - (unsigned)offset)
        return fail(CUDA_ERROR_INVALID_VALUE, "%u bytes at offset %d", bytes, offset);
    if (!kernel->param_buffer && !(kernel->param_buffer = calloc(1, OLD_PARAM_BYTES)))
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    memcpy(kernel->param_buffer + offset, value, bytes);
    return CUDA_SUCCESS;
}

CUAPI cuParamSeti(CUfunction function, int offset, unsigned value)
{ return cuParamSetv(function, offset, &value, sizeof value); }

CUAPI cuParamSetf(CUfunction function, int offset, float value)
{ return cuParamSetv(function, offset, &value, sizeof value); }

CUAPI cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    NEED_CONTEXT(context);
    NEED_KERNEL(kernel, function);
    const uint32_t grid[3] = {width, height, 1};
    const Shape shape = {grid, kernel->block_shape, kernel->shared_size, stream};
    void *extra[] = {(void *)BUFFER_POINTER, kernel->param_buffer, (void *)BUFFER_SIZE,
                     &kernel->param_size, (void *)END_OF_OPTIONS};
    return launch_accept(function, &shape, NULL, extra);
}

CUAPI cuLaunchGrid(CUfunction function, int width, int height)
{ return cuLaunchGridAsync(function, width, height, NULL); }

CUAPI cuLaunch(CUfunction function) { return cuLaunchGrid(function, 1, 1); }
