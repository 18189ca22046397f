/* Clusters: blocks that one thread runs in turn, each in a seat of its own. A cluster that can only wait
   makes room for a further one, as single blocks do (seats.c). */
#define _GNU_SOURCE
#include <stdlib.h>

#include "internal.h"

/* ---- the barrier ---- */

void sg_cluster_arrive(Warp *w, uint32_t site, uint32_t mask)
{
    Cluster *cluster = w->worker->cluster;
    if (w->in_cluster & mask)
        fault_at(w, site, __builtin_ctz(w->in_cluster & mask), CUDA_ERROR_LAUNCH_FAILED,
                 ARRIVED_TWICE);
    w->in_cluster |= mask;
    w->cluster_phase = cluster->phase;
    cluster->arrived += __builtin_popcount(mask);
    block_count_exits(w);
    cluster_recheck(cluster);
}

void sg_cluster_wait(Warp *w, uint32_t site, uint32_t mask)
{
    const Cluster *cluster = w->worker->cluster;
    if (mask & ~w->in_cluster)
        fault_at(w, site, __builtin_ctz(mask & ~w->in_cluster), CUDA_ERROR_LAUNCH_FAILED,
                 NOT_ARRIVED);
    while (cluster->phase == w->cluster_phase) block_wait(w, site, mask, CLUSTER_BARRIER, 0);
    w->in_cluster &= ~mask;
}

/* ---- seats ---- */

static Cluster *new_cluster(Worker *home)
{
    Cluster *cluster = calloc(1, sizeof *cluster);
    Worker *seats = calloc(MOST_CLUSTER, sizeof *seats);
    char *shared = map_window(MOST_CLUSTER * CLUSTER_STEP);
    if (!cluster || !seats || !shared) {
        free(cluster);
        free(seats);
        return NULL;
    }
    cluster->shared = shared;
    for (uint32_t i = 0; i < MOST_CLUSTER; i++) {
        seats[i].home = home;
        seats[i].index = home->index;
        seats[i].cluster = cluster;
        seats[i].shared = shared + i * CLUSTER_STEP;
        cluster->seats[i] = &seats[i];
    }
    return cluster;
}

/* Gives the seats of a cluster the blocks of the next one; false: none is left. */
static bool seat_blocks(Cluster *cluster, Job *job)
{
    uint64_t number;
    do {
        uint64_t turn = __atomic_fetch_add(&job->next_block, cluster->blocks, __ATOMIC_RELAXED);
        if (job->stop || turn >= job->blocks) return false;
        number = dealt_cluster(job, turn / cluster->blocks);
    } while (!dealt_runs(job, number));
    cluster->arrived = 0;
    for (uint32_t rank = 0; rank < cluster->blocks; rank++) {
        uint32_t ctaid[3];
        uint64_t block = dealt_block_of(job, number, rank, ctaid);
        block_begin(cluster->seats[rank], block, ctaid);
    }
    return true;
}

/* Puts a further cluster into the ring, behind `last`, and makes it the last. */
static bool open_cluster(Worker *home, Cluster **last)
{
    Job *job = home->job;
    Cluster *cluster = home->spare_clusters;
    if (cluster) home->spare_clusters = cluster->next;
    else if (!(cluster = new_cluster(home))) return false;
    cluster->blocks = job->cluster_blocks;
    cluster->next = *last ? (*last)->next : cluster;
    (*last ? *last : cluster)->next = cluster;
    *last = cluster;
    for (uint32_t i = 0; i < cluster->blocks; i++) {
        if (!block_prepare(cluster->seats[i], job)) return false;
        seats_enter(cluster->seats[i]);
    }
    return true;
}

/* Takes the cluster behind `last` out of the ring. */
static void close_cluster(Worker *home, Cluster **last)
{
    Cluster *cluster = (*last)->next;
    for (uint32_t i = 0; i < cluster->blocks; i++) {
        if (home->job->stop) block_forget(cluster->seats[i]);
        seats_leave(cluster->seats[i]);
    }
    (*last)->next = cluster->next;
    if (cluster == *last) *last = NULL;
    cluster->next = home->spare_clusters;
    home->spare_clusters = cluster;
}

/* Lets each block of a cluster have its turn; *waits: one of them has more to do. */
static bool take_turns(Cluster *cluster, bool *waits)
{
    *waits = false;
    for (uint32_t i = 0; i < cluster->blocks; i++) {
        Worker *seat = cluster->seats[i];
        if (!seat->has_block) continue;
        if (!block_run(seat)) return false;
        if (seat->job->stop) return true;
        seat->has_block = seat->steps_aside;
        *waits |= seat->steps_aside;
    }
    return true;
}

void clusters_run(Worker *home)
{
    Job *job = home->job;
    Cluster *last = NULL;
    home->dealt = home->dealt_end = 0;
    home->seats = 0;
    bool room = open_cluster(home, &last), waits = false;
    while (room && last && !job->stop) {
        Cluster *cluster = last->next;
        room = take_turns(cluster, &waits);
        if (!room || job->stop) break;
        if (!waits && !seat_blocks(cluster, job)) {
            close_cluster(home, &last);
            continue;
        }
        last = cluster;
        if (waits && seats_another_is_due(home))
            room = open_cluster(home, &last) || !job->cooperative;
    }
    if (!room)
        fault_record(job, CUDA_ERROR_OUT_OF_MEMORY, FAULT_NO_MEMORY, NO_SITE, WORDS_NO_MEMORY,
                     "the blocks of a cluster");
    while (last) close_cluster(home, &last);
}

/* ---- how many fit ---- */

/* The multiprocessors of each part of the chip that a cluster must fit into: of 132, as is usual. */
static const uint32_t parts[] = {16, 16, 16, 16, 16, 16, 18, 18};

static CUresult blocks_at_once(CUfunction function, const LaunchConfig *config, Kernel **out,
                               uint32_t *each)
{
    NEED_KERNEL(kernel, function);
    CUresult result = kernel_learn_attributes(kernel);
    if (result) return result;
    const uint32_t threads = config->block[0] * config->block[1] * config->block[2];
    if (!threads || threads > kernel->max_threads)
        return fail(CUDA_ERROR_INVALID_VALUE, "blocks of %u threads", threads);
    *each = sg_occupancy(threads, kernel->registers, kernel->static_shared + config->shared);
    *out = kernel;
    return CUDA_SUCCESS;
}

CUAPI cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const LaunchConfig *config)
{
    Kernel *kernel;
    uint32_t each;
    CUresult result = blocks_at_once(function, config, &kernel, &each);
    if (result) return result;
    const unsigned *along = kernel->cluster;
    for (unsigned i = 0; i < config->attribute_count; i++)
        if (config->attributes[i].id == LAUNCH_CLUSTER) along = config->attributes[i].dimension;
    uint32_t blocks = MAX(along[0], 1) * MAX(along[1], 1) * MAX(along[2], 1);
    *clusters = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *clusters += parts[i] * each / blocks;
    return CUDA_SUCCESS;
}

CUAPI cuOccupancyMaxPotentialClusterSize(int *blocks, CUfunction function,
                                         const LaunchConfig *config)
{
    Kernel *kernel;
    uint32_t each;
    CUresult result = blocks_at_once(function, config, &kernel, &each);
    if (result) return result;
    *blocks = !each ? 0 : kernel->large_clusters ? MOST_CLUSTER : PORTABLE_CLUSTER;
    return CUDA_SUCCESS;
}
