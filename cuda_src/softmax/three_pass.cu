// Softmax of rows: x[batch, hidden] -> y[batch, hidden], y = exp(x - max) / sum of exp(x - max). Launch
// batch blocks of whole warps.
// Step 1: the definition, a pass a line. Taking the maximum off first keeps exp() from overflowing.
// Limit: the row is read three times.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;

extern "C" __global__ void three_pass(const T *__restrict__ x, T *y, long long batch,
                                      long long hidden)
{
    long long start = blockIdx.x * hidden, tid = threadIdx.x, threads = blockDim.x;
    Max<Acc> greater;
    Acc peak = greater.initial(), sum = 0;
    for (long long i = tid; i < hidden; i += threads) peak = greater(peak, Acc(x[start + i]));
    peak = block_reduce(peak, greater);

    for (long long i = tid; i < hidden; i += threads) sum += exp(Acc(x[start + i]) - peak);
    sum = block_reduce(sum, Sum<Acc>());

    for (long long i = tid; i < hidden; i += threads)
        y[start + i] = T(exp(Acc(x[start + i]) - peak) / sum);
}
