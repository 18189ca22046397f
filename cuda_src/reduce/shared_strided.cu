// Reduction of a vector: x[n] -> out[blocks]. Launch with blockDim.x * sizeof(Acc) dynamic shared bytes.
// Step 5: the same tree, worked by the first threads: whole warps finish early.
// Limit: a warp's threads are 2 * stride words apart, so their words share banks.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

extern "C" __global__ void shared_strided(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    Op op;
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : op.initial();
    __syncthreads();

    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        int left = 2 * stride * tid;
        if (left < blockDim.x) s[left] = op(s[left], s[left + stride]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}
