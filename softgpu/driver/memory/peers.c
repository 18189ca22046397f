/* Devices that reach each other's memory: who may, and how many bytes went over each link. */
#include "internal.h"

static uint64_t links[MOST_DEVICES * MOST_DEVICES]; /* bytes, from * MOST_DEVICES + to */

/* Where a context is among the peers of another; their count: it is none. */
static size_t peer_index(const Context *context, uint64_t id)
{
    size_t i = 0;
    while (i < context->peers.count && context->peers.ids[i] != id) i++;
    return i;
}

bool peer_reaches(const Context *context, const Allocation *allocation)
{
    if (allocation->device == ANYWHERE || allocation->device == context->device) return true;
    if (allocation->kind == IMPORTED_MEMORY) return allocation->owner == context;
    if (allocation->pool)
        return (allocation->pool->readers | allocation->readers) >> context->device & 1;
    return peer_index(context, allocation->owner->id) < context->peers.count;
}

void peer_count(int from, int to, size_t bytes)
{ __atomic_add_fetch(&links[from * MOST_DEVICES + to], bytes, __ATOMIC_RELAXED); }

void sg_link_bytes(uint64_t *out)
{
    for (int i = 0; i < MOST_DEVICES * MOST_DEVICES; i++)
        out[i] = __atomic_exchange_n(&links[i], 0, __ATOMIC_RELAXED);
}

static void forget(void *handle, void *object, void *id)
{
    (void)handle;
    Context *context = object;
    size_t i = peer_index(context, *(uint64_t *)id);
    if (i < context->peers.count)
        context->peers.ids[i] = context->peers.ids[--context->peers.count];
}

void peer_forget(Context *context)
{
    driver_lock();
    handle_each(CONTEXT, forget, &context->id);
    driver_unlock();
    free(context->peers.ids);
}

/* ---- the driver calls ---- */

CUAPI cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    NEED_DEVICE(device);
    NEED_DEVICE(peer);
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to)
{
    enum { PERFORMANCE_RANK = 1, ACCESS, NATIVE_ATOMICS, ARRAY_ACCESS };
    NEED_DEVICE(from);
    NEED_DEVICE(to);
    if (from == to) return fail(CUDA_ERROR_INVALID_DEVICE, "device %d is no peer of its own", from);
    if (attribute < PERFORMANCE_RANK || attribute > ARRAY_ACCESS)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no attribute %d", attribute);
    *value = attribute != PERFORMANCE_RANK; /* all links are the best: rank 0 */
    return CUDA_SUCCESS;
}

/* The context that is to be a peer of the current one. */
static CUresult find_peer(const Context *context, CUcontext handle, Context **peer)
{
    *peer = handle_object(CONTEXT, handle);
    if (!*peer) return fail(CUDA_ERROR_INVALID_CONTEXT, "no such context");
    if (*peer == context)
        return fail(CUDA_ERROR_INVALID_CONTEXT, "a context is no peer of its own");
    return CUDA_SUCCESS;
}

CUAPI cuCtxEnablePeerAccess(CUcontext handle, unsigned flags)
{
    NEED_CONTEXT(context);
    Context *peer;
    if (flags) return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
    CUresult result = find_peer(context, handle, &peer);
    if (result) return result;
    if (peer->device == context->device)
        return fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "both contexts are of device %d",
                    peer->device);
    driver_lock();
    struct Peers *peers = &context->peers;
    if (peer_index(context, peer->id) < peers->count)
        result = fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, NULL);
    else if (!GROW(peers->ids, peers->count, peers->room, 4))
        result = fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    else peers->ids[peers->count++] = peer->id;
    driver_unlock();
    return result;
}

CUAPI cuCtxDisablePeerAccess(CUcontext handle)
{
    NEED_CONTEXT(context);
    Context *peer;
    CUresult result = find_peer(context, handle, &peer);
    if (result) return result;
    driver_lock();
    size_t i = peer_index(context, peer->id);
    if (i == context->peers.count) result = fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, NULL);
    else context->peers.ids[i] = context->peers.ids[--context->peers.count];
    driver_unlock();
    return result;
}
