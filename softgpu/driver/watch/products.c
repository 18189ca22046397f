/* Products of warpgroups (wgmma) that are under way: until their warp has waited for them, nobody may
   store to what they read, nor touch their registers. They read through the asynchronous proxy. */
#include "run/warpgroup.h"

#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

/* What one warp reads for one instruction. */
typedef struct {
    uint32_t site, commits, count;
    uint16_t chunks[WGMMA_CHUNKS];
} Product;

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

/* The warp reads chunks through the asynchronous proxy. */
static void look_at(Warp *w, const Product *product)
{
    Access a = {.w = w,
                .site = site_of(product->site),
                .number = product->site,
                .bytes = WGMMA_CHUNK,
                .load = true};
    uint64_t addr[LANES];
    for (uint32_t first = 0; first < product->count; first += LANES) {
        const uint32_t lanes = MIN(LANES, product->count - first);
        for (uint32_t i = 0; i < lanes; i++)
            addr[i] = (uint64_t)w->shared + product->chunks[first + i] * WGMMA_CHUNK;
        const uint32_t mask = UINT32_MAX >> (LANES - lanes);
        sanitize_access(w, product->site, addr, mask, NULL, 0);
        FOR_LANES(lane, mask)
        {
            Mark store = shadow_unproxied(&a, &watch.here->shared, addr[lane], lane);
            if (store) report_unproxied(&a, lane, addr[lane], store);
        }
    }
}

static void begin(Warp *w, Product *product)
{
    if (!watch.here->products) watch.here->products = calloc(1, sizeof(Products));
    if (!watch.here->products) return;
    Queue *queue = &watch.here->products->queues[w->warp_id];
    if (!GROW(queue->of, queue->count, queue->room, 16)) return;
    queue->of[queue->count++] = *product;
    for (uint32_t i = 0; i < product->count; i++)
        watch.here->products->readers[product->chunks[i]] |= 1u << w->warp_id;
}

void sg_sanitize_wgmma(Warp *w, uint32_t site, uint32_t type, uint32_t n, uint32_t how,
                       const uint32_t *a, const uint64_t *where_a, const uint64_t *where_b,
                       uint32_t adds, uint32_t *d, uint32_t hints)
{
    (void)hints;
    uint64_t chunks[WGMMA_CHUNKS];
    Product product = {.site = site};
    product.count = wgmma_chunks(w, site, n, how, where_a, where_b, chunks);
    for (uint32_t i = 0; i < product.count; i++)
        product.chunks[i] = (chunks[i] - (uint64_t)w->shared) / WGMMA_CHUNK;
    order_warp(w->warp_id, w->live, w->live);
    look_at(w, &product);
    begin(w, &product);
    sg_wgmma(w, site, type, n, how, a, where_a, where_b, adds, d);
}

void sg_sanitize_products_commit(Warp *w)
{
    if (!watch.here->products) return;
    Queue *queue = &watch.here->products->queues[w->warp_id];
    for (size_t n = 0; n < queue->count; n++) queue->of[n].commits++;
}

/* Products end in the order in which they began; what they read counts as read now. */
void sg_sanitize_products_wait(Warp *w, uint32_t groups)
{
    Products *products = watch.here->products;
    if (!products) return;
    Queue *queue = &products->queues[w->warp_id];
    size_t done = 0;
    while (done < queue->count && queue->of[done].commits > groups) done++;
    if (!done) return;
    order_warp(w->warp_id, w->live, w->live);
    for (size_t n = 0; n < done; n++) {
        look_at(w, &queue->of[n]);
        for (uint32_t i = 0; i < queue->of[n].count; i++)
            products->readers[queue->of[n].chunks[i]] &= ~(1u << w->warp_id);
    }
    memmove(queue->of, queue->of + done, (queue->count -= done) * sizeof *queue->of);
    for (size_t n = 0; n < queue->count; n++)
        for (uint32_t i = 0; i < queue->of[n].count; i++)
            products->readers[queue->of[n].chunks[i]] |= 1u << w->warp_id;
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
