/* A word of shared memory that is an mbarrier, as it lies there. */
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

#endif
