// Elementwise operation of arrays of one shape: a[n], b[n] -> out[n], aligned to packs. Launch at least
// n / PACK threads, rounded up.
// Step 9: same.cu with PACK neighbours a thread, in one load of up to 16 bytes: eight halves, sixteen
// int8 or bool. The last thread takes what fills no pack one by one.
// Limit: the memory.
#include "common/packed.cuh"
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;
constexpr int PACK = 4;

extern "C" __global__ void packed(const T *__restrict__ a, const T *__restrict__ b,
                                  Out *__restrict__ out, long long n, Op op)
{
    long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * PACK;
    if (i + PACK <= n) {
        auto p = *reinterpret_cast<const Packed<T, PACK> *>(a + i);
        auto q = *reinterpret_cast<const Packed<T, PACK> *>(b + i);
        Packed<Out, PACK> result;
        for (int k = 0; k < PACK; ++k) result[k] = apply<Out>(op, p[k], q[k]);
        *reinterpret_cast<Packed<Out, PACK> *>(out + i) = result;
    } else
        for (; i < n; ++i) out[i] = apply<Out>(op, a[i], b[i]);
}
