// Reduction of a vector: x[n] -> out[blocks]. Launch with blockDim.x * sizeof(Acc) dynamic shared bytes.
// Step 6: fold the second half onto the first: a warp's threads touch neighbouring words.
// Limit: a barrier per level, even when a single warp is left working.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

extern "C" __global__ void shared(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    Op op;
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : op.initial();
    __syncthreads();

    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (tid < half) s[tid] = op(s[tid], s[tid + half]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}
