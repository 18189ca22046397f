// Elementwise operation of an array and a single element: a[n], b[1] -> out[n], or with first_shorter
// a[1], b[n]. Launch at least n threads.
// Step 2: the shorter array is read at 0 by all.
// Limit: the memory: one read and one write an element. The single element comes from the L1 cache.
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void one_scalar(const T *__restrict__ a, const T *__restrict__ b,
                                      Out *__restrict__ out, long long n, int first_shorter, Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long repeated = 0;
    out[i] = apply<Out>(op, a[first_shorter ? repeated : i], b[first_shorter ? i : repeated]);
}
