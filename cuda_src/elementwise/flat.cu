// Elementwise operation whose result out[n] is contiguous. A and B say what a and b are: a number, one
// element, an array that lies as out does (PACKED), or one that is walked as layout says (SPACED). Arrays
// that lie as out does are aligned to packs. Launch at least n / PACK threads, rounded up.
// Step 13: packed.cu for all that takes one index, and for rows of any length: a pack may begin in one
// row and end in the next. Only its place in arrays that are walked is then looked for again.
// Limit: the memory.
#include "elementwise/layout.cuh"
#include "elementwise/operands.cuh"
using T = float;
using Out = float;
using Op = Add;
using Index = int;
constexpr int DIMENSIONS = 2;
constexpr int A = PACKED;
constexpr int B = PACKED;
constexpr int PACK = 4;

template <int KIND, int COUNT>
using Taken = Held<KIND == SPACED ? PACKED : KIND, COUNT, T>;

// COUNT elements from i on, of each operand that is walked.
template <int COUNT>
__device__ void walk(Operand<T> a, Operand<T> b, const Layout<Index, DIMENSIONS> &layout, Index i,
                     Taken<A, COUNT> &p, Taken<B, COUNT> &q)
{
    Packed<T, COUNT> of_a, of_b;
    Index column = 0;
    auto place = layout.find(i, [&](int d, Index at) { column = d ? column : at; });
#pragma unroll
    for (int k = 0; k < COUNT; ++k, ++column) {
        while (column == layout.dimension[0].size) {  // seldom: a branch, no selections
            column = 0;
            place = layout.find(i + k, [](int, Index) {});
        }
        if constexpr (A == SPACED) of_a[k] = a.address[place.a];
        if constexpr (B == SPACED) of_b[k] = b.address[place.b];
        place = place.moved(1, layout.dimension[0].stride);
    }
    if constexpr (A == SPACED) p.set(of_a);
    if constexpr (B == SPACED) q.set(of_b);
}

template <int COUNT>
__device__ void work(Operand<T> a, Operand<T> b, Out *out, const Layout<Index, DIMENSIONS> &layout,
                     long long i, Op op)
{
    Taken<A, COUNT> p;
    Taken<B, COUNT> q;
    if constexpr (A != SPACED) p.load(a, A == REPEATED ? 0 : i, 1LL);
    if constexpr (B != SPACED) q.load(b, B == REPEATED ? 0 : i, 1LL);
    if constexpr (A == SPACED || B == SPACED) walk<COUNT>(a, b, layout, i, p, q);
    store<PACKED>(out, i, 1LL, apply<Out>(op, p.get(), q.get()));
}

extern "C" __global__ void flat(Operand<T> a, Operand<T> b, Out *out, long long n,
                                Layout<Index, DIMENSIONS> layout, Op op)
{
    long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * PACK;
    if (i + PACK <= n) work<PACK>(a, b, out, layout, i, op);
    else
        for (; i < n; ++i) work<1>(a, b, out, layout, i, op);
}
