/* Handles: numbers that name live objects, so that a stale or made-up handle is an error.
   A handle holds a slot's index and how often the slot was reused.

   Terms: generation counter (Weissflog 2018; docs/terms.md). */
#include <stdlib.h>

#include "base/base.h"

typedef struct {
    ObjectKind kind;
    uint32_t reuse;
    void *object;
} Slot;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Slot *slots;
static uint32_t count, room, first_free = UINT32_MAX;

static void *make_handle(uint32_t index)
{ return (void *)((uint64_t)slots[index].reuse << 36 | (uint64_t)(index + 1) << 4); }

/* The slot that a handle names, or NULL. */
static Slot *slot_of(void *handle)
{
    uint64_t index = ((uint64_t)handle >> 4 & UINT32_MAX) - 1;
    if (index >= count || slots[index].kind == NO_OBJECT || make_handle(index) != handle)
        return NULL;
    return &slots[index];
}

void *handle_new(ObjectKind kind, void *object)
{
    pthread_mutex_lock(&mutex);
    uint32_t index = first_free;
    if (index != UINT32_MAX) {
        first_free = (uint32_t)(uintptr_t)slots[index].object;
    } else {
        if (!GROW(slots, count, room, 256)) {
            pthread_mutex_unlock(&mutex);
            return NULL;
        }
        index = count++;
        slots[index].reuse = 0;
    }
    slots[index].kind = kind;
    slots[index].object = object;
    void *handle = make_handle(index);
    pthread_mutex_unlock(&mutex);
    return handle;
}

void *handle_object(ObjectKind kind, void *handle)
{
    pthread_mutex_lock(&mutex);
    Slot *slot = slot_of(handle);
    void *object = slot && slot->kind == kind ? slot->object : NULL;
    pthread_mutex_unlock(&mutex);
    return object;
}

void handle_drop(void *handle)
{
    pthread_mutex_lock(&mutex);
    Slot *slot = slot_of(handle);
    if (slot) {
        slot->kind = NO_OBJECT;
        slot->reuse = (slot->reuse + 1) & 0xfffffff;
        slot->object = (void *)(uintptr_t)first_free;
        first_free = slot - slots;
    }
    pthread_mutex_unlock(&mutex);
}

void handle_each(ObjectKind kind, void (*visit)(void *handle, void *object, void *data), void *data)
{
    for (uint32_t i = 0;; i++) {
        pthread_mutex_lock(&mutex);
        bool more = i < count;
        bool matches = more && slots[i].kind == kind;
        void *object = matches ? slots[i].object : NULL;
        void *handle = matches ? make_handle(i) : NULL;
        pthread_mutex_unlock(&mutex);
        if (!more) return;
        if (matches) visit(handle, object, data);
    }
}
