// Attention by warpgroups, for GPUs of compute capability 9.0: what attention/tensor.cu makes, with a positive scale
// and unmasked; split s of the keys makes out[s, ...] and logs[s, ...], in floats if there are several. Maps are of q, k and v as 4-dimensional arrays whose boxes are 64 elements wide and ROWS or
// KEYS lines high. Launch as many blocks as there are multiprocessors, or splits of tiles, of GROUP * (GROUPS + 1) threads with
// (Q_STAGES * ROWS + 2 * STAGES * KEYS) * PANELS * 128 bytes of shared memory. drawn: 0 between launches.
// Step 5: FlashAttention-3's order: a thread copies; warpgroups take turns, so that one finds powers while another
// multiplies; and each begins its next scores before it weighs the values of its last.
// Limit: the rate of the tensor cores, and of powers beside them.
#include "attention/problem.cuh"
#include "attention/ring.cuh"
using T = half;
using Out = half;
constexpr int HEAD = 128;
constexpr int KEYS = 128;
constexpr int GROUPS = 2;
constexpr int STAGES = 2;
constexpr int Q_STAGES = 2;
constexpr int CAUSAL = 0;
constexpr int C_PACK = 8;

constexpr int ROWS = GROUPS * GROUP_ROWS, PANELS = (HEAD + DEEP - 1) / DEEP;
constexpr int OF_Q = ROWS * PANELS * LINE, OF_KEYS = KEYS * PANELS * LINE;
constexpr int KEPT_BY_COPIES = GROUPS < 3 ? 40 : 32, KEPT_BY_PRODUCTS = GROUPS < 3 ? 232 : 160;

// Warpgroups issue products one after the other; each has a barrier at which it waits for the one before it.
__device__ inline void wait_turn(int group)
{ asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(2 * GROUP) : "memory"); }
__device__ inline void signal_turn(int group)
{ asm volatile("bar.arrive %0, %1;" ::"r"(1 + group), "n"(2 * GROUP) : "memory"); }

// Two rows of a warpgroup's: lane / 4 of a warp's 16, and 8 more.
struct Rows {
    float peak[2] = {-INFINITY, -INFINITY}, total[2] = {}, shrink[2];

    // Scores become powers; what was summed before shrinks by `shrink`.
    __device__ void softmax_step(float (&score)[KEYS / 2], float factor)
    {
#pragma unroll
        for (int low = 0; low < 2; ++low) {
            float most = peak[low];
#pragma unroll
            for (int i = low * 2; i < KEYS / 2; i += 4)
                most = fmaxf(most, fmaxf(score[i], score[i + 1]));
            most = row_reduce(most, [](float x, float y) { return fmaxf(x, y); });
            float down = base(most) * factor;
            shrink[low] = power_of_two(peak[low] * factor - down);
            peak[low] = most, total[low] *= shrink[low];
#pragma unroll
            for (int i = low * 2; i < KEYS / 2; i += 4)
#pragma unroll
                for (int e = i; e < i + 2; ++e)
                    total[low] += score[e] = power_of_two(score[e] * factor - down);
        }
    }
};

extern "C" __global__ __launch_bounds__(GROUP *(GROUPS + 1),
                                        1) void hopper(const __grid_constant__ Maps<3> maps,
                                                       Out *out, Problem p, float scale, int shares,
                                                       int splits, float *logs, int *tile_counter)
{
    extern __shared__ __align__(1024) unsigned char room[];
    __shared__ __align__(8) unsigned long long barriers[2 * Q_STAGES + 4 * STAGES];
    unsigned begin = __cvta_generic_to_shared(room), barrier = __cvta_generic_to_shared(barriers);
    Ring<Q_STAGES> queries(begin, barrier, OF_Q);
    Ring<STAGES> keys(begin + Q_STAGES * OF_Q, queries.end(), OF_KEYS);
    Ring<STAGES> values(keys.tiles + STAGES * OF_KEYS, keys.end(), OF_KEYS);
    if (threadIdx.x == 0) {
        queries.prepare(1, GROUPS * GROUP), keys.prepare(1, GROUPS), values.prepare(1, GROUPS);
        show_barriers();
    }
    __syncthreads();

    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    struct Next {
        Stretch<ROWS, 1, CAUSAL> share;
        int split;  // none: -1
    };
    __shared__ Next next[Q_STAGES];  // whose queries come
    auto tile_count = [](const auto &share) {
        return int((share.end - share.begin + KEYS - 1) / KEYS);
    };

    if (group == GROUPS) {
        give_registers<KEPT_BY_COPIES>();
        if (threadIdx.x % GROUP) return;
        for (;;) {
            int number = atomicAdd(tile_counter, 1);
            wait_for(queries.goes(), queries.parity ^ 1);
            Next &coming = next[queries.stage];
            if (number >= shares) {
                coming.split = -1;
                arrive(queries.comes());
                if (number + 1 == shares + gridDim.x)
                    *tile_counter = 0;  // all blocks have their last one
                return;
            }
            int split = number % splits;
            const auto share = coming.share = {p, KEYS, unsigned(number / splits), split, splits};
            coming.split = split;
            int count = tile_count(share), head = share.head / p.group, begin = share.begin;
            queries.expect();
            queries.fetch<ROWS, PANELS>(0, maps.of[0], share.first, share.head, share.batch);
            queries.advance();
            for (int n = 0; n <= count; ++n) {
                if (n < count) {
                    keys.expect();
                    keys.fetch<KEYS, PANELS>(0, maps.of[1], begin + n * KEYS, head, share.batch);
                    keys.advance();
                }
                if (n > 0) {
                    values.expect();
                    values.fetch<KEYS, PANELS>(0, maps.of[2], begin + (n - 1) * KEYS, head,
                                               share.batch);
                    values.advance();
                }
            }
        }
    }
    take_registers<KEPT_BY_PRODUCTS>();
    if (group == 0) signal_turn(0);
    float factor = scale * LOG2_E;
    for (;;) {
        queries.await();
        const int split = next[queries.stage].split;
        if (split < 0) return;
        const auto share = next[queries.stage].share;
        int count = __shfl_sync(~0u, tile_count(share), 0);
        float sum[HEAD / 2], score[KEYS / 2];
        unsigned weight[KEYS / 4];
        Rows rows;
        long long line = share.first + warp * HIGH + lane / 4, seen[2];
        for (int low = 0; low < 2; ++low)
            seen[low] = CAUSAL ? min(p.keys, line + low * 8 + p.diagonal + 1) : p.keys;
        long long unmasked_keys = share.first + group * GROUP_ROWS + p.diagonal + 1;
        unmasked_keys = CAUSAL ? min(p.keys, unmasked_keys) : p.keys;

        auto begin_scores = [&] {
            begin_products();
            multiply_lines<T, HEAD, ROWS, KEYS>(score, queries.tile() + group * GROUP_ROWS * LINE,
                                                keys.tile());
            close_products();
        };
        auto begin_sums = [&](bool adds) {
            values.await();
#pragma unroll
            for (int i = 0; i < HEAD / 2; ++i) sum[i] *= rows.shrink[i / 2 % 2];
            finished(sum);
            begin_products();
            multiply_registers<T, HEAD, KEYS>(sum, weight, values.tile(), adds);
            close_products();
        };
        auto apply_mask = [&](int n) {  // keys that a row doesn't see
            long long first = share.begin + n * KEYS;
            if (first + KEYS <= unmasked_keys) return;
#pragma unroll
            for (int i = 0; i < KEYS / 2; ++i) {
                int left = min(seen[i / 2 % 2] - first, (long long)KEYS);
                if (i / 4 * 8 + lane % 4 * 2 + i % 2 >= left) score[i] = -INFINITY;
            }
        };
        if (count) {
            keys.await();
            begin_scores();
            wait_for_products<0>();
            finished(score);
            keys.leave();
            apply_mask(0);
            rows.softmax_step(score, factor);
            pack<T>(weight, score);
        }
        if (count > 1) keys.await();
        for (int n = 1; n < count; ++n) {
            wait_turn(group);
            begin_scores();
            begin_sums(n > 1);
            signal_turn((group + 1) % GROUPS);
            wait_for_products<1>();
            finished(score);
            keys.leave();
            apply_mask(n);
            rows.softmax_step(score, factor);
            finished(score);
            if (n + 1 < count) keys.await();  // a branch: else ptxas would wait for the sums first
            wait_for_products<0>();
            finished(sum);
            values.leave();
            pack<T>(weight, score);
        }
        arrive(queries.goes()), queries.advance();
        if (count) {
            begin_sums(count > 1);
            wait_for_products<0>();
            finished(sum);
            values.leave();
        }
        long long before = split * p.units * p.queries;  // lines of other splits
        Product<Out, Out, C_PACK> to = {out + before * p.value_size, p.queries, p.value_size};
        to.c += (share.batch * p.heads + share.head) * p.queries * p.value_size;
        float inverse[2];
#pragma unroll
        for (int low = 0; low < 2; ++low) {
            float all = row_reduce(rows.total[low], [](float x, float y) { return x + y; });
            inverse[low] = all == 0 ? 0 : 1 / all;
            if (line + low * 8 < share.lines && lane % 4 == 0)
                logs[before + share.result(p, line + low * 8 - share.first)] =
                    all == 0 ? -INFINITY : rows.peak[low] * factor * LN_2 + logf(all);
        }
#pragma unroll
        for (int i = 0; i < HEAD / 2; ++i) sum[i] = count ? sum[i] : 0;
        store_rows<T, HEAD>(to, line, sum, inverse);
    }
}
