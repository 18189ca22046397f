// Elementwise operation of arrays of one shape: a[n], b[n] -> out[n], aligned to packs; PACK divides n.
// Launch at least n / PACK threads in blocks of BLOCK.
// Step 12: packed.cu by way of shared memory, as some do it. Each thread reads back what it wrote
// itself: two slots of its own, and no barrier.
// Limit: as packed.cu. Shared memory saves traffic where threads share data. Here none do: it only adds
// instructions, and its 32 bytes per thread.
#include "common/packed.cuh"
#include "elementwise/operators.cuh"
using T = half;
using Out = half;
using Op = Add;
constexpr int PACK = 8;
constexpr int BLOCK = 256;

extern "C" __global__ void staged(const T *__restrict__ a, const T *__restrict__ b,
                                  Out *__restrict__ out, long long n, Op op)
{
    __shared__ Packed<T, PACK> slots[2 * BLOCK];
    long long pack = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (pack >= n / PACK) return;
    auto &p = slots[threadIdx.x], &q = slots[BLOCK + threadIdx.x];
    p = reinterpret_cast<const Packed<T, PACK> *>(a)[pack];
    q = reinterpret_cast<const Packed<T, PACK> *>(b)[pack];
    Packed<Out, PACK> result;
    for (int k = 0; k < PACK; ++k) result[k] = apply<Out>(op, p[k], q[k]);
    reinterpret_cast<Packed<Out, PACK> *>(out)[pack] = result;
}
