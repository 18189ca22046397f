// A step of an all-reduce in a ring: adds a chunk of left[n] to the same chunk of mine[n], in the first ranks - 1 steps, or copies
// it, in as many more. Launch any number of blocks of 256 threads.
using T = float;

__global__ void ring(const T *left, T *mine, long long n, int ranks, int rank, int step)
{
    // your lines
}
