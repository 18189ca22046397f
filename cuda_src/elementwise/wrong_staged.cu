// WRONG on purpose: staged.cu with slots that overlap. A thread stores packs, but then counts the slots
// in single elements: element tid lies in the pack of thread tid / PACK. Threads race for it, and of
// the eight elements of a pack at most one is ever added.
#include "common/packed.cuh"
#include "elementwise/operators.cuh"
using T = half;
using Out = half;
using Op = Add;
constexpr int PACK = 8;
constexpr int BLOCK = 256;

extern "C" __global__ void wrong_staged(const T *__restrict__ a, const T *__restrict__ b,
                                        Out *__restrict__ out, long long n, Op op)
{
    __shared__ Packed<T, PACK> slots[2 * BLOCK];
    T *element = &slots[0][0];
    int tid = threadIdx.x;
    long long pack = blockIdx.x * (long long)blockDim.x + tid;
    if (pack >= n / PACK) return;
    slots[tid] = reinterpret_cast<const Packed<T, PACK> *>(a)[pack];
    slots[tid + BLOCK] = reinterpret_cast<const Packed<T, PACK> *>(b)[pack];
    element[tid] = apply<Out>(op, element[tid], element[tid + BLOCK]);
    reinterpret_cast<Packed<T, PACK> *>(out)[pack] = slots[tid];
}
