// Sum of a vector: x[n] -> out[blocks], one total per block; the host adds those up. Destroys x.
// Step 3: a tree instead of a queue: each block folds the second half of its stretch of x onto the
// first, then half of that, until one element is left. Blocks are a power of two wide.
// Limit: every level reads and writes global memory.
using T = float;

extern "C" __global__ void halving(T *x, T *out, long long n)
{
    long long first = blockIdx.x * (long long)blockDim.x;
    T *stretch = x + first;
    int tid = threadIdx.x;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (tid < half && first + tid + half < n) stretch[tid] += stretch[tid + half];
        __syncthreads();  // this level is written before the next reads it
    }
    if (tid == 0) out[blockIdx.x] = stretch[0];
}
