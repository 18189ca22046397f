/* What the blocks of a cluster have of each other: their shared memory, which lies in one range, and a
   barrier, at which those that have returned are not waited for. */
#include "internal.h"

Worker *cluster_owner(const Worker *worker, uint64_t address)
{
    const Cluster *cluster = worker->cluster;
    if (cluster->blocks == 1) return cluster->seats[0];
    uint64_t rank = (address - (uint64_t)cluster->shared) / CLUSTER_STEP;
    return rank < cluster->blocks ? cluster->seats[rank] : NULL;
}

void cluster_wake(Worker *worker)
{
    worker->ready |= worker->at_mbarriers;
    worker->at_mbarriers = 0;
}

bool cluster_goes_on(const Cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->blocks; i++) {
        const Worker *seat = cluster->seats[i];
        if (seat->has_block && (!seat->is_stuck || seat->ready)) return true;
    }
    return false;
}

uint32_t cluster_threads(const Cluster *cluster)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < cluster->blocks; i++) live += cluster->seats[i]->live_threads;
    return live;
}

void cluster_recheck(Cluster *cluster)
{
    if (cluster->arrived < cluster_threads(cluster)) return;
    cluster->arrived = 0;
    cluster->phase++;
    for (uint32_t i = 0; i < cluster->blocks; i++) cluster_wake(cluster->seats[i]);
}

void cluster_count_exits(Warp *w, uint32_t live)
{
    Cluster *cluster = w->worker->cluster;
    uint32_t gone = w->in_cluster & ~live;
    if (w->cluster_phase == cluster->phase) cluster->arrived -= __builtin_popcount(gone);
    w->in_cluster &= live;
    if (cluster->arrived) cluster_recheck(cluster);
}
