// Elementwise operation of an array and its trailing dimensions: a[outer, inner], b[inner] ->
// out[outer, inner], n elements, or with first_shorter a[inner]. Launch at least n threads.
// Step 3: the shorter array begins anew every inner elements.
// Limit: the memory, once the division by a number that the compiler does not know is paid for: some
// twenty instructions of 32 bits, a hundred of 64.
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void one_dimension(const T *__restrict__ a, const T *__restrict__ b,
                                         Out *__restrict__ out, long long n, long long inner,
                                         int first_shorter, Op op)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long repeated = i % inner;
    out[i] = apply<Out>(op, a[first_shorter ? repeated : i], b[first_shorter ? i : repeated]);
}
