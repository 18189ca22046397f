// All-reduce over ranks, in place: each row of x[ranks, n] becomes the sum of all rows. flags[ranks, blocks] count steps,
// from 0 to 2 * ranks - 2. Launch (blocks, ranks) blocks of 256 threads; all are there at once.
#include "ranks/flags.cuh"

__global__ void ring_reduce(float *x, unsigned *flags, int n)
{
    int ranks = gridDim.y, rank = blockIdx.y, left = (rank + ranks - 1) % ranks;
    const float *from = x + left * (long long)n;
    float *mine = x + rank * (long long)n;
    unsigned *theirs = flags + left * gridDim.x + blockIdx.x;  // how far the left block is
    unsigned *done = flags + rank * gridDim.x + blockIdx.x;
    // BEGIN your lines
    int chunk = (n + ranks - 1) / ranks, part = (chunk + gridDim.x - 1) / gridDim.x;
    for (int step = 0; step < 2 * ranks - 2; ++step) {
        if (threadIdx.x == 0) wait_for(theirs, step);
        __syncthreads();
        int first = (rank - step - 1 + 2 * ranks) % ranks * chunk, begin = blockIdx.x * part;
        int end = min(n, first + min(chunk, begin + part));
        for (int i = first + begin + threadIdx.x; i < end; i += blockDim.x)
            mine[i] = step < ranks - 1 ? mine[i] + from[i] : from[i];
        __syncthreads();
        if (threadIdx.x == 0) post(done, step + 1);
    }
    // END
}
