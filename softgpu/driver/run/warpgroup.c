/* wgmma: a warp's share of a warpgroup's product, 16 rows of 64, by the products of tensor.c. What
   lies in shared memory is described by 64 bits; chunks of 16 bytes become rows of fragments. */
#include "warpgroup.h"

#include <string.h>

#include "internal.h"

enum { WIDTH = 8, HEIGHT = 16, CHUNK = WGMMA_CHUNK, HALVES = 16 /* of k */ };
enum { KEPT_GROUPS = sizeof((Warp *)0)->committed / sizeof(uint32_t) };
typedef uint32_t Register[LANES];

/* How an operand lies: from `start` on; 8 lines, each `span` bytes, follow each other; `leading` and
   `stride` are the bytes to the next such group, along a line or across lines; `base`: the row of
   its swizzle's pattern that a multiple of 1024 has. */
typedef struct {
    uint32_t start, leading, stride, span, base;
    bool across; /* lines are not along k */
    const char *name;
} Layout;

#define RESERVED (3ull << 14 | 3ull << 30 | 7ull << 46 | 0x3ffull << 52)

static Layout layout_of(Warp *w, uint32_t site, uint64_t described, bool across, const char *name)
{
    static const uint32_t spans[] = {CHUNK, 128, 64, 32};
    if (described & RESERVED)
        fault_at(w, site, 0, CUDA_ERROR_ILLEGAL_INSTRUCTION, DESCRIPTOR, name,
                 (unsigned long long)described, __builtin_ctzll(described & RESERVED));
    return (Layout){.start = (described & 0x3fff) << 4,
                    .leading = (described >> 16 & 0x3fff) << 4,
                    .stride = (described >> 32 & 0x3fff) << 4,
                    .span = spans[described >> 62],
                    .base = described >> 49 & 7,
                    .across = across,
                    .name = name};
}

/* Chunk `chunk` of line `line`. Swizzled, bits 4 to 6 of an address are changed by those above. */
static uint64_t chunk_at(Warp *w, uint32_t site, const Layout *l, uint32_t line, uint32_t chunk)
{
    const uint32_t wide = l->span / CHUNK;
    uint32_t at = l->start + line % 8 * l->span;
    if (wide > 1) at += line / 8 * l->stride + chunk % wide * CHUNK + chunk / wide * l->leading;
    else if (l->across) at += line / 8 * l->leading + chunk * l->stride;
    else at += line / 8 * l->stride + chunk * l->leading;
    at ^= (((at >> 7) - l->base) & (wide - 1)) << 4;
    if (at + CHUNK > w->shared_bytes)
        fault_at(w, site, 0, CUDA_ERROR_ILLEGAL_ADDRESS, PRODUCT_BEYOND_SHARED, l->name, at,
                 w->shared_bytes, l->start, l->span, l->leading, l->stride);
    return (uint64_t)w->shared + at;
}

/* The chunks of `rows` rows (of b: columns) from `first` on, line by line. Returns how many. */
static uint32_t find_chunks(Warp *w, uint32_t site, const Layout *l, uint32_t first, uint32_t rows,
                            uint64_t *chunks)
{
    const uint32_t lines = l->across ? HALVES : rows, wide = l->across ? rows / 8 : 2;
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t chunk = 0; chunk < wide; chunk++)
            *chunks++ = l->across ? chunk_at(w, site, l, line, first / 8 + chunk)
                                  : chunk_at(w, site, l, first + line, chunk);
    return lines * wide;
}

/* The 32 bytes along k of these rows, as registers of a fragment. */
static void gather(Warp *w, uint32_t site, const Layout *l, uint32_t first, uint32_t rows,
                   Register *to)
{
    uint64_t chunks[HEIGHT * 2], *next = chunks;
    const uint32_t eights = rows / 8;
    find_chunks(w, site, l, first, rows, chunks);
    if (!l->across) {
        for (uint32_t i = 0; i < rows; i++)
            for (uint32_t c = 0; c < 2; c++)
                memcpy(to[c * eights + i / 8] + i % 8 * 4, (const void *)*next++, CHUNK);
        return;
    }
    for (uint32_t k = 0; k < HALVES; k++)
        for (uint32_t eight = 0; eight < eights; eight++) {
            uint16_t found[8], *row = (uint16_t *)to[k / 8 * eights + eight];
            memcpy(found, (const void *)*next++, CHUNK);
            for (uint32_t i = 0; i < 8; i++) row[i * 8 + k % 8] = found[i];
        }
}

static uint32_t first_row(const Warp *w) { return w->warp_id % GROUP_WARPS * HEIGHT; }

uint32_t wgmma_chunks(Warp *w, uint32_t site, uint32_t n, uint32_t how, const uint64_t *where_a,
                      const uint64_t *where_b, uint64_t *chunks)
{
    uint32_t count = 0;
    const Layout b = layout_of(w, site, where_b[0], how & MMA_ACROSS_B, "b");
    if (where_a) {
        const Layout a = layout_of(w, site, where_a[0], how & MMA_ACROSS_A, "a");
        count = find_chunks(w, site, &a, first_row(w), HEIGHT, chunks);
    }
    return count + find_chunks(w, site, &b, 0, n, chunks + count);
}

static void negate(uint32_t type, Register *registers, uint32_t count)
{
    const uint32_t signs[] = {[MMA_F16] = 0x80008000u,
                              [MMA_BF16] = 0x80008000u,
                              [MMA_TF32] = 0x80000000u,
                              [MMA_E4M3] = 0x80808080u,
                              [MMA_E5M2] = 0x80808080u};
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t lane = 0; lane < LANES; lane++) registers[n][lane] ^= signs[type];
}

void sg_wgmma(Warp *w, uint32_t site, uint32_t type, uint32_t n, uint32_t how, const uint32_t *a,
              const uint64_t *where_a, const uint64_t *where_b, uint32_t adds, uint32_t *d)
{
    const uint32_t k = type == MMA_TF32                      ? 8
                       : type == MMA_F16 || type == MMA_BF16 ? 16
                       : type == MMA_BITS                    ? 256
                                                             : 32;
    const uint32_t registers = how & MMA_HALF_D ? 2 : 4; /* of a product's d */
    w->products++;
    if (w->worker->at_mbarriers) cluster_wake(w->worker); /* the others may wait for this share */
    Register of_a[4], of_b[2];
    const Layout b = layout_of(w, site, where_b[0], how & MMA_ACROSS_B, "b");
    if (a) memcpy(of_a, a, sizeof of_a);
    else {
        const Layout l = layout_of(w, site, where_a[0], how & MMA_ACROSS_A, "a");
        gather(w, site, &l, first_row(w), HEIGHT, of_a);
    }
    if (how & MMA_MINUS_A) negate(type, of_a, 4);
    for (uint32_t column = 0; column < n; column += WIDTH, d += registers * LANES) {
        Register sums[4];
        gather(w, site, &b, column, WIDTH, of_b);
        if (how & MMA_MINUS_B) negate(type, of_b, 2);
        if (adds) memcpy(sums, d, registers * sizeof *sums);
        else memset(sums, 0, sizeof sums);
        sg_mma(type, HEIGHT, k, how, 0, *of_a, *of_b, *sums, NULL, d);
    }
}

/* ---- waiting ---- */

void sg_wgmma_commit(Warp *w) { w->committed[w->groups++ % KEPT_GROUPS] = w->products; }

/* Whether a warp of the group has yet to begin what this one has begun. */
static bool others_are_behind(const Warp *w, uint32_t products)
{
    const uint32_t first = first_of_group(w);
    FOR_LANES(id, w->worker->unfinished & 0xfu << first)
    if ((int32_t)(products - w->worker->warps[id].products) > 0) return true;
    return false;
}

void sg_wgmma_wait(Warp *w, uint32_t site, uint32_t mask, uint32_t groups)
{
    groups = MIN(groups, KEPT_GROUPS - 1); /* earlier ones are forgotten */
    if (w->groups <= groups) return;
    const uint32_t products = w->committed[(w->groups - 1 - groups) % KEPT_GROUPS];
    while (others_are_behind(w, products)) block_wait(w, site, mask, PRODUCTS, 0);
}

void sg_wgmma_registers(Warp *w, uint32_t site, uint32_t mask, int32_t more)
{
    Worker *worker = w->worker;
    while (more - w->more_registers > worker->spare_registers)
        block_wait(w, site, mask, REGISTERS, more);
    worker->spare_registers -= more - w->more_registers;
    w->more_registers = more;
    if (worker->at_mbarriers) cluster_wake(worker); /* the others may wait for what it has given */
}
