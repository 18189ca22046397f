// WRONG on purpose: shared.cu with zeros past the end. Zero is neutral for a sum only: the greatest
// of negative numbers becomes 0, a product becomes 0.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Max<Acc>;

extern "C" __global__ void wrong_zero_fill(const T *__restrict__ x, Acc *out, long long n)
{
    extern __shared__ Acc s[];
    Op op;
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? Acc(x[i]) : Acc(0);
    __syncthreads();

    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (tid < half) s[tid] = op(s[tid], s[tid + half]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}
