/* Which blocks of a grid run, and in what order: all of them, one after the other, unless the thread
   that launches wants it otherwise. */
#include "internal.h"

static _Thread_local const Range *only; /* in ascending order */
static _Thread_local uint32_t only_count;
static _Thread_local uint64_t order_seed;

void sg_only_blocks(const Range *ranges, uint32_t count)
{
    only = ranges;
    only_count = count;
}

void sg_block_order(uint64_t seed) { order_seed = seed; }

bool dealing_is_asked_for(void) { return only_count || order_seed; }

CUresult dealing_begin(Job *job)
{
    uint64_t all = job->blocks, last = only_count ? only[only_count - 1].end : 0;
    job->seed = order_seed;
    job->only = only_count ? only : NULL;
    job->only_count = only_count;
    if (!job->only) return CUDA_SUCCESS;
    if (last > all)
        return fail(CUDA_ERROR_INVALID_VALUE, "kernel %s: there is no block %llu in a grid of %llu",
                    job->kernel->shown, (unsigned long long)last - 1, (unsigned long long)all);
    if (job->cluster_blocks > 1) return CUDA_SUCCESS;
    job->blocks = 0;
    for (uint32_t i = 0; i < only_count; i++) job->blocks += only[i].end - only[i].begin;
    return CUDA_SUCCESS;
}

/* A permutation of 0 to count - 1: a Feistel network over the next power of 4, walked along until
   it comes back among them. */
static uint64_t shuffled(uint64_t turn, uint64_t count, uint64_t seed)
{
    unsigned half = 1;
    while (half < 32 && count > 1ull << 2 * half) half++;
    uint64_t mask = (1ull << half) - 1;
    do {
        uint64_t left = turn >> half, right = turn & mask;
        for (uint64_t round = 1; round <= 6; round++) {
            uint64_t mixed = (right + round + seed) * 0x9e3779b97f4a7c15u;
            mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
            uint64_t next = left ^ (mixed >> 32 & mask);
            left = right;
            right = next;
        }
        turn = left << half | right;
    } while (turn >= count);
    return turn;
}

uint64_t dealt_block(const Job *job, uint64_t turn)
{
    if (job->seed) turn = shuffled(turn, job->blocks, job->seed);
    if (!job->only) return turn;
    const Range *r = job->only;
    for (; turn >= r->end - r->begin; r++) turn -= r->end - r->begin;
    return r->begin + turn;
}

uint64_t dealt_cluster(const Job *job, uint64_t turn)
{ return job->seed ? shuffled(turn, job->blocks / job->cluster_blocks, job->seed) : turn; }

uint64_t dealt_block_of(const Job *job, uint64_t cluster, uint32_t rank, uint32_t ctaid[3])
{
    for (int i = 0; i < 3; i++) {
        uint32_t clusters = job->grid[i] / job->cluster[i];
        ctaid[i] = cluster % clusters * job->cluster[i] + rank % job->cluster[i];
        cluster /= clusters;
        rank /= job->cluster[i];
    }
    return ctaid[0] + job->grid[0] * (ctaid[1] + (uint64_t)job->grid[1] * ctaid[2]);
}

bool dealt_runs(const Job *job, uint64_t cluster)
{
    uint32_t ctaid[3];
    for (uint32_t rank = 0; job->only && rank < job->cluster_blocks; rank++) {
        const uint64_t block = dealt_block_of(job, cluster, rank, ctaid);
        for (uint32_t i = 0; i < job->only_count; i++)
            if (block >= job->only[i].begin && block < job->only[i].end) return true;
    }
    return !job->only;
}
