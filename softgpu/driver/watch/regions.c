/* The sanitizer: the shadow of each allocation that launches touch, and of the memory for malloc in
   kernels; what was written there before a launch, and after it.

   Terms: shadow memory (Nethercote, Seward 2007; docs/terms.md). */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

#define KEPT_BYTES (256ull << 20) /* shadowed memory whose shadow is kept between launches */

static Region heap, **regions;
static size_t count, room;

Region *region_of(const Allocation *a)
{
    Region *r = NULL;
    for (size_t i = 0; i < count && !r; i++)
        if (regions[i]->end == a->end && regions[i]->begin == (a->begin & ~15ull)) r = regions[i];
    if (!r) {
        if (!GROW(regions, count, room, 64)) return NULL;
        r = calloc(1, sizeof *r);
        if (!r || !shadow_make(r, a->begin, a->end)) {
            free(r);
            return NULL;
        }
        regions[count++] = r;
    }
    if (r->prepared == order.launch) return r;
    r->prepared = order.launch;
    shadow_coarsen(r);
    free(r->own_bits);
    r->own_bits = NULL;
    r->bits = written_bits(a);
    for (uint32_t i = 0; i < watch.unwritten->count; i++) {
        Range u = watch.unwritten->ranges[i];
        uint64_t begin = MAX(u.begin, a->begin), end = MIN(u.end, a->end);
        uint64_t size = a->end - a->begin;
        if (begin >= end) continue;
        if (!r->own_bits) {
            r->own_bits = malloc(size / 8 + 1);
            if (!r->own_bits) break;
            if (r->bits) memcpy(r->own_bits, r->bits, size / 8 + (size % 8 > 0));
            else memset(r->own_bits, 0xff, size / 8 + 1);
            r->bits = r->own_bits;
        }
        written_set(r->own_bits, begin - a->begin, end - begin, false);
    }
    r->all_written = !r->bits;
    r->unchanging = !meant_to_change(a);
    return r;
}

Region *region_of_heap(void)
{
    Range whole = heap_whole(watch.kernel->module->owner);
    uint64_t bytes = (whole.end - whole.begin) / 8;
    Region *r = &heap;
    if (r->begin != whole.begin || r->end != whole.end) {
        free(r->own_bits);
        shadow_free(r);
        if (!whole.end || !shadow_make(r, whole.begin, whole.end)) return NULL;
        r->bits = r->own_bits = malloc(bytes);
    }
    if (r->prepared != order.launch && r->own_bits) {
        shadow_coarsen(r);
        memset(r->own_bits, 0xff, bytes);
        r->prepared = order.launch;
    }
    return r->own_bits ? r : NULL;
}

static void drop(bool all)
{
    uint64_t total = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) total += regions[i]->room;
    all |= total > KEPT_BYTES;
    for (size_t i = 0; i < count; i++) {
        Region *r = regions[i];
        const Allocation *a = memory_find(r->end - 1);
        if (!all && a && a->end == r->end && (a->begin & ~15ull) == r->begin) {
            regions[kept++] = r;
            continue;
        }
        shadow_free(r);
        free(r->own_bits);
        free(r);
    }
    count = kept;
}

void regions_drop(void) { drop(false); }

void regions_forget(void)
{
    drop(true);
    free(heap.own_bits);
    shadow_free(&heap);
}

void regions_keep_written(void)
{
    for (size_t i = 0; i < count; i++) {
        Region *r = regions[i];
        const Allocation *a = memory_find(r->end - 1);
        if (r->all_written || r->prepared != order.launch || !a ||
            (r->last[WRITE] < order.launch && r->last[ATOMIC] < order.launch))
            continue;
        uint64_t run = 0, at = a->begin - r->begin, end = r->end - r->begin;
        for (; at < end; at++) {
            const Planes *p = r->fine[at / 256] ? &r->bytes : &r->words;
            uint64_t i = r->fine[at / 256] ? at : at / 4;
            bool written = p->of[WRITE][i] >= MARK_AT(order.launch) ||
                           p->of[ATOMIC][i] >= MARK_AT(order.launch);
            if (written) {
                run++;
            } else if (run) {
                written_by_host(a, r->begin + at - run, run);
                run = 0;
            }
        }
        if (run) written_by_host(a, r->begin + at - run, run);
    }
}
