// What the blocks of a cluster do with each other, from compute capability 9.0 on.
#pragma once

// A place in another block's shared memory, by that of the same variable here.
template <typename A>
__device__ A *in_block(A *here, unsigned rank)
{
    A *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(here), "r"(rank));
    return there;
}

// Together a barrier for all threads of the cluster: what was written before arriving is seen after waiting.
__device__ inline void arrive_in_cluster()
{ asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ inline void wait_in_cluster()
{ asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }

__device__ inline void meet_in_cluster()
{
    arrive_in_cluster();
    wait_in_cluster();
}

// Arrives at another block's barrier of shared memory, given that of the same place here.
__device__ inline void arrive_in_block(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}
