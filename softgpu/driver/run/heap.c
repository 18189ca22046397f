/* malloc and free inside kernels: blocks of one region per context, as large as its heap limit. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define ALIGN_BYTES 16u
#define RED_BYTES 16u /* at least this much between blocks */

struct Heap {
    uint64_t begin, end, cursor;
    Range *blocks; /* sorted */
    size_t count, room;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct Heap *heap_of(Context *context)
{
    if (context->heap) return context->heap;
    struct Heap *heap = calloc(1, sizeof *heap);
    size_t bytes = (context->limits[HEAP_LIMIT] + 4095) / 4096 * 4096;
    void *memory = heap ? memory_map(bytes) : NULL; /* a launch has the lock */
    if (!memory) {
        free(heap);
        return NULL;
    }
    heap->begin = heap->cursor = (uint64_t)memory;
    heap->end = heap->begin + bytes;
    return context->heap = heap;
}

void heap_free(Context *context)
{
    struct Heap *heap = context->heap;
    if (!heap) return;
    memory_unmap((void *)heap->begin, heap->end - heap->begin);
    free(heap->blocks);
    free(heap);
    context->heap = NULL;
}

static size_t first_ending_after(const struct Heap *heap, uint64_t address)
{
    size_t low = 0, high = heap->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (heap->blocks[middle].end <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

HeapAnswer heap_range(Context *context, uint64_t address, Range *range)
{
    struct Heap *heap = context->heap;
    if (!heap || address < heap->begin || address >= heap->end) return NOT_IN_HEAP;
    pthread_mutex_lock(&mutex);
    size_t i = first_ending_after(heap, address);
    bool found = i < heap->count && heap->blocks[i].begin <= address;
    if (found) *range = heap->blocks[i];
    pthread_mutex_unlock(&mutex);
    return found ? IN_BLOCK : NOT_IN_BLOCK;
}

bool heap_before(Context *context, uint64_t address, Range *range)
{
    struct Heap *heap = context->heap;
    pthread_mutex_lock(&mutex);
    size_t i = heap ? first_ending_after(heap, address) : 0;
    if (i) *range = heap->blocks[i - 1];
    pthread_mutex_unlock(&mutex);
    return i;
}

Range heap_whole(Context *context)
{
    const struct Heap *heap = context->heap;
    return heap ? (Range){heap->begin, heap->end} : (Range){0, 0};
}

/* Room in [from, end) for a block; 0: none. */
static uint64_t search(const struct Heap *heap, uint64_t from, size_t bytes)
{
    uint64_t position = from;
    for (size_t i = first_ending_after(heap, from);; i++) {
        bool last = i == heap->count;
        uint64_t next = last ? heap->end : heap->blocks[i].begin;
        if (position <= next && bytes + RED_BYTES <= next - position) return position;
        if (last) return 0;
        position = (heap->blocks[i].end + RED_BYTES + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    }
}

static uint64_t allocate(struct Heap *heap, size_t bytes)
{
    if (!bytes || bytes > heap->end - heap->begin) return 0;
    uint64_t address = search(heap, heap->cursor, bytes);
    if (!address) address = search(heap, heap->begin, bytes);
    if (!address) return 0;
    if (!GROW(heap->blocks, heap->count, heap->room, 1024)) return 0;
    size_t i = first_ending_after(heap, address);
    memmove(&heap->blocks[i + 1], &heap->blocks[i], (heap->count - i) * sizeof(Range));
    heap->blocks[i] = (Range){address, address + bytes};
    heap->count++;
    heap->cursor = (address + bytes + RED_BYTES + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    if (heap->cursor > heap->end) heap->cursor = heap->begin;
    return address;
}

static bool release(struct Heap *heap, uint64_t address)
{
    size_t i = first_ending_after(heap, address);
    if (i == heap->count || heap->blocks[i].begin != address) return false;
    memmove(&heap->blocks[i], &heap->blocks[i + 1], (heap->count - i - 1) * sizeof(Range));
    heap->count--;
    return true;
}

void sg_malloc(Warp *w, uint32_t mask, const uint64_t *size, uint64_t *out)
{
    pthread_mutex_lock(&mutex);
    struct Heap *heap = heap_of(w->worker->job->kernel->module->owner);
    FOR_LANES(lane, mask) out[lane] = heap ? allocate(heap, size[lane]) : 0;
    pthread_mutex_unlock(&mutex);
}

void sg_free(Warp *w, uint32_t mask, const uint64_t *pointer)
{
    struct Heap *heap = w->worker->job->kernel->module->owner->heap;
    FOR_LANES(lane, mask)
    {
        if (!pointer[lane]) continue;
        pthread_mutex_lock(&mutex);
        bool done = heap && release(heap, pointer[lane]);
        pthread_mutex_unlock(&mutex);
        if (!done)
            fault_at(w, NO_SITE, lane, CUDA_ERROR_LAUNCH_FAILED, NOT_FROM_MALLOC,
                     address_text(pointer[lane]).text);
    }
}
