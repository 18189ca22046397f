/* Products of warpgroups (wgmma) that are under way: until their warp has waited for them, nobody may
   store to what they read, nor touch their registers. They read through the asynchronous proxy.

   Terms: asynchronous proxy (PTX ISA, Memory Consistency Model; docs/terms.md). */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

enum { RECENT = 64 }; /* products of a warp that may be under way at once, about */

/* Of one warp, in order. */
typedef struct {
    Product *of;
    size_t count, room;
} Queue;

/* Of the block in a seat; readers: which warps read each chunk of shared memory. */
struct Products {
    Queue queues[MAX_WARPS];
    uint32_t readers[SM_SHARED / WGMMA_CHUNK];
    uint32_t begun[MAX_WARPS];         /* how many */
    uint32_t began[MAX_WARPS][RECENT]; /* when, by number */
    uint32_t waited[MAX_WARPS];        /* when a warp last waited for others' shares, too */
};

void products_free(Products *products)
{
    for (uint32_t warp = 0; products && warp < MAX_WARPS; warp++) free(products->queues[warp].of);
    free(products);
}

/* The last product of a warp that reads a chunk. */
static const Product *reader_of(const Queue *queue, uint64_t chunk)
{
    for (size_t n = queue->count; n-- > 0;)
        for (uint32_t i = 0; i < queue->of[n].count; i++)
            if (queue->of[n].chunks[i] == chunk) return &queue->of[n];
    return NULL;
}

void products_collide(const Access *a, const uint64_t *addr, uint32_t mask)
{
    const Products *products = watch.here->products;
    if (!products || !a->store) return;
    FOR_LANES(lane, mask)
    {
        uint64_t first = addr[lane] - (uint64_t)a->w->shared, chunk = first / WGMMA_CHUNK;
        if (!in_shared(a->w, a->site, addr[lane]) || first >= SM_SHARED) continue;
        uint32_t warps = products->readers[chunk];
        if (!warps) continue;
        uint32_t warp = __builtin_ctz(warps);
        const Product *product = reader_of(&products->queues[warp], chunk);
        report_multiplying(a, lane, addr[lane], mark_of(order.now, product->site, warp, 0, 0));
    }
}

static void mark_read(Products *products, uint32_t warp, const Product *product)
{
    for (uint32_t i = 0; i < product->count; i++)
        products->readers[product->chunks[i]] |= 1u << warp;
}

void products_begin(const Warp *w, Product *product)
{
    if (!watch.here->products) watch.here->products = calloc(1, sizeof(Products));
    Products *products = watch.here->products;
    if (!products) return;
    Queue *queue = &products->queues[w->warp_id];
    if (!GROW(queue->of, queue->count, queue->room, 16)) return;
    product->number = products->begun[w->warp_id]++;
    products->began[w->warp_id][product->number % RECENT] = order.now;
    queue->of[queue->count++] = *product;
    mark_read(products, w->warp_id, product);
}

void sg_sanitize_products_commit(Warp *w)
{
    if (!watch.here->products) return;
    Queue *queue = &watch.here->products->queues[w->warp_id];
    for (size_t n = 0; n < queue->count; n++) queue->of[n].commits++;
}

/* A product of a warp reads no longer. */
static void end_reading(Products *products, uint32_t warp, Product *product, Product *ended)
{
    const Queue *queue = &products->queues[warp];
    *ended = *product;
    product->count = 0;
    for (uint32_t i = 0; i < ended->count; i++)
        products->readers[ended->chunks[i]] &= ~(1u << warp);
    for (size_t n = 0; n < queue->count; n++) mark_read(products, warp, &queue->of[n]);
}

static Queue *queue_of(const Warp *w)
{ return watch.here->products ? &watch.here->products->queues[w->warp_id] : NULL; }

bool products_take(const Warp *w, uint32_t groups, Product *taken)
{
    Products *products = watch.here->products;
    Queue *queue = queue_of(w);
    const uint32_t first = first_of_group(w);
    if (!queue || !queue->count || queue->of[0].commits <= groups) return false;
    end_reading(products, w->warp_id, &queue->of[0], taken);
    memmove(queue->of, queue->of + 1, --queue->count * sizeof *queue->of);
    for (uint32_t other = first; other < first + GROUP_WARPS; other++) {
        if (products->begun[other] > taken->number)
            order_hear(w->warp_id, other, products->began[other][taken->number % RECENT] + 1);
        if (!taken->count) order_hear(w->warp_id, other, products->waited[other]);
    }
    return true;
}

bool products_share(const Warp *w, uint32_t other, uint32_t number, Product *taken)
{
    Products *products = watch.here->products;
    Queue *queue = &products->queues[other];
    for (size_t n = 0; n < queue->count && other != w->warp_id; n++)
        if (queue->of[n].number == number && queue->of[n].count) {
            end_reading(products, other, &queue->of[n], taken);
            products->waited[w->warp_id] = order.now + 1;
            return true;
        }
    return false;
}

void sg_sanitize_product_touch(Warp *w, uint32_t site, uint32_t product, uint32_t writes,
                               uint32_t mask)
{
    const Products *products = watch.here->products;
    if (!products || !mask) return;
    const Queue *queue = &products->queues[w->warp_id];
    for (size_t n = 0; n < queue->count; n++)
        if (queue->of[n].site == product) {
            report_unfinished(w, site, product, __builtin_ctz(mask), writes);
            return;
        }
}
