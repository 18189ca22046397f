// Reduction of a vector: x[n] -> out[blocks]. Launch with blockDim.x * sizeof(Acc) dynamic shared bytes.
// Step 4 for any operator: shared_plain.cu with Op for +, and its neutral value for 0.
// Limit: the working threads are spread over all warps, so every warp stays busy with idle lanes.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

extern "C" __global__ void shared_modulo(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    Op op;
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : op.initial();
    __syncthreads();  // all of s is written

    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) s[tid] = op(s[tid], s[tid + stride]);
        __syncthreads();  // this level is written before the next reads it
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}
