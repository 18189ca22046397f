// Elementwise operation of arrays that are walked by strides -> out[n], contiguous. Launch at least n
// threads. strides.out are the result's; 1 in the last dimension.
// Step 6: for any broadcast and any view: the element's number is taken apart into its place in each
// dimension, and each array's place is put together again from its own strides.
// Limit: a division and a remainder for each dimension, of 64 bits: hundreds of instructions.
#include "elementwise/operators.cuh"
#include "elementwise/strides.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void strided(const T *__restrict__ a, const T *__restrict__ b,
                                   Out *__restrict__ out, long long n, Strides strides, Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long rest = i, at_a = 0, at_b = 0;
    for (int d = 0; d < strides.dimensions; ++d) {
        long long place = rest / strides.out[d];
        rest %= strides.out[d];
        at_a += place * strides.a[d];
        at_b += place * strides.b[d];
    }
    out[i] = apply<Out>(op, a[at_a], b[at_b]);
}
