// WRONG on purpose: shared.cu without the barrier between levels. A fast warp reads what a slow one has
// not yet written: right or wrong by luck.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

extern "C" __global__ void wrong_race(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    Op op;
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : op.initial();
    __syncthreads();

    for (int half = blockDim.x / 2; half > 0; half /= 2)
        if (tid < half) s[tid] = op(s[tid], s[tid + half]);
    if (tid == 0) out[blockIdx.x] = s[0];
}
