// WRONG on purpose: rows of a that lie row_stride elements apart, and a row b: a[rows, inner], b[inner]
// -> out[rows, inner], n elements, in ints of 32 bits. From element 2^31 of a on, row * row_stride is
// negative: the address is 4 G elements too low.
#include "elementwise/operators.cuh"
using T = float;
using Out = float;
using Op = Add;

extern "C" __global__ void wrong_index(const T *__restrict__ a, const T *__restrict__ b,
                                       Out *__restrict__ out, int n, int inner, int row_stride,
                                       Op op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int row = i / inner, column = i % inner;
    out[i] = apply<Out>(op, a[row * row_stride + column], b[column]);
}
