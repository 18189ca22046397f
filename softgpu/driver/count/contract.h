/* The profiler (profile.c): what kernels of its build call besides what others call (`count` points at
   the site's counters), and what Python asks. */
#ifndef SOFTGPU_COUNT_CONTRACT_H
#define SOFTGPU_COUNT_CONTRACT_H

#include "runtime.h"

#pragma GCC visibility push(default)

/* Counters of a site. An access counts in each kind of memory that its lanes touch. */
enum Counter {
    COUNT_REQUESTS, /* of global memory */
    COUNT_SECTORS,
    COUNT_IDEAL,  /* sectors, if the bytes lay side by side */
    COUNT_LINES,  /* of 128 bytes, summed over the requests of global memory */
    COUNT_NEAR,   /* turns that these take in the L1 */
    COUNT_SHARED, /* requests of shared memory */
    COUNT_WAVEFRONTS,
    COUNT_CONFLICTS, /* wavefronts beyond the least */
    COUNT_LOCAL,     /* requests of local memory */
    COUNT_LOCAL_SECTORS,
    COUNT_ATOMS,      /* wavefronts of atomics in shared memory */
    COUNT_LOOP_LOADS, /* of an atomic that is a loop in machine code: requests or wavefronts */
    COUNT_LOOP_MORE   /* their sectors or conflicts */
};
/* Counters of a barrier, in the same places. */
enum BarrierCounter {
    COUNT_ARRIVALS = COUNT_REQUESTS,
    COUNT_WAITS,
    COUNT_IDLE /* instructions that other warps did meanwhile */
};

/* Counters of a product of matrices, in the same places: machine instructions. */
enum TensorCounter { COUNT_HMMA = COUNT_REQUESTS, COUNT_IMMA, COUNT_DMMA };

/* What ptxas makes of an atomic. */
enum AtomicForm {
    AS_ONE_LANE = 2,
    AS_ONE_LANE_IF_FULL = 4,
    AS_LOOP = 8,
    AS_LOOP_MIN = 16,
    AS_LOOP_MAX = 32,
    AS_LOOP_SIGNED = 64,
    AS_LOOP_HALF = 128,
    AS_LOOP_CAS_HALF = 256
};

/* The watched block ran a basic block, or (its site + BARRIER_STEP) came to a barrier. */
typedef struct Step {
    uint32_t warp, what;
    uint32_t mask, at; /* at: instructions that the warp had executed */
} Step;
enum StepKind { BARRIER_STEP = 0x80000000u };

/* An access of the watched block. */
typedef struct Sample {
    uint32_t site, warp, mask, bytes; /* bytes: of each lane */
    uint64_t lanes[LANES];            /* addresses; shared memory: offsets; shuffles: source lane */
} Sample;

/* A warp accesses bytes of global memory that lie in a row, in one turn. Compiled code notes it, and
   calls sg_profile_noted when there is no room for more. */
typedef struct Row {
    uint64_t first;
    uint32_t at, site; /* at: instructions that the warp had executed */
    uint32_t counter;  /* the first of the site's */
    uint8_t warp, kind;
    uint16_t bytes;
} Row;
typedef struct Rows {
    Row *next, *end;
    Row of[64];
} Rows;

/* What a launch did to one allocation, in distinct sectors. */
typedef struct Touched {
    uint64_t begin, end;
    uint64_t read, written, touched;
    uint64_t turns, hottest; /* of atomics: of all sectors, of the one that has most */
    double spread;           /* over how many lines they are, if all had as many */
} Touched;

typedef struct Profile {
    void *module;
    const char *kernel;
    uint32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t launches, counter_count, touched_count, event_count, sample_count, incomplete;
    uint64_t *counters;
    Touched *touched;
    Step *events;
    Sample *samples;
} Profile;

/* The caches of a GPU, and what they did in a launch (caches.c); counts are of sectors. */
typedef struct CacheShape {
    uint32_t multiprocessors, resident; /* resident: blocks on one of them */
    uint32_t gpcs, in_step; /* clusters of multiprocessors; whether blocks stay in step */
    uint32_t l1_bytes, l2_bytes;
} CacheShape;

typedef struct CacheSite {
    uint64_t sectors, l2_sectors, misses; /* that warps, the L1 and the L2 asked for */
    uint64_t l2_lines, missed_lines;      /* the same as accesses to lines */
    uint64_t lines;                       /* all accesses to lines */
    uint64_t late_lines;                  /* to lines that the L1 had just asked for */
    uint64_t under_way_lines; /* in the first wave, to those that memory had just been asked for */
    uint64_t bulk_sectors, bulk_lines; /* of bulk copies, which no L1 has */
} CacheSite;

typedef struct CacheCounts {
    uint64_t sample; /* one line in so many was looked at */
    uint64_t l2_reads, l2_writes, dram_reads, dram_writes;
    uint64_t read_pages, write_pages; /* that memory opened for these */
    uint64_t stored_lines;            /* accesses to lines that the writes of the L2 are */
    CacheSite *sites;                 /* zeros at first, one per site */
} CacheCounts;

int sg_caches_replay(const CacheShape *, CacheCounts *);

/* How long a launch's blocks keep a GPU, if each takes as long as it has instructions (waves.c). */
typedef struct Waves {
    double shared; /* the blocks of a multiprocessor share its speed: 1 if all end together */
    double seated; /* each has a speed of its own: in times of the average block */
} Waves;

int sg_waves(const CacheShape *, Waves *);

void sg_profile_begin(uint64_t watched_block);
Profile *sg_profile_end(void);
/* Calls back after each launch of all threads, with its profile; NULL ends it. */
typedef int (*ProfiledCallback)(const Profile *);
void sg_profile_all(ProfiledCallback);
uint32_t sg_profile_enter(Warp *); /* whether its block is watched */
void sg_profile_step(Warp *, uint32_t block, uint32_t mask, uint32_t at);
void sg_profile_noted(Warp *);
void sg_profile_row(Warp *, uint64_t *count, uint32_t site, uint64_t first, uint32_t step,
                    uint32_t mask);
void sg_profile_lanes(Warp *, uint64_t *count, uint32_t site, const uint64_t *address,
                      uint32_t mask);
/* ldmatrix and stmatrix: each lane of `rows` has the address of one. */
void sg_profile_rows(Warp *, uint64_t *count, uint32_t site, const uint64_t *address,
                     uint32_t rows);
void sg_profile_wide(Warp *, uint64_t *count, uint32_t site, const uint64_t *address, uint32_t mask,
                     int32_t delta, uint32_t bytes);
void sg_profile_wide_row(Warp *, uint64_t *count, uint32_t site, uint64_t first, uint32_t step,
                         uint32_t mask, int32_t delta, uint32_t bytes);
/* Bulk copies: as sg_copy_bulk and sg_copy_boxes, with the lines of global memory that they move. */
void sg_profile_copy_bulk(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
                          const uint64_t *to, const uint64_t *from, const uint32_t *bytes);
void sg_profile_copy_boxes(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                           uint32_t how, const uint64_t *maps, const int32_t *at,
                           const int32_t *offsets, const uint64_t *shared, uint32_t *bytes);
void sg_profile_copy(Warp *, uint64_t *count, uint32_t site, const uint64_t *from,
                     const uint64_t *to, uint32_t mask);
void sg_profile_atomic(Warp *, uint64_t *count, uint32_t site, const uint64_t *address,
                       uint32_t mask, uint32_t how, const void *a, const void *b);
void sg_profile_barrier(Warp *, uint32_t counter, uint32_t site, uint32_t id, uint32_t mask);
void sg_profile_shuffle(Warp *, uint32_t site, uint32_t mode, const uint32_t *b, const uint32_t *c,
                        uint32_t mask);

#pragma GCC visibility pop

#endif
