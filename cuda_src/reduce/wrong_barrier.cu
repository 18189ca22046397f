// WRONG on purpose: shared.cu with its barrier inside the condition. Threads that skip the branch never
// arrive: undefined; at best it works by luck, at worst it hangs.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

extern "C" __global__ void wrong_barrier(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    Op op;
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : op.initial();
    __syncthreads();

    for (int half = blockDim.x / 2; half > 0; half /= 2)
        if (tid < half) {
            s[tid] = op(s[tid], s[tid + half]);
            __syncthreads();
        }
    if (tid == 0) out[blockIdx.x] = s[0];
}
