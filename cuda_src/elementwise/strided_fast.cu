// Elementwise operation of arrays that are walked by strides -> out[n], contiguous, n < 2^31. Launch at
// least n threads. size[d] divides by the size of dimension d; strides.out is not used.
// Step 7: strided.cu with each division as a multiplication and a shift. The last dimension goes first:
// what is left over is the place in it, the quotient numbers the places in the others.
// Limit: 4 bytes per load.
#include "elementwise/operators.cuh"
#include "elementwise/strides.cuh"
using T = float;
using Out = float;
using Op = Add;

struct Sizes {
    Divider size[MOST_DIMENSIONS];
};

extern "C" __global__ void strided_fast(const T *__restrict__ a, const T *__restrict__ b,
                                        Out *__restrict__ out, long long n, Strides strides,
                                        Sizes sizes, Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned rest = i;
    long long at_a = 0, at_b = 0;
#pragma unroll  // or nvcc copies the tables of the arguments to local memory, to index them there
    for (int d = MOST_DIMENSIONS - 1; d >= 0; --d) {
        if (d >= strides.dimensions) continue;
        unsigned quotient = sizes.size[d](rest), place = rest - quotient * sizes.size[d].divisor;
        rest = quotient;
        at_a += place * strides.a[d];
        at_b += place * strides.b[d];
    }
    out[i] = apply<Out>(op, a[at_a], b[at_b]);
}
