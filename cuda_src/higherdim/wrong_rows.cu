// WRONG on purpose: chunks.cu without its last loop. Rows are taken NY at a time to the end, so that a
// chunk whose rows NY does not divide also reads the first rows of the next, or past the end of x.
#include "common/operators.cuh"
#include "higherdim/primitives.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
using Transform = Identity<Acc>;
constexpr int NY = 4;

extern "C" __global__ void wrong_rows(const T *__restrict__ x, Out *out, long long outer,
                                      long long reduce, long long inner, long long rows_a_chunk)
{
    long long column = blockIdx.x * (long long)blockDim.x, columns_left = inner - column;
    long long chunk = blockIdx.y, slice = blockIdx.z;
    long long row = chunk * rows_a_chunk, end = min(row + rows_a_chunk, reduce);
    x += slice * reduce * inner + column;

    Acc result = Op().initial();
    for (; row < end; row += NY) {
        T raw[NY];
        Acc values[NY];
        read_data<NY, true>(raw, x + row * inner, columns_left, inner);
        elementwise_unary<NY>(values, raw, Transform());
        reduce_local<NY>(result, values, Op());
    }
    write_data<true>(out + (slice * gridDim.y + chunk) * inner + column, result, columns_left);
}
