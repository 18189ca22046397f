/* Products of warpgroups (wgmma) that are under way: until their warp has waited for them, nobody may
   store to what they read, nor touch their registers. They read through the asynchronous proxy. */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

/* Of one warp, in order. */
typedef struct {
    Product *of;
    size_t count, room;
} Queue;

/* Of the block in a seat; readers: which warps read each chunk of shared memory. */
struct Products {
    Queue queues[MAX_WARPS];
    uint32_t readers[SM_SHARED / WGMMA_CHUNK];
};

void products_forget(Products *products)
{
    if (!products) return;
    for (uint32_t warp = 0; warp < MAX_WARPS; warp++) free(products->queues[warp].of);
    memset(products, 0, sizeof *products);
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

static void mark_read(Products *products, const Warp *w, const Product *product)
{
    for (uint32_t i = 0; i < product->count; i++)
        products->readers[product->chunks[i]] |= 1u << w->warp_id;
}

void products_begin(const Warp *w, const Product *product)
{
    if (!watch.here->products) watch.here->products = calloc(1, sizeof(Products));
    if (!watch.here->products) return;
    Queue *queue = &watch.here->products->queues[w->warp_id];
    if (!GROW(queue->of, queue->count, queue->room, 16)) return;
    queue->of[queue->count++] = *product;
    mark_read(watch.here->products, w, product);
}

void sg_sanitize_products_commit(Warp *w)
{
    if (!watch.here->products) return;
    Queue *queue = &watch.here->products->queues[w->warp_id];
    for (size_t n = 0; n < queue->count; n++) queue->of[n].commits++;
}

/* Whether a warp's first product is among those that it need not wait for any longer. */
bool products_take(const Warp *w, uint32_t groups, Product *taken)
{
    Products *products = watch.here->products;
    Queue *queue = products ? &products->queues[w->warp_id] : NULL;
    if (!queue || !queue->count || queue->of[0].commits <= groups) return false;
    *taken = queue->of[0];
    memmove(queue->of, queue->of + 1, --queue->count * sizeof *queue->of);
    for (uint32_t i = 0; i < taken->count; i++)
        products->readers[taken->chunks[i]] &= ~(1u << w->warp_id);
    for (size_t n = 0; n < queue->count; n++) mark_read(products, w, &queue->of[n]);
    return true;
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
