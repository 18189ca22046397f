// Sum of a vector: x[n] -> out[blocks]. Launch with blockDim.x * sizeof(Acc) dynamic shared bytes.
// Step 4: the tree moves to shared memory: x is read once and kept. Neighbours fold first, then
// neighbours of neighbours; the threads whose number divides by 2 * stride do it.
// Limit: the working threads are spread over all warps, so every warp stays busy with idle lanes.
using T = float;
using Acc = float;

extern "C" __global__ void shared_plain(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : Acc(0);
    __syncthreads();  // all of s is written

    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) s[tid] += s[tid + stride];
        __syncthreads();  // this level is written before the next reads it
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}
