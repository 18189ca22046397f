// WRONG on purpose: does not compile. The result is const, and nothing is called blockId or threadId.
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void wrong_names(const T *__restrict__ a, const T *__restrict__ b,
                                       const Out *__restrict__ out, long long n, Op op)
{
    long long i = blockId.x * (long long)blockDim.x + threadId.x;
    if (i < n) out[i] = apply<Out>(op, a[i], b[i]);
}
