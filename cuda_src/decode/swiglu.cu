// SwiGLU: made[2, hidden], gates and then what passes them -> y = gate / (1 + exp(-gate)) * passing. PACK divides
// hidden, and both arrays are aligned to a pack.
// Limit: memory: each number once.
#include "common/packed.cuh"
#include <cuda_fp16.h>
using T = float;
constexpr int PACK = 4;

extern "C" __global__ void swiglu(const T *__restrict__ made, T *y, long long hidden)
{
    using Pack = Packed<T, PACK>;
    long long at = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * PACK;
    if (at >= hidden) return;
    Pack gate = *reinterpret_cast<const Pack *>(made + at);
    Pack passing = *reinterpret_cast<const Pack *>(made + hidden + at);
    for (int e = 0; e < PACK; ++e)
        gate[e] = T(float(gate[e]) / (1 + expf(-float(gate[e]))) * float(passing[e]));
    *reinterpret_cast<Pack *>(y + at) = gate;
}
