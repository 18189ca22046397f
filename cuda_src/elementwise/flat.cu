// Elementwise operation in one dimension: a[n], b[n] -> out[n], each aligned to packs, or one or both of a
// and b a single element or a number. Launch at least n / PACK threads, rounded up.
// Step 13: packed.cu for all that takes one index: A and B say what a and b are. Here one pack a thread
// is enough: nothing but the address has to be known before the loads.
// Limit: the memory.
#include "elementwise/operands.cuh"
using T = float;
using Out = float;
using Op = Add;
constexpr int A = PACKED;
constexpr int B = PACKED;
constexpr int PACK = 4;

template <int COUNT>
__device__ void work(Operand<T> a, Operand<T> b, Out *out, long long i, Op op)
{
    Held<A, COUNT, T> p;
    Held<B, COUNT, T> q;
    p.load(a, A == REPEATED ? 0 : i, 1LL);
    q.load(b, B == REPEATED ? 0 : i, 1LL);
    store<PACKED>(out, i, 1LL, apply<Out>(op, p.get(), q.get()));
}

extern "C" __global__ void flat(Operand<T> a, Operand<T> b, Out *out, long long n, Op op)
{
    long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * PACK;
    if (i + PACK <= n) work<PACK>(a, b, out, i, op);
    else
        for (; i < n; ++i) work<1>(a, b, out, i, op);
}
