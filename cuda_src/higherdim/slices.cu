// Reduction over the middle of x[outer, reduce, inner] -> out[outer, inner] of short slices; x is aligned to a
// pack. Launch ceil(outer / slices) blocks of BLOCK threads; PACK divides `slices`, of which SIZE packs hold the
// elements.
// Step 5: neighbouring slices are one stretch of memory, whatever their sizes. A block copies it to shared
// memory in packs, and a thread folds each result there.
// Limit: memory.
#include "common/operators.cuh"
#include "common/packed.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int PACK = 4;
constexpr int BLOCK = 256;
constexpr int SIZE = 1024;
constexpr int LOADS = SIZE / BLOCK;

extern "C" __global__ __launch_bounds__(BLOCK) void slices(const T *__restrict__ x, Out *out,
                                                           long long outer, long long reduce,
                                                           long long inner, int slices)
{
    __shared__ Packed<T, PACK> tile[SIZE];
    Op op;
    long long first = blockIdx.x * (long long)slices;
    int rows = reduce, columns = inner, size = rows * columns, tid = threadIdx.x;
    int count = min((long long)slices, outer - first), elements = count * size;
    x += first * size, out += first * inner;
    auto pack = reinterpret_cast<const Packed<T, PACK> *>(x);
    Packed<T, PACK> p[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; ++u)
        if (tid + u * BLOCK < elements / PACK) p[u] = pack[tid + u * BLOCK];
#pragma unroll
    for (int u = 0; u < LOADS; ++u)
        if (tid + u * BLOCK < elements / PACK) tile[tid + u * BLOCK] = p[u];
    T *element = tile[0].element;
    int rest = elements / PACK * PACK + tid;
    if (rest < elements) element[rest] = x[rest];
    __syncthreads();  // the tile is whole
    for (int i = tid; i < count * columns; i += BLOCK) {
        const T *column = element + i / columns * size + i % columns;
        Acc acc = op.initial();
        for (int row = 0; row < rows; ++row) acc = op(acc, op.from(column[row * columns], row));
        out[i] = Out(op.finish(acc, reduce));
    }
}
