// Gradients of attention by warpgroups, for GPUs of compute capability 9.0: what attention/gradient.cu makes, unmasked.
// Maps are of q, gradient, k and v, or, OF_KEYS, of k, v, q and gradient, as 4-dimensional arrays whose boxes are 64
// elements wide and ROWS lines high, the first two, or LINES. Launch as many blocks as there are multiprocessors, or
// tiles, of GROUP * (GROUPS + 1) threads with (OWN_STAGES * ROWS + STAGES * LINES) * 2 * PANELS * 128 bytes of shared
// memory. drawn: 0 between launches.
// Step 8: what a block owns stays in shared memory, and what it looks at passes by; scores and slopes are made in
// registers, and go to the next product from there.
// Limit: seven products where five would do; but each sum is made by one block, in one order.
#include "attention/problem.cuh"
#include "attention/ring.cuh"
using T = half;
constexpr int HEAD = 128;
constexpr int OF_KEYS = 0;
constexpr int CAUSAL = 0;
constexpr int LINES = 64;
constexpr int STAGES = 2;
constexpr int OWN_STAGES = 2;
constexpr int C_PACK = 8;

constexpr int GROUPS = 2, ROWS = GROUPS * GROUP_ROWS, PANELS = (HEAD + DEEP - 1) / DEEP;
constexpr int OF_OWN = ROWS * PANELS * LINE, OF_OTHERS = LINES * PANELS * LINE;  // bytes
constexpr int KEPT_BY_COPIES = 40, KEPT_BY_PRODUCTS = 232;
// Whether registers suffice for scores to begin before the last sums are made.
constexpr bool OVERLAPS = HEAD / 2 * (1 + OF_KEYS) + LINES * (1 + OF_KEYS) / 4 + LINES < 200;

// Of a row: the logarithm, base 2, of its sum of powers, and the product of its result and gradient. A row that sees
// nothing has no share of anything.
struct RowStats {
    float log, product;
    __device__ static RowStats of(const float *logs, const float *products, bool is_there)
    {
        float log = is_there ? *logs : -INFINITY;
        return {log == -INFINITY ? INFINITY : log * LOG2_E, is_there ? *products : 0};
    }
};

// A tile of what a block makes: lines of queries, or of keys, and the rounds in which it looks at the others.
struct Share {
    int unit, batch, head, top, begin, rounds;  // head: of what is owned
    int first_head, heads;                      // of queries that it looks at, or is
    __device__ Share(const Problem &p, int number)
    {
        TileOf<ROWS, CAUSAL && !OF_KEYS> tile(p, OF_KEYS ? p.keys : p.queries, number);
        int all = OF_KEYS ? p.heads / p.group : p.heads, end = OF_KEYS ? p.queries : p.keys;
        int diagonal = p.diagonal;
        unit = tile.unit, top = tile.first, batch = unit / all, head = unit % all, begin = 0;
        first_head = OF_KEYS ? head * int(p.group) : head, heads = OF_KEYS ? p.group : 1;
        if (CAUSAL && OF_KEYS) begin = max(0, min(end, top - diagonal)) / LINES * LINES;
        if (CAUSAL && !OF_KEYS) end = max(0, min(end, top + ROWS + diagonal));
        rounds = max(0, (end - begin + LINES - 1) / LINES);
    }
};

extern "C" __global__ __launch_bounds__(GROUP *(GROUPS + 1), 1) void hopper_gradient(
    const __grid_constant__ Maps<4> maps, T *first, Problem p, float scale, int tiles,
    const float *__restrict__ logs, const float *__restrict__ products, T *second,
    int *tile_counter)
{
    extern __shared__ __align__(1024) unsigned char room[];
    __shared__ __align__(8) unsigned long long barriers[2 * OWN_STAGES + 2 * STAGES];
    __shared__ __align__(16) RowStats stats[STAGES][LINES];
    __shared__ int next[OWN_STAGES];  // the tile that comes; none: -1
    unsigned begin = __cvta_generic_to_shared(room), barrier = __cvta_generic_to_shared(barriers);
    Ring<OWN_STAGES> own(begin, barrier, 2 * OF_OWN);
    Ring<STAGES> others(begin + OWN_STAGES * 2 * OF_OWN, own.end(), 2 * OF_OTHERS);
    if (threadIdx.x == 0) {
        own.prepare(1, GROUPS * GROUP), others.prepare(2, GROUPS);
        show_barriers();
    }
    __syncthreads();

    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (group == GROUPS) {
        give_registers<KEPT_BY_COPIES>();
        if (threadIdx.x % GROUP >= 32) return;
        for (;;) {
            int number = lane ? 0 : atomicAdd(tile_counter, 1);
            number = __shfl_sync(~0u, number, 0);
            wait_for(own.goes(), own.parity ^ 1);
            if (number >= tiles) {
                if (lane) return;
                next[own.stage] = -1;
                arrive(own.comes());
                if (number + 1 == tiles + gridDim.x)
                    *tile_counter = 0;  // all blocks have their last one
                return;
            }
            Share share(p, number);
            int head_of_keys = OF_KEYS ? share.head : share.head / p.group;
            if (lane == 0) {
                next[own.stage] = number;
                own.expect();
                own.fetch<ROWS, PANELS>(0, maps.of[0], share.top, share.head, share.batch);
                own.fetch<ROWS, PANELS>(OF_OWN, maps.of[1], share.top, share.head, share.batch);
            }
            own.advance();
            for (int h = share.first_head; h < share.first_head + share.heads; ++h) {
                int head = OF_KEYS ? h : head_of_keys;
                long long rows = ((long long)share.batch * p.heads + h) * p.queries;
                for (int n = 0; n < share.rounds; ++n) {
                    int line = share.begin + n * LINES;
                    wait_for(others.goes(), others.parity ^ 1);
                    if (lane == 0) {
                        others.expect();
                        others.fetch<LINES, PANELS>(0, maps.of[2], line, head, share.batch);
                        others.fetch<LINES, PANELS>(OF_OTHERS, maps.of[3], line, head, share.batch);
                    }
                    if (OF_KEYS)
                        for (int i = lane; i < LINES; i += 32)
                            stats[others.stage][i] =
                                RowStats::of(logs + rows + line + i, products + rows + line + i,
                                             line + i < p.queries);
                    __syncwarp();
                    if (lane == 0) arrive(others.comes());
                    others.advance();
                }
            }
        }
    }
    take_registers<KEPT_BY_PRODUCTS>();
    float factor = scale * LOG2_E;
    for (;;) {
        own.await();
        int number = next[own.stage];
        if (number < 0) return;
        Share share(p, number);
        float sum[HEAD / 2], sum_v[HEAD / 2], score[LINES / 2], slope[LINES / 2];
        unsigned slopes[LINES / 4], powers[LINES / 4];
        int line = share.top + warp * HIGH + lane / 4;  // and 8 more
        RowStats mine[2] = {};
        if (!OF_KEYS)
            for (int low = 0; low < 2; ++low) {
                long long row = (long long)share.unit * p.queries + line + low * 8;
                mine[low] = RowStats::of(logs + row, products + row, line + low * 8 < p.queries);
            }
        unsigned a = own.tile() + group * GROUP_ROWS * LINE;
        Ring<STAGES> read = others;  // what is no longer needed
        auto end_sums = [&](bool any) {
            finished(sum);
            if (OF_KEYS) finished(sum_v);
            if (any) read.leave();
        };
        for (int n = 0; n < share.heads * share.rounds; ++n) {
            int from = share.begin + n % share.rounds * LINES;
            unsigned b = others.tile();
            others.await();
            begin_products();
            multiply_lines<T, HEAD, ROWS, LINES>(score, a, b);
            close_products();
            multiply_lines<T, HEAD, ROWS, LINES>(slope, a + OF_OWN, b + OF_OTHERS);
            close_products();
            wait_for_products<1>();
            finished(score);
            if (OVERLAPS) end_sums(n > 0);

            int keys = p.keys, diagonal = p.diagonal, row = line;
            int last = OF_KEYS ? share.top + group * GROUP_ROWS + GROUP_ROWS - 1 : from + LINES - 1;
            int query = OF_KEYS ? from : share.top + group * GROUP_ROWS;
            bool is_edge = last >= keys || (CAUSAL && last > query + diagonal);
            int visible_begin[2], visible_end[2];  // columns that a row has a share in
            for (int low = 0; low < 2; ++low, row += 8) {
                visible_begin[low] = CAUSAL && OF_KEYS ? row - diagonal - from : 0;
                visible_end[low] = min(keys, CAUSAL ? row + diagonal + 1 : keys) - from;
                if (OF_KEYS) visible_end[low] = row < keys ? LINES : 0;
            }
            const RowStats *of_columns = stats[others.stage];
            auto stats_of = [&](int i) {
                return OF_KEYS ? of_columns[i / 4 * 8 + lane % 4 * 2 + i % 2] : mine[i / 2 % 2];
            };
#pragma unroll
            for (int i = 0; i < LINES / 2; ++i)
                score[i] = power_of_two(score[i] * factor - stats_of(i).log);
            finished(score);
            if (is_edge)
#pragma unroll
                for (int i = 0; i < LINES / 2; ++i) {
                    int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
                    bool hidden =
                        column < visible_begin[i / 2 % 2] || column >= visible_end[i / 2 % 2];
                    if (hidden) score[i] = 0;
                }
            auto begin_values = [&] {
                pack<T>(powers, score);
                begin_products();
                multiply_registers<T, HEAD, LINES>(sum_v, powers, b + OF_OTHERS, n);
                close_products();
            };
            if (OF_KEYS && OVERLAPS) begin_values();
            wait_for_products<OF_KEYS && OVERLAPS>();
            finished(slope);
#pragma unroll
            for (int i = 0; i < LINES / 2; ++i)
                slope[i] = score[i] == 0 ? 0 : score[i] * (slope[i] - stats_of(i).product);
            pack<T>(slopes, slope);
            begin_products();
            multiply_registers<T, HEAD, LINES>(sum, slopes, b, n);
            close_products();
            if (OF_KEYS && !OVERLAPS) begin_values();
            others.advance();
            if (OVERLAPS) continue;
            wait_for_products<0>();
            end_sums(true);
        }
        bool any = share.heads * share.rounds > 0;
        if (OVERLAPS) {
            wait_for_products<0>();
            end_sums(any);
        }
        arrive(own.goes()), own.advance();
        auto store = [&](T *to, long long size, float (&sum)[HEAD / 2], float factor) {
            long long owned = OF_KEYS ? p.keys : p.queries;
            Product<T, T, C_PACK> result = {to + (long long)share.unit * owned * size, owned, size};
#pragma unroll
            for (int i = 0; i < HEAD / 2; ++i) sum[i] = any ? sum[i] : 0;
            const float factors[2] = {factor, factor};
            store_rows<T, HEAD>(result, line, sum, factors);
        };
        store(first, p.size, sum, scale);
        if constexpr (OF_KEYS) store(second, p.value_size, sum_v, 1);
    }
}
