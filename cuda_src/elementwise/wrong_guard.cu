// WRONG on purpose: same.cu with a guard that is off by one. Thread n passes it, if there is one: it
// reads and writes one element past the ends.
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void wrong_guard(const T *__restrict__ a, const T *__restrict__ b,
                                       Out *__restrict__ out, long long n, Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i > n) return;
    out[i] = apply<Out>(op, a[i], b[i]);
}
