/* What a product of a warpgroup reads of shared memory. */
#ifndef SOFTGPU_WARPGROUP_H
#define SOFTGPU_WARPGROUP_H

#include "run/run.h"

enum {
    GROUP_WARPS = 4,
    WGMMA_CHUNK = 16,
    WGMMA_CHUNKS = 32 + 2 * 256
}; /* bytes of each; at most, of a warp */

static inline uint32_t first_of_group(const Warp *w)
{ return w->warp_id / GROUP_WARPS * GROUP_WARPS; }

/* The chunks that this warp reads, of a only if it lies there; returns how many. */
uint32_t wgmma_chunks(Warp *w, uint32_t site, uint32_t n, uint32_t how, const uint64_t *where_a,
                      const uint64_t *where_b, uint64_t *chunks);

#endif
