/* Streams and events. A call has finished when it returns, unless tasks of its stream have not
   (tasks.c), so a stream is only a name and an event only a time. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

typedef struct {
    Context *owner;
    bool recorded, timed, shareable;
    unsigned users;       /* the handle, and what waits for a record of it */
    uint64_t asked, done; /* which record was asked for, and which has happened, last */
    struct timespec time;
} Event;

/* With the lock of the tasks. */
static void event_leave(Event *event)
{
    if (!--event->users) free(event);
}

static void event_drop(CUevent handle, Event *event)
{
    capture_forget(handle);
    handle_drop(handle);
    tasks_lock();
    event_leave(event);
    tasks_unlock();
}

enum { NON_BLOCKING = 1 };

typedef struct {
    Context *owner;
    unsigned flags;
    StreamAttribute attributes[STREAM_ATTRIBUTES];
} Stream;

static void drop_stream(void *handle, void *object, void *owner)
{
    if (((Stream *)object)->owner != owner) return;
    capture_forget(handle);
    handle_drop(handle);
    free(object);
}

static void drop_event(void *handle, void *object, void *owner)
{
    if (((Event *)object)->owner == owner) event_drop(handle, object);
}

void streams_free_all(Context *owner)
{
    handle_each(STREAM, drop_stream, owner);
    handle_each(EVENT, drop_event, owner);
}

static uint64_t waits;

void host_waited(void) { __atomic_add_fetch(&waits, 1, __ATOMIC_RELAXED); }

uint64_t host_waits(void) { return __atomic_load_n(&waits, __ATOMIC_RELAXED); }

bool stream_valid(CUstream stream)
{ return (uintptr_t)stream <= 2 || handle_object(STREAM, stream); }

CUresult stream_begin(CUstream stream, bool *captured)
{
    if (!stream_valid(stream)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    return capture_check(stream, captured);
}

StreamPlace stream_place(CUstream handle)
{
    const Stream *stream = handle_object(STREAM, handle);
    if (stream)
        return (StreamPlace){stream->owner->handle, !(stream->flags & NON_BLOCKING),
                             stream->owner->device, handle};
    const Context *context = handle_object(CONTEXT, current_handle());
    return (StreamPlace){current_handle(), true, context ? context->device : 0,
                         stream_is_legacy(handle) ? NULL : handle};
}

CUresult stream_do(CUstream stream, TaskBody body, void *data, size_t bytes)
{
    if (device_count() == 1) return body(data);
    const StreamPlace place = stream_place(stream);
    if (!tasks_before(&place)) return body(data);
    void *copy = malloc(bytes);
    if (!copy) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    memcpy(copy, data, bytes);
    return tasks_add(&place, NULL, body, copy);
}

void stream_settle(CUstream stream)
{
    const StreamPlace place = stream_place(stream);
    tasks_wait(&place);
}

CUresult stream_settled(CUstream stream, CUresult result)
{
    if (result || device_count() == 1) return result;
    const StreamPlace place = stream_place(stream);
    tasks_wait(&place);
    return tasks_error(place.device);
}

/* The host waits for nothing that has not been asked for yet. */
static CUresult refuse_waiting(CUstream stream)
{
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result || !captured) return result;
    return capture_refuse(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "the stream is being captured: there is nothing to wait for");
}

#define NEED_STREAM(stream)                                                                        \
    do {                                                                                           \
        NEED_CONTEXT(context_);                                                                    \
        if (!stream_valid(stream)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");       \
    } while (0)

#define NEED_EVENT(event, handle)                                                                  \
    Event *event = handle_object(EVENT, handle);                                                   \
    if (!event) return fail(CUDA_ERROR_INVALID_HANDLE, "no such event")

CUAPI cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
    NEED_CONTEXT(context);
    if (flags > NON_BLOCKING) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    Stream *stream = malloc(sizeof *stream);
    if (!stream) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *stream = (Stream){.owner = context, .flags = flags};
    attributes_begin(stream->attributes, priority);
    *out = handle_new(STREAM, stream);
    return *out ? CUDA_SUCCESS : fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

CUAPI cuStreamCreate(CUstream *out, unsigned flags)
{ return cuStreamCreateWithPriority(out, flags, LEAST_PRIORITY); }

CUAPI cuStreamDestroy_v2(CUstream stream)
{
    NEED_STREAM(stream);
    if ((uintptr_t)stream <= 2)
        return fail(CUDA_ERROR_INVALID_HANDLE, "the default stream cannot be destroyed");
    capture_forget(stream);
    free(handle_object(STREAM, stream));
    handle_drop(stream);
    return CUDA_SUCCESS;
}

/* What is asked of a stream; of a default one: what it would be as one of the current context. */
static CUresult describe(CUstream handle, Stream *out)
{
    NEED_CONTEXT(context);
    if (!stream_valid(handle)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    Stream *stream = handle_object(STREAM, handle);
    *out = stream ? *stream : (Stream){.owner = context};
    return CUDA_SUCCESS;
}

CUresult stream_on_device(CUstream handle, const Context *context)
{
    const Stream *stream = handle_object(STREAM, handle);
    if (!stream || stream->owner->device == context->device) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_HANDLE,
                "the stream is of device %d, the current context of device %d",
                stream->owner->device, context->device);
}

/* A stream's attributes, to be changed. */
static StreamAttribute *attributes_of(CUstream handle)
{
    CUresult error;
    Stream *stream = handle_object(STREAM, handle);
    return stream ? stream->attributes : current_context(&error)->of_default_streams;
}

#define NEED_ATTRIBUTES(attributes, handle)                                                        \
    NEED_STREAM(handle);                                                                           \
    StreamAttribute *attributes = attributes_of(handle)

ANSWERS(cuStreamGetPriority, (CUstream stream, int *priority), NEED_ATTRIBUTES(attributes, stream),
        *priority = attributes[STREAM_PRIORITY].number)

CUAPI cuStreamGetFlags(CUstream handle, unsigned *flags)
{
    Stream stream;
    CUresult result = describe(handle, &stream);
    if (!result) *flags = stream.flags;
    return result;
}

CUAPI cuStreamGetCtx(CUstream handle, CUcontext *context)
{
    Stream stream;
    CUresult result = describe(handle, &stream);
    if (!result) *context = stream.owner->handle;
    return result;
}

CUAPI cuStreamGetCtx_v2(CUstream handle, CUcontext *context, void **green)
{
    *green = NULL;
    return cuStreamGetCtx(handle, context);
}

CUAPI cuStreamGetDevice(CUstream stream, CUdevice *device)
{
    Stream found;
    CUresult result = describe(stream, &found);
    if (!result) *device = found.owner->device;
    return result;
}

ANSWERS(cuStreamGetId, (CUstream stream, unsigned long long *id), NEED_STREAM(stream),
        *id = (uintptr_t)stream)

CUAPI cuStreamSetAttribute(CUstream stream, int id, const StreamAttribute *value)
{
    NEED_ATTRIBUTES(attributes, stream);
    return attribute_set(attributes, id, value);
}

CUAPI cuStreamGetAttribute(CUstream stream, int id, StreamAttribute *value)
{
    NEED_ATTRIBUTES(attributes, stream);
    return attribute_get(attributes, id, value);
}

CUAPI cuStreamCopyAttributes(CUstream to, CUstream from)
{
    NEED_ATTRIBUTES(target, to);
    NEED_ATTRIBUTES(source, from);
    if (stream_place(to).context != stream_place(from).context)
        return fail(CUDA_ERROR_INVALID_VALUE, "the streams are of two contexts");
    memmove(target, source, STREAM_ATTRIBUTES * sizeof *target);
    return CUDA_SUCCESS;
}

typedef struct {
    CUstream stream;
    void (*call)(CUstream, CUresult, void *);
    void *data;
} Callback;

static CUresult call_back(void *data)
{
    const Callback *callback = data;
    callback->call(callback->stream, CUDA_SUCCESS, callback->data);
    return CUDA_SUCCESS;
}

static CUresult call_host(void *data)
{
    const HostNode *host = data;
    host->call(host->data);
    return CUDA_SUCCESS;
}

CUAPI cuStreamAddCallback(CUstream stream, void (*call)(CUstream, CUresult, void *), void *data,
                          unsigned flags)
{
    NEED_STREAM(stream);
    if (flags || !call) return fail(CUDA_ERROR_INVALID_VALUE, "no callback, or flags");
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (!result && captured)
        result = capture_refuse(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                "callbacks cannot be captured; call cuLaunchHostFunc");
    if (result) return result;
    return stream_do(stream, call_back, &(Callback){stream, call, data}, sizeof(Callback));
}

CUAPI cuLaunchHostFunc(CUstream stream, void (*call)(void *), void *data)
{
    NEED_STREAM(stream);
    if (!call) return fail(CUDA_ERROR_INVALID_VALUE, "no function");
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result) return result;
    NodeParams params = {.type = NODE_HOST, .host = {call, data}};
    if (captured) return capture_node(stream, &params, NULL, NULL);
    return stream_do(stream, call_host, &params.host, sizeof params.host);
}

CUAPI cuStreamQuery(CUstream stream)
{
    NEED_CONTEXT(context);
    CUresult result = refuse_waiting(stream);
    if (result) return result;
    const StreamPlace place = stream_place(stream);
    return tasks_left(&place) ? fail(CUDA_ERROR_NOT_READY, NULL) : tasks_error(place.device);
}

CUAPI cuStreamSynchronize(CUstream stream)
{
    NEED_CONTEXT(context);
    host_waited();
    return stream_settled(stream, refuse_waiting(stream));
}

/* ---- events ---- */

/* One of an event's records; it counts as a user of the event. */
typedef struct {
    Event *of;
    uint64_t turn;
} Record;

static bool has_happened(const void *data)
{
    const Record *record = data;
    return record->of->done >= record->turn;
}

/* The record that was asked for last. */
static Record last_record(Event *event)
{
    tasks_lock();
    event->users++;
    const Record record = {event, event->asked};
    tasks_unlock();
    return record;
}

static CUresult leave(void *data)
{
    tasks_lock();
    event_leave(((Record *)data)->of);
    tasks_unlock();
    return CUDA_SUCCESS;
}

static CUresult happen(void *data)
{
    Record *record = data;
    tasks_lock();
    if (record->of->done < record->turn) {
        record->of->done = record->turn;
        clock_gettime(CLOCK_MONOTONIC_RAW, &record->of->time);
    }
    event_leave(record->of);
    tasks_unlock();
    return CUDA_SUCCESS;
}

static bool is_pending(const Event *event)
{
    tasks_lock();
    bool pending = event->done < event->asked;
    tasks_unlock();
    return pending;
}

/* What a stream is asked for next waits for an event that has not happened. */
static CUresult wait_for(CUstream stream, Event *event)
{
    if (!is_pending(event)) return CUDA_SUCCESS;
    Record *record = malloc(sizeof *record);
    if (!record) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *record = last_record(event);
    const StreamPlace place = stream_place(stream);
    return tasks_add(&place, has_happened, leave, record);
}

/* What a graph records, or waits for, as a node; otherwise events only order its nodes. */
enum { EXTERNAL = 1 };

CUAPI cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned flags)
{
    NEED_STREAM(stream);
    NEED_EVENT(event, handle);
    if (flags > EXTERNAL) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result) return result;
    const NodeParams params = {.type = NODE_WAIT_EVENT, .event = handle};
    if (captured && flags & EXTERNAL) return capture_node(stream, &params, NULL, NULL);
    result = capture_wait(stream, stream_place(stream), handle, event->recorded);
    return result || captured ? result : wait_for(stream, event);
}

CUAPI cuEventCreate(CUevent *out, unsigned flags)
{
    NEED_CONTEXT(context);
    enum { INTERPROCESS = 4 };
    if (flags & ~7u) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    if (flags & INTERPROCESS && !(flags & EVENT_DISABLE_TIMING))
        return fail(CUDA_ERROR_INVALID_VALUE, "an event of several processes has no time: make it "
                                              "with CU_EVENT_DISABLE_TIMING, too");
    Event *event = calloc(1, sizeof *event);
    if (!event) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    event->owner = context;
    event->users = 1;
    event->timed = !(flags & EVENT_DISABLE_TIMING);
    event->shareable = flags & INTERPROCESS;
    *out = handle_new(EVENT, event);
    return CUDA_SUCCESS;
}

CUresult event_check_shareable(CUevent handle)
{
    NEED_EVENT(event, handle);
    return event->shareable
               ? CUDA_SUCCESS
               : fail(CUDA_ERROR_INVALID_VALUE, "the event was made without CU_EVENT_INTERPROCESS");
}

CUAPI cuEventDestroy_v2(CUevent handle)
{
    NEED_EVENT(event, handle);
    event_drop(handle, event);
    return CUDA_SUCCESS;
}

CUresult event_record(CUevent handle, CUstream stream)
{
    Event *event = handle_object(EVENT, handle);
    if (!event) return CUDA_SUCCESS;
    capture_forget(handle);
    tasks_lock();
    event->users++;
    event->recorded = true;
    Record record = {event, ++event->asked};
    tasks_unlock();
    return stream_do(stream, happen, &record, sizeof record);
}

CUAPI cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned flags)
{
    NEED_EVENT(event, handle);
    if (flags > EXTERNAL) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    Stream of;
    CUresult result = describe(stream, &of);
    if (result) return result;
    if (of.owner->device != event->owner->device)
        return fail(CUDA_ERROR_INVALID_HANDLE, "the event is of device %d, the stream of device %d",
                    event->owner->device, of.owner->device);
    bool captured;
    result = stream_begin(stream, &captured);
    if (result) return result;
    const NodeParams params = {.type = NODE_EVENT_RECORD, .event = handle};
    if (captured && flags & EXTERNAL) return capture_node(stream, &params, NULL, NULL);
    if (captured) return capture_record(handle, stream);
    return event_record(handle, stream);
}

CUAPI cuEventRecord(CUevent event, CUstream stream)
{ return cuEventRecordWithFlags(event, stream, 0); }

static CUresult refuse_captured(CUevent event)
{
    return capture_refuse(event, CUDA_ERROR_CAPTURED_EVENT,
                          "the event was last recorded in a capture");
}

CUAPI cuEventQuery(CUevent handle)
{
    NEED_EVENT(event, handle);
    CUresult result = refuse_captured(handle);
    if (!result) result = capture_refuse_unsafe();
    if (result) return result;
    return is_pending(event) ? fail(CUDA_ERROR_NOT_READY, NULL) : tasks_error(event->owner->device);
}

CUAPI cuEventSynchronize(CUevent handle)
{
    NEED_EVENT(event, handle);
    const int device = event->owner->device;
    host_waited();
    CUresult result = refuse_captured(handle);
    if (result) return result;
    Record record = last_record(event);
    tasks_wait_until(has_happened, &record);
    leave(&record);
    return tasks_error(device);
}

CUAPI cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    NEED_EVENT(first, start);
    NEED_EVENT(last, end);
    CUresult result = refuse_captured(start);
    if (!result) result = refuse_captured(end);
    if (result) return result;
    if (first->owner->device != last->owner->device)
        return fail(CUDA_ERROR_INVALID_HANDLE, "the events are of devices %d and %d",
                    first->owner->device, last->owner->device);
    if (!first->timed || !last->timed)
        return fail(CUDA_ERROR_INVALID_HANDLE, "the event was made with timing disabled");
    if (!first->recorded || !last->recorded)
        return fail(CUDA_ERROR_INVALID_HANDLE, "the event has not been recorded");
    if (is_pending(first) || is_pending(last)) return fail(CUDA_ERROR_NOT_READY, NULL);
    *milliseconds = (last->time.tv_sec - first->time.tv_sec) * 1e3 +
                    (last->time.tv_nsec - first->time.tv_nsec) * 1e-6;
    return CUDA_SUCCESS;
}

/* what PyCUDA calls where it was built with CUDA 12 */
CUAPI cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{ return cuEventElapsedTime_v2(milliseconds, start, end); }
