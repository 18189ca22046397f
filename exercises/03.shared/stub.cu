// Reduction of a vector: x[n] -> out[blocks]. Launch with blockDim.x * sizeof(Acc) dynamic shared bytes.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

__global__ void shared(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    Op op;
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : op.initial();
    __syncthreads();

    // your lines: fold, level by level, until s[0] has the total

    if (tid == 0) out[blockIdx.x] = s[0];
}
