// WRONG on purpose: packs of N from the start of each row. If N does not divide hidden, the rows after
// the first start off a 16-byte boundary, which the hardware refuses, and each row's tail is lost.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;

extern "C" __global__ void wrong_packed(const T *__restrict__ x, Out *out, long long batch,
                                        long long hidden)
{
    constexpr int N = 16 / sizeof(T);
    Op op;
    long long row = blockIdx.x;
    auto pack = reinterpret_cast<const Packed<T, N> *>(x + row * hidden);
    Acc acc = op.initial();
    for (long long i = threadIdx.x; i < hidden / N; i += blockDim.x) {
        Packed<T, N> p = pack[i];
        for (int k = 0; k < N; ++k) acc = op(acc, op.from(p[k], i * N + k));
    }
    acc = block_reduce(acc, op);
    if (threadIdx.x == 0) out[row] = Out(op.finish(acc, hidden));
}
