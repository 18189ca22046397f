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

// Merges `count` rows by a warp, `number` of `warps` that each take 64 columns at a time; what it loads of them is under
// way together.
template <int COUNT, typename Out>
__device__ void merge_rows(const Parts &of, const long long (&rows)[COUNT], int count, Out *out,
                           float *all_logs, int number, int warps)
{
    constexpr int EACH = MOST_SPLITS / 32, AT_ONCE = 8;  // splits
    int lane = threadIdx.x % 32;
    float weight[COUNT][EACH], from[COUNT], total[COUNT] = {};  // lane l: of splits l, l + 32 ...
#pragma unroll
    for (int r = 0; r < COUNT; ++r)
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            int s = e * 32 + lane;
            bool is_there = (s < of.splits) & (r < count);
            weight[r][e] = is_there ? __ldcg(of.logs + s * of.rows + rows[r]) : -INFINITY;
        }
#pragma unroll
    for (int r = 0; r < COUNT; ++r) {
        float peak = -INFINITY;
        for (float x : weight[r]) peak = fmaxf(peak, x);
        from[r] = base(warp_reduce(peak, [](float x, float y) { return fmaxf(x, y); }));
        for (float &x : weight[r]) total[r] += x = expf(x - from[r]);
        total[r] = warp_reduce(total[r], [](float x, float y) { return x + y; });
    }
    for (long long i = number * 64 + lane; i - lane < of.size; i += warps * 64) {
        float sum[COUNT][2] = {};
#pragma unroll
        for (int e = 0; e < EACH; ++e)
#pragma unroll 1
            for (int begin = 0; begin < min(32, of.splits - e * 32); begin += AT_ONCE) {
                float part[COUNT][AT_ONCE][2];
#pragma unroll
                for (int r = 0; r < COUNT; ++r)
#pragma unroll
                    for (int n = 0; n < AT_ONCE; ++n)
#pragma unroll
                        for (int c = 0; c < 2; ++c) {
                            long long s = e * 32 + begin + n, column = i + c * 32;
                            const float *at = of.parts + (s * of.rows + rows[r]) * of.size + column;
                            bool there = (s < of.splits) & (column < of.size) & (r < count);
                            part[r][n][c] = there ? __ldcg(at) : 0;
                        }
#pragma unroll
                for (int r = 0; r < COUNT; ++r)
#pragma unroll
                    for (int n = 0; n < AT_ONCE; ++n) {
                        float share = __shfl_sync(FULL_WARP, weight[r][e], begin + n);
                        sum[r][0] += share * part[r][n][0], sum[r][1] += share * part[r][n][1];
                    }
            }
#pragma unroll
        for (int r = 0; r < COUNT; ++r)
            for (int c = 0; c < 2; ++c)
                if (r < count && i + c * 32 < of.size)
                    out[rows[r] * of.size + i + c * 32] =
                        Out(sum[r][c] / (total[r] == 0 ? 1 : total[r]));
    }
#pragma unroll
    for (int r = 0; r < COUNT; ++r)
        if (number == 0 && lane == 0 && r < count)
            all_logs[rows[r]] = total[r] == 0 ? -INFINITY : from[r] + logf(total[r]);
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
        constexpr int COUNT = 4;
        for (int top = threadIdx.x / 32 * COUNT; top < ROWS; top += blockDim.x / 32 * COUNT) {
            int count = min((long long)COUNT, share.lines - share.first - top);
            if (count <= 0) return;
            long long rows[COUNT];
            for (int r = 0; r < COUNT; ++r) rows[r] = share.result(p, top + min(r, count - 1));
            merge_rows(parts, rows, count, out, logs, 0, 1);
        }
    }
};
