// Elementwise operation of arrays that are walked by strides -> out[n], contiguous. PACK divides the
// last dimension and all strides before it (helpers.shapes.pack), arrays are aligned to packs, and the
// last stride of each is 1, or 0 where it is repeated. Launch at least n / PACK threads.
// Step 10: strided.cu with PACK neighbours a thread: one set of divisions for all of them.
// Limit: still the divisions, for types of 4 bytes; then the memory.
#include "common/packed.cuh"
#include "elementwise/operators.cuh"
#include "elementwise/strides.cuh"
using T = float;
using Out = float;
using Op = Add;

constexpr int PACK = 4;

__device__ Packed<T, PACK> load(const T *x, bool repeated)
{
    if (!repeated) return *reinterpret_cast<const Packed<T, PACK> *>(x);
    Packed<T, PACK> p;
    for (int k = 0; k < PACK; ++k) p[k] = *x;
    return p;
}

extern "C" __global__ void packed_strided(const T *__restrict__ a, const T *__restrict__ b,
                                          Out *__restrict__ out, long long n, Strides strides,
                                          Op op)
{
    long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * PACK;
    if (i >= n) return;
    long long rest = i, at_a = 0, at_b = 0;
    for (int d = 0; d < strides.dimensions; ++d) {
        long long place = rest / strides.out[d];
        rest %= strides.out[d];
        at_a += place * strides.a[d];
        at_b += place * strides.b[d];
    }
    int last = strides.dimensions - 1;
    auto p = load(a + at_a, strides.a[last] == 0), q = load(b + at_b, strides.b[last] == 0);
    Packed<Out, PACK> result;
    for (int k = 0; k < PACK; ++k) result[k] = apply<Out>(op, p[k], q[k]);
    *reinterpret_cast<Packed<Out, PACK> *>(out + i) = result;
}
