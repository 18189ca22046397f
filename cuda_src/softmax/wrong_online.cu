// WRONG on purpose: online.cu merging without a guard. A thread that has seen nothing, or only -inf,
// has the maximum -inf, and -inf - -inf is NaN: one such thread spoils the row.
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;

struct Unguarded : Softmax<Acc> {
    __device__ Running<Acc> operator()(Running<Acc> a, Running<Acc> b) const
    {
        Acc peak = Max<Acc>()(a.peak, b.peak);
        return {peak, a.sum * exp(a.peak - peak) + b.sum * exp(b.peak - peak)};
    }
};

extern "C" __global__ void wrong_online(const T *__restrict__ x, T *y, long long batch,
                                        long long hidden)
{
    long long start = blockIdx.x * hidden, tid = threadIdx.x, threads = blockDim.x;
    Unguarded op;
    Running<Acc> row = op.initial();
    for (long long i = tid; i < hidden; i += threads) row = op(row, op.from(x[start + i], i));
    row = block_reduce(row, op);

    for (long long i = tid; i < hidden; i += threads)
        y[start + i] = T(exp(Acc(x[start + i]) - row.peak) / row.sum);
}
