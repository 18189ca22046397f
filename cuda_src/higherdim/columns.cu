// Reduction over the middle of x[outer, reduce, inner] -> out[outer, inner]; over the first dimension
// with outer = 1. Launch blocks for at least inner columns, and outer of them in y.
// Step 1: a thread per column. Neighbouring threads read neighbouring columns, so each row is read in
// whole sectors, and no thread needs another.
// Limit: few columns are few threads, each of which waits for its rows in turn.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;

extern "C" __global__ void columns(const T *__restrict__ x, Out *out, long long outer,
                                   long long reduce, long long inner)
{
    Op op;
    long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x, slice = blockIdx.y;
    if (column >= inner) return;

    Acc acc = op.initial();
    for (long long row = 0; row < reduce; ++row)
        acc = op(acc, op.from(x[(slice * reduce + row) * inner + column], row));
    out[slice * inner + column] = Out(op.finish(acc, reduce));
}
