// Elementwise operation of arrays, one of which is repeated along one axis: a[outer, axis, inner],
// b[outer, inner] -> out[outer, axis, inner], n elements, outer_stride = axis * inner, or with
// first_shorter a[outer, inner]. Launch at least n threads.
// Step 5: the axis drops out of the shorter array's index.
// Limit: the two divisions, then the memory.
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void one_broadcast(const T *__restrict__ a, const T *__restrict__ b,
                                         Out *__restrict__ out, long long n, long long outer_stride,
                                         long long inner, int first_shorter, Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long repeated = i / outer_stride * inner + i % inner;
    out[i] = apply<Out>(op, a[first_shorter ? repeated : i], b[first_shorter ? i : repeated]);
}
