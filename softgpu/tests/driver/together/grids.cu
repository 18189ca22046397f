// Blocks of a grid that wait for each other.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// A barrier of the whole grid, by hand: only right where all blocks are there at once.
__device__ void meet(unsigned *arrived, unsigned round)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < round * gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
}

extern "C" {
// Each round every thread reads what a thread of another block wrote in the one before.
__global__ void rounds(int *values, int count)
{
    auto grid = cg::this_grid();
    int n = grid.size(), i = grid.thread_rank(), value = i;
    for (int k = 0; k < count; k++) {
        int *now = values + k % 2 * n;
        now[i] = value;
        grid.sync();
        value = 3 * now[(i + 77) % n] + k;
    }
    values[count % 2 * n + i] = value;
}

// A sum in two steps without a second launch.
__global__ void sum(int *out, int *sums, const int *in, int n)
{
    auto grid = cg::this_grid();
    __shared__ int of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    int own = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) own += in[i];
    atomicAdd(&of_block, own);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = of_block;
    grid.sync();
    if (grid.thread_rank() > 0) return;
    int total = 0;
    for (int b = 0; b < gridDim.x; b++) total += sums[b];
    *out = total;
}

__global__ void can_meet(int *out) { *out = cg::this_grid().is_valid(); }

__global__ void rounds_by_hand(int *values, unsigned *arrived, int count)
{
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, value = i;
    for (int k = 0; k < count; k++) {
        int *now = values + k % 2 * n;
        now[i] = value;
        meet(arrived, k + 1);
        value = 3 * now[(i + 77) % n] + k;
    }
    values[count % 2 * n + i] = value;
}

// Every block waits for the one after it, with all of its warps.
__global__ void from_the_last_on(int *flags)
{
    int next = blockIdx.x + 1;
    int before = 0;
    while (next < gridDim.x && before == 0) before = *(volatile int *)(flags + next);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *(volatile int *)(flags + blockIdx.x) = before + 1;
}

// The same, but the block meets in each round of waiting.
__global__ void blocks_from_the_last_on(int *flags)
{
    int next = blockIdx.x + 1;
    int before = next < gridDim.x ? 0 : -1;
    do {
        if (before == 0) before = *(volatile int *)(flags + next);
    } while (__syncthreads_or(before == 0));
    __threadfence();
    if (threadIdx.x == 0) *(volatile int *)(flags + blockIdx.x) = max(before, 0) + 1;
}
}
