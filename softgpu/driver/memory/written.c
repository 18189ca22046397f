/* What of device memory has been written: by the host in copies and memsets, or by a kernel. The
   sanitizer asks. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct Written {
    uint64_t launches; /* that could reach anything, when the memory was allocated */
    bool all;
    uint64_t from, to; /* written offsets, while one range is enough */
    uint8_t *bits;     /* else: a bit per byte */
};

static uint64_t far_launches;

struct Written *written_new(void)
{
    struct Written *w = calloc(1, sizeof *w);
    if (w) w->launches = far_launches;
    return w;
}

void written_free(struct Written *w)
{
    if (w) free(w->bits);
    free(w);
}

bool written_test(const uint8_t *bits, uint64_t from, uint64_t count)
{
    uint64_t i = from, end = from + count;
    for (; i < end && i % 8; i++)
        if (!(bits[i / 8] >> i % 8 & 1)) return false;
    for (; i + 8 <= end; i += 8)
        if (bits[i / 8] != 0xff) return false;
    for (; i < end; i++)
        if (!(bits[i / 8] >> i % 8 & 1)) return false;
    return true;
}

void written_set(uint8_t *bits, uint64_t from, uint64_t count, bool value)
{
    uint64_t i = from, end = from + count;
    for (; i < end && i % 8; i++)
        bits[i / 8] = value ? bits[i / 8] | 1 << i % 8 : bits[i / 8] & ~(1 << i % 8);
    if (i + 8 <= end) memset(bits + i / 8, value ? 0xff : 0, (end - i) / 8);
    for (i += (end - i) / 8 * 8; i < end; i++)
        bits[i / 8] = value ? bits[i / 8] | 1 << i % 8 : bits[i / 8] & ~(1 << i % 8);
}

static bool all_written(const Allocation *a)
{
    struct Written *w = a->written;
    if (!w || w->all) return true;
    w->all = w->launches != far_launches || (w->from == 0 && w->to == a->end - a->begin);
    if (!w->all) return false;
    free(w->bits);
    w->bits = NULL;
    return true;
}

/* From one range to bits; false: out of memory, all counts as written. */
static bool need_bits(const Allocation *a)
{
    struct Written *w = a->written;
    if (w->bits) return true;
    w->bits = calloc((a->end - a->begin + 7) / 8, 1);
    if (w->bits) written_set(w->bits, w->from, w->to - w->from, true);
    else w->all = true;
    return w->bits;
}

static void mark(const Allocation *a, uint64_t from, uint64_t to)
{
    struct Written *w = a->written;
    if (all_written(a)) return;
    if (!w->bits && w->from == w->to) {
        w->from = from;
        w->to = to;
    } else if (!w->bits && from <= w->to && to >= w->from) {
        if (from < w->from) w->from = from;
        if (to > w->to) w->to = to;
    } else if (need_bits(a)) {
        written_set(w->bits, from, to - from, true);
    }
}

void written_by_host(const Allocation *a, uint64_t address, size_t bytes)
{
    if (a) mark(a, address - a->begin, address - a->begin + bytes);
}

void written_by_copy(const Allocation *target, uint64_t to, const Allocation *source, uint64_t from,
                     size_t bytes)
{
    if (!source || all_written(source)) {
        written_by_host(target, to, bytes);
        return;
    }
    const struct Written *w = source->written;
    uint64_t offset = from - source->begin;
    if (!w->bits) {
        uint64_t begin = MAX(offset, w->from), end = MIN(offset + bytes, w->to);
        if (begin < end) written_by_host(target, to + begin - offset, end - begin);
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        if (written_test(w->bits, offset + i, 1)) written_by_host(target, to + i, 1);
}

const uint8_t *written_bits(const Allocation *a)
{ return all_written(a) || !need_bits(a) ? NULL : a->written->bits; }

void written_as_a_whole(const Allocation *a)
{
    if (a && a->written) a->written->all = true;
}

void written_everywhere(void) { far_launches++; }
