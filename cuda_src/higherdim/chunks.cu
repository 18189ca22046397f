// Reduction over the middle of x[outer, reduce, inner] -> out[outer, chunks, inner]. Launch a grid of
// (blocks for inner columns, chunks, outer) with rows_a_chunk * chunks >= reduce. With more than
// one chunk the result is partial: launch again over [outer, chunks, inner].
// Step 2: rows are dealt out in chunks over blockIdx.y: more threads. Each takes NY rows at a time: their
// loads are in flight together. Only the last block of columns is compiled with bounds checks.
// Limit: 4 bytes per load; a second launch; few columns still leave most of a block idle.
#include "common/operators.cuh"
#include "higherdim/primitives.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
using Transform = Identity<Acc>;
constexpr int NY = 4;

template <int ROWS, bool CHECKED>
__device__ void take_rows(Acc &result, const T *block, long long columns_left, long long inner)
{
    T raw[ROWS];
    Acc values[ROWS];
    read_data<ROWS, CHECKED>(raw, block, columns_left, inner);
    elementwise_unary<ROWS>(values, raw, Transform());
    reduce_local<ROWS>(result, values, Op());
}

template <bool CHECKED>
__device__ void reduce_chunk(const T *x, Out *out, long long reduce, long long inner,
                             long long rows_a_chunk)
{
    long long column = blockIdx.x * (long long)blockDim.x, columns_left = inner - column;
    long long chunk = blockIdx.y, slice = blockIdx.z;
    long long row = chunk * rows_a_chunk, end = min(row + rows_a_chunk, reduce);
    x += slice * reduce * inner + column;

    Acc result = Op().initial();
    for (; row + NY <= end; row += NY)
        take_rows<NY, CHECKED>(result, x + row * inner, columns_left, inner);
    for (; row < end; ++row)  // fewer than NY rows are left
        take_rows<1, CHECKED>(result, x + row * inner, columns_left, inner);
    write_data<CHECKED>(out + (slice * gridDim.y + chunk) * inner + column, result, columns_left);
}

extern "C" __global__ void chunks(const T *__restrict__ x, Out *out, long long outer,
                                  long long reduce, long long inner, long long rows_a_chunk)
{
    bool whole = (blockIdx.x + 1LL) * blockDim.x <= inner;
    if (whole) reduce_chunk<false>(x, out, reduce, inner, rows_a_chunk);
    else reduce_chunk<true>(x, out, reduce, inner, rows_a_chunk);
}
