/* A word of shared memory that is an mbarrier, as it lies there; bulk copies, which it hears of. */
#ifndef SOFTGPU_MBARRIER_H
#define SOFTGPU_MBARRIER_H

#include "driver.h"

/* mbarrier.pending_count knows where `pending` is. */
typedef union {
    uint64_t word;
    struct {
        uint64_t expected : 20, pending : 20, phase : 2, valid : 1;
        int64_t bytes : 21;
    };
} Mbarrier;

static inline Mbarrier mbarrier_new(uint32_t arrivals)
{ return (Mbarrier){.expected = arrivals, .pending = arrivals, .valid = 1}; }

typedef void (*Load)(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, void *data);
typedef void (*Store)(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data);
void copy_bulk(Warp *, uint32_t read, uint32_t written, uint32_t mask, const uint64_t *to,
               const uint64_t *from, const uint32_t *bytes, Load load, Store store);
/* The same of boxes; without accesses: plainly. */
void copy_boxes(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank, uint32_t how,
                const uint64_t *maps, const int32_t *at, const int32_t *offsets,
                const uint64_t *shared, uint32_t *bytes, Load load, Store store);

#endif
