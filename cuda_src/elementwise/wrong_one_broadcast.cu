// WRONG on purpose: one_broadcast.cu with the outer place times outer_stride, the step of the longer
// array. The shorter one's step is inner: from the second outer place on this reads further along,
// and past its end.
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void wrong_one_broadcast(const T *__restrict__ a, const T *__restrict__ b,
                                               Out *__restrict__ out, long long n,
                                               long long outer_stride, long long inner,
                                               int first_shorter, Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long repeated = i / outer_stride * outer_stride + i % inner;
    out[i] = apply<Out>(op, a[first_shorter ? repeated : i], b[first_shorter ? i : repeated]);
}
