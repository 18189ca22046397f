// What splits of the keys made of a row, merged: a mean, weighted by the sums of powers, whose logarithms logs has.
#pragma once
#include "attention/problem.cuh"
#include "common/reduce.cuh"

struct Parts {
    const float *parts, *logs;  // [splits, rows, size], [splits, rows]
    long long rows, size;
    int splits;
};

// Merges a row by a block. Groups of as many threads as a row has fours of columns take turns at eight splits, whose loads
// are under way together; then the first group merges what the others found, in room[blockDim.x * 6].
template <typename Out>
__device__ void merge_row(const Parts &of, long long row, Out *out, float *all_logs, float *room)
{
    constexpr int AT_ONCE = 8, EACH = 4;
    int size = of.size, width = 8;
    while (width * EACH < size && width * 2 <= blockDim.x) width *= 2;
    int first = threadIdx.x % width, group = threadIdx.x / width, groups = blockDim.x / width;
    for (int begin = 0; begin < size; begin += width * EACH) {
        float peak = -INFINITY, sum[EACH + 1] = {};  // of columns, and of weights
        auto merge = [&](int from, int step, int end, auto load) {
            for (; from < end; from += step) {
                float log[AT_ONCE], part[AT_ONCE][EACH + 1], most = peak;
#pragma unroll
                for (int n = 0; n < AT_ONCE; ++n) load(from + n, log[n], part[n]);
#pragma unroll
                for (float x : log) most = fmaxf(most, x);
                float down = base(most), shrink = expf(peak - down);
                peak = most;
                for (float &x : sum) x *= shrink;
#pragma unroll
                for (int n = 0; n < AT_ONCE; ++n) {
                    float weight = expf(log[n] - down);
#pragma unroll
                    for (int c = 0; c <= EACH; ++c) sum[c] += weight * part[n][c];
                }
            }
        };
        auto load_split = [&](int s, float &log, float (&part)[EACH + 1]) {
            long long line = s * of.rows + row;
            log = s < of.splits ? __ldcg(of.logs + line) : -INFINITY;
#pragma unroll
            for (int c = 0; c < EACH; ++c) {
                int column = begin + first + c * width;
                bool loads = s < of.splits && column < size;
                part[c] = loads ? __ldcg(of.parts + line * size + column) : 0;
            }
            part[EACH] = 1;
        };
        auto load_group = [&](int g, float &log, float (&part)[EACH + 1]) {
            const float *from = room + g * width + first;
            log = g < groups ? from[(EACH + 1) * blockDim.x] : -INFINITY;
#pragma unroll
            for (int c = 0; c <= EACH; ++c) part[c] = g < groups ? from[c * blockDim.x] : 0;
        };
        merge(group * AT_ONCE, groups * AT_ONCE, of.splits, load_split);
        __syncthreads();  // what the room had is read
#pragma unroll
        for (int c = 0; c <= EACH; ++c) room[c * blockDim.x + threadIdx.x] = sum[c];
        room[(EACH + 1) * blockDim.x + threadIdx.x] = peak;
        __syncthreads();
        if (group) continue;
        merge(1, AT_ONCE, groups, load_group);
        float total = sum[EACH];
#pragma unroll
        for (int c = 0; c < EACH; ++c) {
            int column = begin + first + c * width;
            if (column < size) out[row * size + column] = Out(sum[c] / (total == 0 ? 1 : total));
        }
        if (begin + first == 0) all_logs[row] = total == 0 ? -INFINITY : base(peak) + logf(total);
    }
}

// Where splits are merged by the last block of a tile, unless out is null. arrived: a count for each tile, 0 between
// launches.
template <typename T>
struct Merged {
    T *out;
    float *logs;
    unsigned *arrived;

    template <int ROWS, typename Share>
    __device__ void finish(const Parts &parts, const Share &share, const Problem &p,
                           float *room) const
    {
        if (!out || !last_to_arrive(arrived + blockIdx.x, gridDim.y)) return;
        for (int line = 0; line < ROWS && share.first + line < share.lines; ++line)
            merge_row(parts, share.result(p, line), out, logs, room);
    }
};
