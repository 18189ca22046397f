/* User objects: a program gets a call when nobody needs one any more. Graphs hold
   references to them, and so do their copies. */
#include <limits.h>
#include <stdatomic.h>

#include "internal.h"

struct UserObject {
    void *handle, *data;
    void (*destroy)(void *data);
    atomic_size_t references;
};

#define NEED_OBJECT(name, handle)                                                                  \
    UserObject *name = handle_object(USER_OBJECT, handle);                                         \
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "no such user object")

#define NEED_REFERENCES(count)                                                                     \
    if (!(count) || (count) > INT_MAX)                                                             \
    return fail(CUDA_ERROR_INVALID_VALUE, "%u references: from 1 to %d are possible", (count),     \
                INT_MAX)

static void release(UserObject *object, size_t count)
{
    if (atomic_fetch_sub(&object->references, count) != count) return;
    handle_drop(object->handle);
    object->destroy(object->data);
    free(object);
}

CUAPI cuUserObjectCreate(CUuserObject *out, void *data, void (*destroy)(void *), unsigned count,
                         unsigned flags)
{
    enum { NO_DESTRUCTOR_SYNC = 1 };
    NEED_REFERENCES(count);
    if (!out || !destroy || flags != NO_DESTRUCTOR_SYNC)
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "a place for the object, a function that destroys it and the flag "
                    "CU_USER_OBJECT_NO_DESTRUCTOR_SYNC are needed");
    UserObject *object = calloc(1, sizeof *object);
    if (!object) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *object = (UserObject){.data = data, .destroy = destroy, .references = count};
    *out = object->handle = handle_new(USER_OBJECT, object);
    return CUDA_SUCCESS;
}

CUAPI cuUserObjectRetain(CUuserObject handle, unsigned count)
{
    NEED_OBJECT(object, handle);
    NEED_REFERENCES(count);
    object->references += count;
    return CUDA_SUCCESS;
}

CUAPI cuUserObjectRelease(CUuserObject handle, unsigned count)
{
    NEED_OBJECT(object, handle);
    NEED_REFERENCES(count);
    if (count > object->references)
        return fail(CUDA_ERROR_INVALID_VALUE, "the object has fewer references");
    release(object, count);
    return CUDA_SUCCESS;
}

static Owned *find(const Graph *graph, const UserObject *object)
{
    for (size_t i = 0; i < graph->owned_count; i++)
        if (graph->owned[i].object == object) return &graph->owned[i];
    return NULL;
}

static bool own(Graph *graph, UserObject *object, size_t count)
{
    Owned *owned = find(graph, object);
    if (!owned) {
        if (!GROW(graph->owned, graph->owned_count, graph->owned_room, 4)) return false;
        owned = &graph->owned[graph->owned_count++];
        *owned = (Owned){.object = object};
    }
    owned->count += count;
    return true;
}

CUAPI cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count,
                              unsigned flags)
{
    enum { MOVE = 1 };
    NEED_GRAPH(graph, graph_handle);
    NEED_OBJECT(object, handle);
    NEED_REFERENCES(count);
    if (flags & ~(unsigned)MOVE) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    if (!own(graph, object, count)) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    if (!(flags & MOVE)) object->references += count;
    return CUDA_SUCCESS;
}

CUAPI cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count)
{
    NEED_GRAPH(graph, graph_handle);
    NEED_OBJECT(object, handle);
    NEED_REFERENCES(count);
    Owned *owned = find(graph, object);
    if (!owned || owned->count < count)
        return fail(CUDA_ERROR_INVALID_VALUE, "the graph has fewer references to the object");
    owned->count -= count;
    if (!owned->count) *owned = graph->owned[--graph->owned_count];
    release(object, count);
    return CUDA_SUCCESS;
}

bool graph_own(Graph *graph, void *data, void (*destroy)(void *data))
{
    UserObject *object = calloc(1, sizeof *object);
    if (object) *object = (UserObject){.data = data, .destroy = destroy, .references = 1};
    if (object && own(graph, object, 1)) return true;
    free(object);
    return false;
}

bool graph_own_as(Graph *graph, const Graph *from)
{
    for (size_t i = 0; i < from->owned_count; i++) {
        const Owned *owned = &from->owned[i];
        if (!own(graph, owned->object, owned->count)) return false;
        owned->object->references += owned->count;
    }
    return true;
}

void graph_disown(Graph *graph)
{
    for (size_t i = 0; i < graph->owned_count; i++)
        release(graph->owned[i].object, graph->owned[i].count);
    free(graph->owned);
}
