/* Streams and events. Every call has finished when it returns, so a stream is only a name and
   an event only a time. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "driver.h"

typedef struct {
    Context *owner;
    bool recorded, timed;
    struct timespec time;
} Event;

static void drop_stream(void *handle, void *object, void *owner)
{
    if (object == owner) handle_drop(handle);
}

static void drop_event(void *handle, void *object, void *owner)
{
    if (((Event *)object)->owner != owner) return;
    handle_drop(handle);
    free(object);
}

void streams_free_all(Context *owner)
{
    handle_each(STREAM, drop_stream, owner);
    handle_each(EVENT, drop_event, owner);
}

/* 0, 1 and 2 name the default streams. */
bool stream_valid(CUstream stream)
{ return (uintptr_t)stream <= 2 || handle_object(STREAM, stream); }

#define NEED_STREAM(stream)                                                                        \
    do {                                                                                           \
        NEED_CONTEXT(context_);                                                                    \
        (void)context_;                                                                            \
        if (!stream_valid(stream)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");       \
    } while (0)

#define NEED_EVENT(event, handle)                                                                  \
    Event *event = handle_object(EVENT, handle);                                                   \
    if (!event) return fail(CUDA_ERROR_INVALID_HANDLE, "no such event")

CUAPI cuStreamCreate(CUstream *out, unsigned flags)
{
    NEED_CONTEXT(context);
    if (flags > 1) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    *out = handle_new(STREAM, context);
    return *out ? CUDA_SUCCESS : fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

CUAPI cuStreamDestroy_v2(CUstream stream)
{
    NEED_STREAM(stream);
    if ((uintptr_t)stream <= 2)
        return fail(CUDA_ERROR_INVALID_HANDLE, "the default stream cannot be destroyed");
    handle_drop(stream);
    return CUDA_SUCCESS;
}

CUAPI cuStreamQuery(CUstream stream)
{
    NEED_STREAM(stream);
    return CUDA_SUCCESS;
}

CUAPI cuStreamSynchronize(CUstream stream)
{
    NEED_STREAM(stream);
    return CUDA_SUCCESS;
}

CUAPI cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned flags)
{
    (void)flags;
    NEED_STREAM(stream);
    NEED_EVENT(event, handle);
    (void)event;
    return CUDA_SUCCESS;
}

CUAPI cuEventCreate(CUevent *out, unsigned flags)
{
    NEED_CONTEXT(context);
    enum { DISABLE_TIMING = 2, INTERPROCESS = 4 };
    if (flags & ~7u) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    if (flags & INTERPROCESS)
        return fail(CUDA_ERROR_NOT_SUPPORTED, "events between processes are not supported");
    Event *event = calloc(1, sizeof *event);
    if (!event) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    event->owner = context;
    event->timed = !(flags & DISABLE_TIMING);
    *out = handle_new(EVENT, event);
    return CUDA_SUCCESS;
}

CUAPI cuEventDestroy_v2(CUevent handle)
{
    NEED_EVENT(event, handle);
    handle_drop(handle);
    free(event);
    return CUDA_SUCCESS;
}

CUAPI cuEventRecord(CUevent handle, CUstream stream)
{
    NEED_STREAM(stream);
    NEED_EVENT(event, handle);
    clock_gettime(CLOCK_MONOTONIC_RAW, &event->time);
    event->recorded = true;
    return CUDA_SUCCESS;
}

CUAPI cuEventQuery(CUevent handle)
{
    NEED_EVENT(event, handle);
    (void)event;
    return CUDA_SUCCESS;
}

CUAPI cuEventSynchronize(CUevent handle)
{
    NEED_EVENT(event, handle);
    (void)event;
    return CUDA_SUCCESS;
}

CUAPI cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    NEED_EVENT(first, start);
    NEED_EVENT(last, end);
    if (!first->timed || !last->timed)
        return fail(CUDA_ERROR_INVALID_HANDLE, "the event was made with timing disabled");
    if (!first->recorded || !last->recorded)
        return fail(CUDA_ERROR_INVALID_HANDLE, "the event has not been recorded");
    *milliseconds = (last->time.tv_sec - first->time.tv_sec) * 1e3 +
                    (last->time.tv_nsec - first->time.tv_nsec) * 1e-6;
    return CUDA_SUCCESS;
}

/* what PyCUDA calls where it was built with CUDA 12 */
CUAPI cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{ return cuEventElapsedTime_v2(milliseconds, start, end); }
