// One step of an all-reduce in a ring: of 2 * ranks - 2. Each rank takes one of `ranks` chunks of
// x[n] from its left neighbour, adds it to its own in the first half of the steps, and keeps it as it is
// in the second. All ranks do a step before any does the next. Any launch of one dimension.
// Step 2: every link carries the same, and a device talks to its neighbours only.
// Limit: the links; where arrays are short, the number of steps.
using T = float;

extern "C" __global__ void ring(const T *left, T *mine, long long n, int ranks, int rank, int step)
{
    long long chunk = (n + ranks - 1) / ranks,
              begin = (rank - step - 1 + 2 * ranks) % ranks * chunk;
    long long end = min(begin + chunk, n), threads = gridDim.x * (long long)blockDim.x;
    bool adds = step < ranks - 1;
    for (long long i = begin + blockIdx.x * (long long)blockDim.x + threadIdx.x; i < end;
         i += threads)
        mine[i] = adds ? mine[i] + left[i] : left[i];
}
