// Elementwise operation of arrays that are walked by any strides: a, b -> out, as layout says. Launch at
// least layout.items threads. A, B and RESULT say how neighbours in the closest dimension lie.
// Step 14: packed_strided.cu with each division as a multiplication, once for ROWS packs: a thread finds
// its place and goes on from there along one dimension. An array that is repeated along that one
// (A_STAYS, B_STAYS) is read and converted once.
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
constexpr int RESULT = PACKED;
constexpr int PACK = 4;
constexpr int ROWS = 4;
constexpr int A_STAYS = 0;
constexpr int B_STAYS = 0;

// A thread's first pack lies at its item; ROWS packs lie `apart`, as long as their place in dimension
// `stepped`, which grows by `step` from one to the next, is below `limit`.
struct Steps {
    Index stepped, step, limit;
    Places<Index> apart, neighbours;  // and so far lie neighbours in a pack
};

extern "C" __global__ void rows(Operand<T> a, Operand<T> b, Out *out,
                                Layout<Index, DIMENSIONS> layout, Steps steps, Op op)
{
    long long item = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (item >= layout.items) return;
    Index row = 0;
    auto start = layout.find(item, [&](int d, Index i) { row = d == steps.stepped ? i : row; });

    Held<A, PACK, T> p[ROWS];
    Held<B, PACK, T> q[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        if (row + r * steps.step >= steps.limit) break;
        auto place = start.moved(r, steps.apart);
        if (r == 0 || !A_STAYS) p[r].load(a, place.a, steps.neighbours.a);
        if (r == 0 || !B_STAYS) q[r].load(b, place.b, steps.neighbours.b);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        if (row + r * steps.step >= steps.limit) break;
        auto result = apply<Out>(op, p[A_STAYS ? 0 : r].get(), q[B_STAYS ? 0 : r].get());
        store<RESULT>(out, start.moved(r, steps.apart).out, steps.neighbours.out, result);
    }
}
