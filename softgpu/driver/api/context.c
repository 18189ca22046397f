/* Contexts: how they are made and end, the primary one, limits and preferences. */
#include <stdlib.h>

#include "run/run.h"

static Context *primary[MOST_DEVICES];
static unsigned primary_flags[MOST_DEVICES];

static const size_t first_limits[9] = {1024,    /* stack size per thread */
                                       8650752, /* printf buffer */
                                       8388608, /* malloc heap */
                                       0,       /* nested synchronisation: not supported */
                                       2048,    /* pending nested launches */
                                       64,      /* L2 fetch granularity */
                                       0,       /* persisting L2 */
                                       BLOCK_MOST_SHARED,
                                       0};

static Context *context_new(unsigned flags, int device)
{
    Context *context = calloc(1, sizeof *context);
    if (!context) return NULL;
    static uint64_t made;
    context->id = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    context->flags = flags;
    context->device = device;
    context->users = 1;
    for (int i = 0; i < 9; i++) context->limits[i] = first_limits[i];
    attributes_begin(context->of_default_streams, LEAST_PRIORITY);
    context->handle = handle_new(CONTEXT, context);
    return context;
}

/* Frees everything that belongs to the context, once it has nothing left to do. The handle is dropped
   first, so that nothing new can come to it. */
static CUresult context_destroy(Context *context)
{
    tasks_wait_all(context->handle);
    const int device = context->device;
    if (context == primary[context->device]) primary[context->device] = NULL;
    handle_drop(context->handle);
    modules_free_all(context);
    streams_free_all(context);
    texel_objects_free_all(context);
    arrays_free_all(context);
    driver_lock();
    memory_free_all(context);
    heap_free(context);
    driver_unlock();
    peer_forget(context);
    free(context);
    return tasks_error(device);
}

CUAPI cuCtxCreate_v4(CUcontext *out, void *parameters, unsigned flags, CUdevice device)
{
    (void)parameters;
    NEED_DEVICE(device);
    if (flags & ~0xffu) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    Context *context = context_new(flags, device);
    if (!context) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *out = context->handle;
    return current_push(context->handle);
}

CUAPI cuCtxCreate_v3(CUcontext *out, void *affinities, int count, unsigned flags, CUdevice device)
{
    if (affinities || count)
        return fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "a context has all multiprocessors");
    return cuCtxCreate_v4(out, NULL, flags, device);
}

/* what PyCUDA calls where it was built with CUDA 12 */
CUAPI cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device)
{ return cuCtxCreate_v4(out, NULL, flags, device); }

CUAPI cuCtxDestroy_v2(CUcontext handle)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    Context *context = handle_object(CONTEXT, handle);
    if (!context) return fail(CUDA_ERROR_INVALID_CONTEXT, "no such context");
    if (context == primary[context->device])
        return fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is released, not destroyed");
    if (current_handle() == handle) current_pop();
    return context_destroy(context);
}

CUAPI cuCtxAttach(CUcontext *out, unsigned flags)
{
    NEED_CONTEXT(context);
    if (flags) return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
    context->users++;
    *out = context->handle;
    return CUDA_SUCCESS;
}

CUAPI cuCtxDetach(CUcontext handle)
{
    NEED_CONTEXT(context);
    if (context->handle != handle)
        return fail(CUDA_ERROR_INVALID_CONTEXT, "only the current context can be detached");
    if (--context->users == 0) {
        current_pop();
        return context_destroy(context);
    }
    return CUDA_SUCCESS;
}

CUAPI cuCtxPushCurrent_v2(CUcontext handle)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle_object(CONTEXT, handle)) return fail(CUDA_ERROR_INVALID_CONTEXT, NULL);
    return current_push(handle);
}

CUAPI cuCtxPopCurrent_v2(CUcontext *out)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    void *handle = current_handle();
    if (!handle) return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    current_pop();
    if (out) *out = handle;
    return CUDA_SUCCESS;
}

CUAPI cuCtxGetCurrent(CUcontext *out)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    *out = current_handle();
    return CUDA_SUCCESS;
}

/* Takes the place of the context on top of the stack; NULL only removes that. */
CUAPI cuCtxSetCurrent(CUcontext handle)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    if (handle && !handle_object(CONTEXT, handle))
        return fail(CUDA_ERROR_INVALID_CONTEXT, "no such context");
    current_pop();
    return handle ? current_push(handle) : CUDA_SUCCESS;
}

ANSWERS(cuCtxGetDevice, (CUdevice * device), NEED_CONTEXT(context), *device = context->device)

/* A context as later versions of a call take it: NULL is the current one. */
static CUresult find_context(CUcontext handle, Context **out)
{
    CUresult error = CUDA_SUCCESS;
    *out = handle ? handle_object(CONTEXT, handle) : current_context(&error);
    if (*out) return CUDA_SUCCESS;
    return fail(error ? error : CUDA_ERROR_INVALID_CONTEXT, NULL);
}

CUAPI cuCtxGetDevice_v2(CUdevice *device, CUcontext handle)
{
    Context *context;
    CUresult result = find_context(handle, &context);
    if (!result) *device = context->device;
    return result;
}

CUAPI cuCtxSynchronize_v2(CUcontext handle)
{
    Context *context;
    host_waited();
    CUresult result = find_context(handle, &context);
    if (!result) result = capture_refuse_context(context->handle);
    if (result) return result;
    const int device = context->device;
    tasks_wait_all(context->handle);
    return tasks_error(device);
}

CUAPI cuCtxGetId(CUcontext handle, unsigned long long *id)
{
    Context *context;
    CUresult result = find_context(handle, &context);
    if (!result) *id = context->id;
    return result;
}

ANSWERS(cuCtxGetFlags, (unsigned *flags), NEED_CONTEXT(context), *flags = context->flags)

CUAPI cuCtxSetFlags(unsigned flags)
{
    NEED_CONTEXT(context);
    if (flags & ~0xffu) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUAPI cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    NEED_CONTEXT(context);
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

CUAPI cuCtxResetPersistingL2Cache(void)
{
    NEED_CONTEXT(context);
    return CUDA_SUCCESS; /* there is no cache */
}

CUAPI cuCtxGetApiVersion(CUcontext handle, unsigned *version)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    if (handle && !handle_object(CONTEXT, handle)) return fail(CUDA_ERROR_INVALID_CONTEXT, NULL);
    *version = 3020;
    return CUDA_SUCCESS;
}

CUAPI cuCtxSynchronize(void) { return cuCtxSynchronize_v2(NULL); }

CUAPI cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    NEED_DEVICE(device);
    Context **of = &primary[device];
    if (*of) (*of)->users++;
    else if (!(*of = context_new(primary_flags[device], device)))
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *out = (*of)->handle;
    return CUDA_SUCCESS;
}

CUAPI cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    NEED_DEVICE(device);
    Context *of = primary[device];
    if (!of) return fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
    return --of->users == 0 ? context_destroy(of) : CUDA_SUCCESS;
}

CUAPI cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    NEED_DEVICE(device);
    return primary[device] ? context_destroy(primary[device]) : CUDA_SUCCESS;
}

CUAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    NEED_DEVICE(device);
    if (flags & ~0xffu) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    primary_flags[device] = flags;
    if (primary[device]) primary[device]->flags = flags;
    return CUDA_SUCCESS;
}

CUAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    NEED_DEVICE(device);
    *flags = primary_flags[device];
    *active = primary[device] != NULL;
    return CUDA_SUCCESS;
}

/* ---- limits and preferences: kept, and without effect except where a kernel asks ---- */

CUAPI cuCtxGetLimit(size_t *value, int limit)
{
    NEED_CONTEXT(context);
    if (limit < 0 || limit > 8 || limit == 3)
        return fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit %d", limit);
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

CUAPI cuCtxSetLimit(int limit, size_t value)
{
    NEED_CONTEXT(context);
    if (limit < 0 || limit > 6 || limit == 3)
        return fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit %d", limit);
    if (limit == 0 && value > 524272)
        return fail(CUDA_ERROR_INVALID_VALUE, "at most 524272 bytes of stack per thread");
    CUresult result = CUDA_SUCCESS;
    if (limit == HEAP_LIMIT) {
        driver_lock();
        if (!memory_fits(value)) result = memory_refuse(value);
        driver_unlock();
    }
    if (!result) context->limits[limit] = value;
    return result;
}

ANSWERS(cuCtxGetCacheConfig, (int *config), NEED_CONTEXT(context), *config = context->cache_config)

CUAPI cuCtxSetCacheConfig(int config)
{
    NEED_CONTEXT(context);
    if (config < 0 || config > 3) return fail(CUDA_ERROR_INVALID_VALUE, "cache config %d", config);
    context->cache_config = config;
    return CUDA_SUCCESS;
}

CUAPI cuCtxGetSharedMemConfig(int *config)
{
    NEED_CONTEXT(context);
    *config = 1; /* four-byte banks, always */
    return CUDA_SUCCESS;
}

CUAPI cuCtxSetSharedMemConfig(int config)
{
    NEED_CONTEXT(context);
    if (config < 0 || config > 2)
        return fail(CUDA_ERROR_INVALID_VALUE, "shared memory config %d", config);
    return CUDA_SUCCESS;
}
