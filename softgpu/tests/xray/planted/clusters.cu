// Clusters of blocks: who may touch another block's shared memory, and when.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// launch: grid 4, block 64; zero int 256
extern "C" __global__ void __cluster_dims__(2, 1, 1) writes_before_the_other_block_runs(int *out)
{
    __shared__ int box[64];
    cg::cluster_group cluster = cg::this_cluster();
    if (!BUG) cluster.sync();
    int *theirs = cluster.map_shared_rank(box, cluster.block_rank() ^ 1);
    theirs[threadIdx.x] = threadIdx.x;  // caught: out of bounds
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x];
}

// Arriving tells the others that this block runs, and waiting tells it of them. Nothing was written before, so
// a relaxed arrival is enough.
// launch: grid 4, block 64; zero int 256
extern "C" __global__ void __cluster_dims__(2, 1, 1) arrives_and_does_not_wait(int *out)
{
    __shared__ int box[64];
    cg::cluster_group cluster = cg::this_cluster();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#if !BUG
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
    int *theirs = cluster.map_shared_rank(box, cluster.block_rank() ^ 1);
    atomicExch(&theirs[threadIdx.x], threadIdx.x);  // caught: out of bounds
#if BUG
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x];
}

// One warp waits for the other block, and hands what it knows to the other warp.
// launch: grid 4, block 64; zero int 256
extern "C" __global__ void __cluster_dims__(2, 1, 1) one_warp_does_not_hear_of_it(int *out)
{
    __shared__ int box[64];
    cg::cluster_group cluster = cg::this_cluster();
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    if (threadIdx.x < 32) asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (!BUG) __syncthreads();
    int *theirs = cluster.map_shared_rank(box, cluster.block_rank() ^ 1);
    theirs[threadIdx.x] = threadIdx.x;  // caught: out of bounds
    if (threadIdx.x >= 32) asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x];
}
