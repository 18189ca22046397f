/* wgmma, watched: what it reads counts as read when it begins, and again when it has been waited for. */
#include "run/warpgroup.h"

#include "sanitize.h"

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
    if (!(watch.here->fenced >> w->warp_id & 1)) report_unfenced(w, site, site);
    look_at(w, &product);
    products_begin(w, &product);
    sg_wgmma(w, site, type, n, how, a, where_a, where_b, adds, d);
}

void sg_sanitize_products_fence(Warp *w) { watch.here->fenced |= 1u << w->warp_id; }

void sg_sanitize_product_unfenced(Warp *w, uint32_t product, uint32_t written, uint32_t mask)
{
    if (mask && watch.here->fenced >> w->warp_id & 1) report_unfenced(w, product, written);
}

/* A warpgroup multiplies as one: nobody's wait ends before all have begun, and when the first of its
   warps has waited for a product, all have read. */
void sg_sanitize_products_wait(Warp *w, uint32_t groups)
{
    const uint32_t first = first_of_group(w);
    Product done, share;
    order_warp(w->warp_id, w->live, w->live);
    while (products_take(w, groups, &done)) {
        look_at(w, &done);
        for (uint32_t other = first; other < first + GROUP_WARPS; other++)
            if (products_share(w, other, done.number, &share)) look_at(w, &share);
    }
    order_warp(w->warp_id, w->live, w->live); /* what was read for any lane is read for all */
}
