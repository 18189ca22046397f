// Sum of a vector: x[n] -> out[1], which the caller sets to zero. Launch with BLOCK threads.
// Step 10: the block's width is known to the compiler: the tree becomes straight code, one template
// instance per level, and shared memory needs no size at launch.
// Limit: as many barriers as before, and one element per thread.
using T = float;
using Acc = float;
constexpr int BLOCK = 256;

template <int HALF>
__device__ void fold_halves(Acc *s, int tid)
{
    if constexpr (HALF >= 32) {
        if (tid < HALF) s[tid] += s[tid + HALF];
        __syncthreads();
        fold_halves<HALF / 2>(s, tid);
    }
}

extern "C" __global__ void unrolled(const T *__restrict__ x, Acc *out, long long n)
{
    __shared__ Acc s[BLOCK];
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)BLOCK + tid;
    s[tid] = i < n ? Acc(x[i]) : Acc(0);
    __syncthreads();

    fold_halves<BLOCK / 2>(s, tid);
    if (tid >= 32) return;

    Acc sum = s[tid];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (tid == 0) atomicAdd(out, sum);
}
