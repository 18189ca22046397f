// What splits of the keys made of a row, merged: a mean, weighted by the sums of powers, whose logarithms logs has.
#pragma once
#include "attention/problem.cuh"
#include "common/reduce.cuh"

constexpr int MOST_SPLITS = 128;

struct Parts {
    const float *parts, *logs;  // [splits, rows, size], [splits, rows]
    long long rows, size;
    int splits;
};

// Merges a row by a warp, `number` of `warps` that each take 64 columns at a time.
template <typename Out>
__device__ void merge_row(const Parts &of, long long row, Out *out, float *all_logs, int number,
                          int warps)
{
    constexpr int EACH = MOST_SPLITS / 32, AT_ONCE = 8;  // loads that are under way together
    int lane = threadIdx.x % 32;
    float weight[EACH], peak = -INFINITY, total = 0;  // lane l: of splits l, l + 32 ...
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        int s = e * 32 + lane;
        weight[e] = s < of.splits ? __ldcg(of.logs + s * of.rows + row) : -INFINITY;
        peak = fmaxf(peak, weight[e]);
    }
    const float from = base(warp_reduce(peak, [](float x, float y) { return fmaxf(x, y); }));
#pragma unroll
    for (int e = 0; e < EACH; ++e) total += weight[e] = expf(weight[e] - from);
    total = warp_reduce(total, [](float x, float y) { return x + y; });
    for (long long i = number * 64 + lane; i - lane < of.size; i += warps * 64) {
        float sum[2] = {};
#pragma unroll
        for (int e = 0; e < EACH; ++e)
#pragma unroll 1
            for (int begin = 0; begin < min(32, of.splits - e * 32); begin += AT_ONCE) {
                float part[AT_ONCE][2];
#pragma unroll
                for (int n = 0; n < AT_ONCE; ++n)
#pragma unroll
                    for (int c = 0; c < 2; ++c) {
                        long long s = e * 32 + begin + n, column = i + c * 32;
                        const float *from = of.parts + (s * of.rows + row) * of.size + column;
                        bool there = (s < of.splits) & (column < of.size);
                        part[n][c] = there ? __ldcg(from) : 0;
                    }
#pragma unroll
                for (int n = 0; n < AT_ONCE; ++n) {
                    float share = __shfl_sync(FULL_WARP, weight[e], begin + n);
                    sum[0] += share * part[n][0], sum[1] += share * part[n][1];
                }
            }
        float all = total == 0 ? 1 : total;
        for (int n = 0; n < 2; ++n)
            if (i + n * 32 < of.size) out[row * of.size + i + n * 32] = Out(sum[n] / all);
    }
    if (number == 0 && lane == 0) all_logs[row] = total == 0 ? -INFINITY : from + logf(total);
}

// Where splits are merged by the last block of a tile, unless out is null. arrived: a count for each tile, 0 between
// launches.
template <typename T>
struct Merged {
    T *out;
    float *logs;
    unsigned *arrived;

    template <int ROWS, typename Share>
    __device__ void finish(const Parts &parts, const Share &share, const Problem &p) const
    {
        if (!out || !last_to_arrive(arrived + blockIdx.x, gridDim.y)) return;
        for (int line = threadIdx.x / 32; line < ROWS; line += blockDim.x / 32)
            if (share.first + line < share.lines)
                merge_row(parts, share.result(p, line), out, logs, 0, 1);
    }
};
