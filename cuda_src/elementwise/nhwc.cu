// Elementwise operation of arrays that are numbered in one order and stored in another -> out[n].
// Launch at least n threads. logical.out are the strides of the numbering, NCHW; memory holds the ones of
// all three arrays, NHWC.
// Step 8: strided.cu with a place in the result to put together, too.
// Limit: neighbouring threads are neighbours in NCHW. In NHWC they lie C elements apart: each access
// of a warp touches 32 sectors instead of 4.
#include "elementwise/operators.cuh"
#include "elementwise/strides.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void nhwc(const T *__restrict__ a, const T *__restrict__ b,
                                Out *__restrict__ out, long long n, Strides logical, Strides memory,
                                Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long rest = i, at_a = 0, at_b = 0, at_out = 0;
    for (int d = 0; d < logical.dimensions; ++d) {
        long long place = rest / logical.out[d];
        rest %= logical.out[d];
        at_a += place * memory.a[d];
        at_b += place * memory.b[d];
        at_out += place * memory.out[d];
    }
    out[at_out] = apply<Out>(op, a[at_a], b[at_b]);
}
