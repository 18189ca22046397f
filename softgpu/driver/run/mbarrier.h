/* A word of shared memory that is an mbarrier, as it lies there; bulk copies, which it hears of. */
#ifndef SOFTGPU_MBARRIER_H
#define SOFTGPU_MBARRIER_H

#include "run/run.h"

/* mbarrier.pending_count knows where `pending` is. */
typedef union {
    uint64_t word;
    struct {
        uint64_t expected : 20, pending : 20, phase : 2, valid : 1;
        int64_t bytes : 21;
    };
} Mbarrier;

/* How many bytes the phase waits for; NULL: no memory to know that. */
static inline uint32_t *mbarrier_told(Worker *worker, uint64_t address)
{
    const uint64_t place = address - (uint64_t)worker->shared;
    if (!worker->told_bytes) worker->told_bytes = calloc(SM_SHARED / sizeof(Mbarrier), 4);
    if (!worker->told_bytes || place >= SM_SHARED) return NULL;
    return &worker->told_bytes[place / sizeof(Mbarrier)];
}

static inline Mbarrier mbarrier_new(uint32_t arrivals)
{ return (Mbarrier){.expected = arrivals, .pending = arrivals, .valid = 1}; }

/* Ends the launch where an address is not a multiple of an mbarrier's bytes. */
void mbarrier_aligned(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask);
/* The same where a parity is neither 0, 1 nor -1: PTX defines 0 and 1 only. */
void mbarrier_parity(Warp *, uint32_t site, const uint64_t *parity, uint32_t mask);

/* How a bulk copy accesses memory; admit: whether a reduction may. NULL: plainly, of boxes. */
typedef struct {
    void (*load)(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, void *data);
    void (*store)(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data);
    bool (*admit)(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask);
} Accesses;
void copy_bulk(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
               const uint64_t *to, const uint64_t *from, const uint32_t *bytes, const Accesses *);
void copy_boxes(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank, uint32_t how,
                const uint64_t *maps, const int32_t *at, const int32_t *offsets,
                const uint64_t *shared, uint32_t *bytes, const Accesses *);

static inline uint32_t operation_of(uint32_t how) { return how / BOX_ITS_OPERATION % 16; }

#endif
