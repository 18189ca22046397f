// WRONG on purpose: shuffle_down.cu with its shuffle inside the condition. The lanes that are to be read
// do not take part: undefined; on newer GPUs it may even hang.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

extern "C" __global__ void wrong_shuffle(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    Op op;
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : op.initial();
    __syncthreads();

    for (int half = blockDim.x / 2; half >= 32; half /= 2) {
        if (tid < half) s[tid] = op(s[tid], s[tid + half]);
        __syncthreads();
    }
    if (tid >= 32) return;

    Acc acc = s[tid];
    for (int offset = 16; offset > 0; offset /= 2)
        if (tid < offset) acc = op(acc, __shfl_down_sync(0xffffffff, acc, offset));
    if (tid == 0) out[blockIdx.x] = acc;
}
