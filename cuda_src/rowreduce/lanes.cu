// Reduction of rows: x[batch, hidden] -> out[batch], of any sizes and alignment.
// Step 6: for short rows: LANES lanes per row, so that a warp holds several rows and none idles, and each
// lane works on ROWS rows at a time, so that their loads are in flight together. A row that begins within
// a pack is read from that pack's beginning: what is not of the row is left out.
// Limit: memory. Long rows: as with a warp per row.
#include "common/edges.cuh"
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
    int lane = threadIdx.x % LANES, length = hidden;
    long long groups = gridDim.x * (long long)blockDim.x / LANES;
    long long group = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / LANES;

    // All groups go round equally often: a shuffle needs its whole warp. Past the end they take the
    // last row again.
    for (long long first = 0; first < batch; first += ROWS * groups) {
        long long row[ROWS];
        int before[ROWS];
        Acc acc[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            row[r] = min(first + r * groups + group, batch - 1);
            before[r] = elements_before<PACK>(x, row[r] * hidden);
            acc[r] = op.initial();
        }
        for (int i = lane * PACK; i < length + PACK - 1; i += LANES * PACK) {
            Packed<T, PACK> p[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (i - before[r] < length)
                    p[r] = load_within<PACK>(x, row[r] * hidden - before[r] + i, batch * hidden);
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                for (int k = 0; k < PACK; ++k)
                    if (unsigned j = i + k - before[r]; j < length)
                        acc[r] = op(acc[r], op.from(p[r][k], j));
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            acc[r] = warp_reduce<LANES>(acc[r], op);
            if (lane == 0 && first + r * groups + group < batch)
                out[row[r]] = Out(op.finish(acc[r], hidden));
        }
    }
}
