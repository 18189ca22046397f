// Reduction of a vector: x[n] -> out[blocks]. Launch with blockDim.x * sizeof(Acc) dynamic shared bytes.
// Step 7: once 32 values are left, the first warp folds them in registers: lane l takes the value of
// lane l + offset. No shared memory, no barrier; the warp moves as one.
// Limit: the host still finishes; one element per thread.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

extern "C" __global__ void shuffle_down(const T *__restrict__ x, Acc *out, long long n)
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
        acc = op(acc, __shfl_down_sync(0xffffffff, acc, offset));
    if (tid == 0) out[blockIdx.x] = acc;  // only lane 0 has folded all 32
}
