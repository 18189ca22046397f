// Reduction of rows: x[batch, hidden] -> out[batch]. PACK divides hidden and x is aligned to a pack.
// Step 6: for short rows: LANES lanes per row, so that a warp holds several rows and none idles, and each
// lane works on ROWS rows at a time, so that their loads are in flight together.
// Limit: memory. Long rows: as with a warp per row.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int PACK = 4;
constexpr int LANES = 8;
constexpr int ROWS = 4;

extern "C" __global__ void lanes(const T *__restrict__ x, Out *out, long long batch,
                                 long long hidden)
{
    Op op;
    auto pack = reinterpret_cast<const Packed<T, PACK> *>(x);
    int packs = hidden / PACK, lane = threadIdx.x % LANES;
    long long groups = gridDim.x * (long long)blockDim.x / LANES;
    long long group = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / LANES;

    // All groups go round equally often: a shuffle needs its whole warp. Past the end they take the
    // last row again.
    for (long long first = 0; first < batch; first += ROWS * groups) {
        long long row[ROWS];
        Acc acc[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            row[r] = first + r * groups + group;
            acc[r] = op.initial();
        }
        for (int i = lane; i < packs; i += LANES) {
            Packed<T, PACK> p[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                p[r] = pack[(row[r] < batch ? row[r] : batch - 1) * packs + i];
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                for (int k = 0; k < PACK; ++k) acc[r] = op(acc[r], op.from(p[r][k], i * PACK + k));
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            acc[r] = warp_reduce<LANES>(acc[r], op);
            if (lane == 0 && row[r] < batch) out[row[r]] = Out(op.finish(acc[r], hidden));
        }
    }
}
