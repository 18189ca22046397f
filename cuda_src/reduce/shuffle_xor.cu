// Reduction of a vector: x[n] -> out[blocks]. Launch with blockDim.x * sizeof(Acc) dynamic shared bytes.
// Step 8: a butterfly instead of the slide: lane l swaps with lane l ^ mask, so that after five swaps
// every lane has the result, in the same time.
// Limit: as before; the gain comes where all lanes need the result, as rows of a softmax do.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Op = Sum<Acc>;

extern "C" __global__ void shuffle_xor(const T *__restrict__ x, Acc *out, long long n)
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
    for (int mask = 16; mask > 0; mask /= 2) acc = op(acc, __shfl_xor_sync(0xffffffff, acc, mask));
    if (tid == 0) out[blockIdx.x] = acc;
}
