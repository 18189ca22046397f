// Sum of a vector: x[n] -> out[1], which the caller sets to zero. x is aligned to 16 bytes.
// Step 13: 16 bytes per load: Packed<T, N> is N neighbours aligned as one, which one instruction fetches.
// Limit: the loads in flight; then the memory itself. The atomics still vary the last bits.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;

extern "C" __global__ void packed(const T *__restrict__ x, Acc *out, long long n)
{
    constexpr int N = 16 / sizeof(T);
    auto pack = reinterpret_cast<const Packed<T, N> *>(x);
    long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long threads = gridDim.x * (long long)blockDim.x;
    Acc sum = 0;
    for (long long i = thread; i < n / N; i += threads) {
        Packed<T, N> p = pack[i];
        for (int k = 0; k < N; ++k) sum += Acc(p[k]);
    }
    long long tail = n - n % N + thread;  // fewer than N elements fill no pack
    if (tail < n) sum += Acc(x[tail]);
    sum = block_reduce(sum, Sum<Acc>());
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
