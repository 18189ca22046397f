/* What an H200 counts for one access of a warp: pure functions of addresses, offsets and masks,
   which know nothing of launches. softgpu/docs/profile.md has the rules in words. */
#ifndef SOFTGPU_RULES_H
#define SOFTGPU_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "contract.h"

enum { SECTOR = 32 }; /* bytes */

/* ---- global and local memory ---- */

/* The distinct sectors that an access touches. */
typedef struct {
    uint64_t id[LANES];    /* addresses divided by SECTOR, in the order of the lanes */
    uint32_t bytes[LANES]; /* of each, which of its bytes, as bits */
    uint32_t count;
    uint32_t heads; /* bit i: sector i is the first of its line */
    bool ascend;    /* as rules_sectors knows: each id is above the one before */
} Sectors;

/* Each lane of the mask touches `bytes` bytes, at most 16, at a multiple of as many. */
Sectors rules_sectors(const uint64_t *address, uint32_t mask, uint32_t bytes);
/* Sectors, if the bytes that are touched lay side by side. */
uint32_t rules_ideal_sectors(const Sectors *s);
/* offset: in each lane's own local memory, whose 4-byte words lie beside the other lanes'. */
uint32_t rules_local_sectors(const uint64_t *offset, uint32_t mask, uint32_t bytes);
/* Lines of 128 bytes that they are in. */
uint32_t rules_lines(const Sectors *s);
/* Turns that an access to global memory takes in the L1: of its banks and of its tags. */
uint32_t rules_near(const uint64_t *address, uint32_t mask, uint32_t bytes, const Sectors *s);
/* The sectors that reductions and atomics change, and how often each is gone through. */
Sectors rules_atomic_turns(const uint64_t *address, uint32_t mask, uint32_t *turns);
/* Sectors that reductions and atomics go through: the sum of the turns. */
uint32_t rules_atomic_sectors(const uint64_t *address, uint32_t mask);
/* Sectors that cp.async fetches past the L1 cache; to: offsets in shared memory. */
uint32_t rules_copy_sectors(const uint64_t *from, const uint32_t *to, uint32_t mask);

/* ---- shared memory ---- */

typedef struct {
    uint32_t taken, least; /* taken - least: bank conflicts */
} Wavefronts;

Wavefronts rules_wavefronts(const uint32_t *offset, uint32_t mask, uint32_t bytes, bool load);

/* Of an atomic: the lanes of the bank that has most of them. */
uint32_t rules_atomic_wavefronts(const uint32_t *offset, uint32_t mask);

/* ---- atomics that machine code makes loops of; how: enum AtomicForm ---- */

/* Its loads of shared memory; now: what is at the lanes' addresses, for AS_LOOP_MIN and _MAX. */
Wavefronts rules_shared_loop(const uint32_t *offset, uint32_t mask, uint32_t bytes, uint32_t how,
                             uint64_t *now, const uint64_t *operand);

typedef struct {
    uint32_t requests, sectors;
} Traffic;

/* now: the 4 bytes around each lane's address; swap: only of a compare-and-swap. */
Traffic rules_half_loop(const uint64_t *address, uint32_t mask, uint32_t how, uint32_t *now,
                        const uint16_t *compare, const uint16_t *swap);

#endif
