// Elementwise operation of an array and one value for each place on one axis: a[outer, axis, inner],
// b[axis] -> out[outer, axis, inner], n elements, or with first_shorter a[axis]. Launch at least n
// threads. A value for each channel of NCHW: axis = C, inner = H * W.
// Step 4: inner neighbours share a value.
// Limit: the two divisions, then the memory.
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void one_not_broadcast(const T *__restrict__ a, const T *__restrict__ b,
                                             Out *__restrict__ out, long long n, long long inner,
                                             long long axis, int first_shorter, Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long repeated = i / inner % axis;
    out[i] = apply<Out>(op, a[first_shorter ? repeated : i], b[first_shorter ? i : repeated]);
}
