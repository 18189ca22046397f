// Attention by tensor cores: softmax(scale * q kᵀ + mask) v -> out[batch, heads, queries, value_size], contiguous;
// logs: of each row's sum of powers, in base e. Heads lie in lines of multiples of 16 bytes, HEAD elements at most.
// Launch a grid of (units * lines / ROWS, splits) blocks of 32 * WARPS threads, with
// (ROWS + 2 * KEYS) * PANELS * 128 bytes of shared memory. Split s makes out[s] and logs[s], which the last block of a
// tile merges if `merged` says where to.
// SCORED: scores are scaled and masked before their maximum is sought; otherwise scale is positive and is a factor
// of the exponent's.
// Step 4: FlashAttention-2's order: a warp keeps sums of its own rows, ROW_TILES * 16 of them, and passes scores from
// one product to the next in registers; the next keys are on their way from the scores on, the next values from the sums on.
// Limit: the rate of mma.sync, and a warp that finds powers multiplies nothing.
#include "attention/merge.cuh"
#include "attention/problem.cuh"
#include "attention/rows.cuh"
#include "common/word.cuh"
#include "gemm/tensor.cuh"
using T = half;
using Out = half;
using Mask = float;
constexpr int HEAD = 128;
constexpr int ROW_TILES = 2;
constexpr int WARPS = 4;
constexpr int KEYS = 64;
constexpr int Q_KEPT = 0;  // in registers
constexpr int BLOCKS = 2;  // on a multiprocessor
constexpr int CAUSAL = 0;
constexpr int SCORED = 0;
constexpr int MASKED = 0;
constexpr int FOLD = 1;

constexpr int BLOCK = 32 * WARPS, OF_WARP = ROW_TILES * HIGH, ROWS = WARPS * OF_WARP;
constexpr int PACK = CHUNK / sizeof(T), WIDTH = HEAD / PACK, PANELS = (WIDTH + CHUNKS - 1) / CHUNKS;
constexpr int STEPS = HEAD / HIGH, COLUMNS = KEYS / WIDE;

// Where a chunk of a line lies, in a tile of so many lines.
template <int LINES>
__device__ int place(int line, int chunk)
{ return (chunk / CHUNKS * LINES + line) * LINE + (chunk % CHUNKS ^ line % 8) * CHUNK; }

// Rounds in which a block copies whole lines, whose number is a multiple of 8.
__host__ __device__ constexpr int whole_rounds()
{
    int rounds = 1;
    while (rounds * BLOCK % (8 * WIDTH)) ++rounds;
    return rounds;
}

// Begins to copy lines, `left` of them, that begin at from(line); others are 0, as what is past their size.
template <int LINES, typename From>
__device__ void fetch(unsigned tile, long long left, int size, From from)
{
    constexpr int ROUNDS = whole_rounds(), STRIDE = ROUNDS * BLOCK / WIDTH;
    static_assert(LINES % STRIDE == 0, "lines repeat");
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        int number = threadIdx.x + r * BLOCK, top = number / WIDTH, chunk = number % WIDTH;
        int bytes = min(max(size - chunk * PACK, 0), PACK) * int(sizeof(T));
        int lines = bytes ? min(left, (long long)LINES) : 0;
        unsigned to = tile + place<LINES>(top, chunk);
#pragma unroll
        for (int i = 0; i < LINES; i += STRIDE) {
            bool is_there = top + i < lines;
            const T *source = is_there ? from(top + i) + chunk * PACK : from(0);
            copy_async(to + i * LINE, source, is_there ? bytes : 0);
        }
    }
}

extern "C" __global__ __launch_bounds__(BLOCK, BLOCKS) void tensor(
    const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v, Problem p,
    float scale, Out *out, float *logs, const Mask *__restrict__ mask, Merged<T> merged)
{
    extern __shared__ __align__(LINE) unsigned char tiles[];
    unsigned of_q = __cvta_generic_to_shared(tiles), of_k = of_q + ROWS * PANELS * LINE;
    unsigned of_v = of_k + KEYS * PANELS * LINE;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, top = warp * OF_WARP;
    const Stretch<ROWS, FOLD, CAUSAL> share(p, KEYS, blockIdx.x, blockIdx.y, gridDim.y);
    q += share.batch * p.q.batch + share.head * p.q.head;
    k += share.batch * p.k.batch + share.head / p.group * p.k.head;
    v += share.batch * p.v.batch + share.head / p.group * p.v.head;
    auto fetch_lines = [&](unsigned tile, const T *x, long long step, long long first, int size) {
        x += first * step;
        fetch<KEYS>(tile, p.keys - first, size, [&](int line) { return x + line * step; });
    };
    fetch<ROWS>(of_q, share.lines - share.first, p.size, [&](int line) {
        long long at = share.first + line;
        return q + at / FOLD * p.q.row + at % FOLD * p.q.head;
    });
    auto fetch_keys = [&](long long first) {
        if (first < share.end) fetch_lines(of_k, k, p.k.row, first, p.size);
        close_group();
    };
    auto fetch_values = [&](long long first) {
        if (first < share.end) fetch_lines(of_v, v, p.v.row, first, p.value_size);
        close_group();
    };
    fetch_keys(share.begin), fetch_values(share.begin);

    // Where this lane points: 16 rows of queries, 16 keys, 16 keys' values.
    unsigned start_q = place<ROWS>(top + lane % 16, 0) ^ lane / 16 * CHUNK;
    unsigned start_k = place<KEYS>(lane % 8 + lane / 16 * 8, 0) ^ lane / 8 % 2 * CHUNK;
    unsigned start_v = place<KEYS>(lane % 16, 0) ^ lane / 16 * CHUNK;
    unsigned q_fragments[Q_KEPT ? STEPS : 1][ROW_TILES][4];
    auto load_q = [&](unsigned (&to)[ROW_TILES][4], int step) {
#pragma unroll
        for (int m = 0; m < ROW_TILES; ++m)
            load_matrices<false>(to[m], of_q + (step / 4 * ROWS + m * HIGH) * LINE +
                                            (start_q ^ step % 4 * STEP));
    };
    if (Q_KEPT) {
        wait_for_groups<1>();
        __syncthreads();
#pragma unroll
        for (int step = 0; step < (Q_KEPT ? STEPS : 0); ++step) load_q(q_fragments[step], step);
    }
    long long seen[ROW_TILES][2], query[ROW_TILES][2];  // rows lane / 4 and 8 more: keys they see
#pragma unroll
    for (int m = 0; m < ROW_TILES; ++m)
#pragma unroll
        for (int low = 0; low < 2; ++low) {
            long long line = share.first + top + m * HIGH + low * 8 + lane / 4;
            query[m][low] = line / FOLD;
            seen[m][low] = CAUSAL ? min(p.keys, line / FOLD + p.diagonal + 1) : p.keys;
        }
    long long unmasked_keys = (share.first + top) / FOLD + p.diagonal + 1;
    unmasked_keys = CAUSAL ? min(p.keys, unmasked_keys) : p.keys;
    float factor = SCORED ? LOG2_E : scale * LOG2_E;
    float sum[ROW_TILES][STEPS * 2][4] = {}, peak[ROW_TILES][2], total[ROW_TILES][2] = {};
    for (auto &pair : peak) pair[0] = pair[1] = -INFINITY;

    for (long long first = share.begin; first < share.end; first += KEYS) {
        wait_for_groups<1>();
        __syncthreads();  // the keys have come
        float score[ROW_TILES][COLUMNS][4] = {};
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            unsigned a[ROW_TILES][4], b[4];
            if (!Q_KEPT) load_q(a, step);
#pragma unroll
            for (int n = 0; n < COLUMNS; n += 2) {
                load_matrices<false>(b, of_k + (step / 4 * KEYS + n * WIDE) * LINE +
                                            (start_k ^ step % 4 * STEP));
#pragma unroll
                for (int m = 0; m < ROW_TILES; ++m) {
                    auto &of_a = Q_KEPT ? q_fragments[Q_KEPT ? step : 0][m] : a[m];
                    multiply_add(score[m][n], of_a, b, T());
                    multiply_add(score[m][n + 1], of_a, b + 2, T());
                }
            }
        }
        __syncthreads();  // the keys are read
        fetch_keys(first + KEYS);

        bool is_edge = first + KEYS > unmasked_keys;
#pragma unroll
        for (int m = 0; m < ROW_TILES; ++m)
#pragma unroll
            for (int low = 0; low < 2; ++low) {
                int left = min(seen[m][low] - first, (long long)KEYS) - lane % 4 * 2;
                const Mask *row = nullptr;
                if (MASKED) {
                    long long line = share.first + top + m * HIGH + low * 8 + lane / 4;
                    row = mask + share.batch * p.mask.batch +
                          (share.head + line % FOLD) * p.mask.head +
                          min(query[m][low], p.queries - 1) * p.mask.row +
                          (first + lane % 4 * 2) * p.mask_column;
                }
                float most = peak[m][low];
#pragma unroll
                for (int n = 0; n < COLUMNS; ++n)
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        float &x = score[m][n][low * 2 + e];
                        bool hidden = is_edge && n * WIDE + e >= left;
                        if (SCORED) x *= scale;
                        if (MASKED && !hidden) x += added(row[(n * WIDE + e) * p.mask_column]);
                        if (hidden) x = -INFINITY;
                        most = fmaxf(most, x);
                    }
                most = row_reduce(most, [](float x, float y) { return fmaxf(x, y); });
                float down = SCORED ? base(most) : base(most) * factor;
                auto power = [&](float x) {  // a mask may be the lowest of floats: no factor yet
                    return power_of_two(SCORED ? (x - down) * factor : x * factor - down);
                };
                float shrink = power(peak[m][low]);
                peak[m][low] = most, total[m][low] *= shrink;
#pragma unroll
                for (int n = 0; n < STEPS * 2; ++n)
                    sum[m][n][low * 2] *= shrink, sum[m][n][low * 2 + 1] *= shrink;
#pragma unroll
                for (int n = 0; n < COLUMNS; ++n)
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        float &x = score[m][n][low * 2 + e];
                        x = power(x);
                        total[m][low] += x;
                    }
            }
        wait_for_groups<1>();
        __syncthreads();  // the values have come
#pragma unroll
        for (int step = 0; step < KEYS / HIGH; ++step) {
            unsigned a[ROW_TILES][4], b[4];
#pragma unroll
            for (int m = 0; m < ROW_TILES; ++m)
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    float *pair = score[m][step * 2 + e / 2] + e % 2 * 2;
                    a[m][e] = packed(pair[0], pair[1], T());
                }
#pragma unroll
            for (int n = 0; n < STEPS; ++n) {
                load_matrices<true>(b, of_v + (n / 4 * KEYS + step * HIGH) * LINE +
                                           (start_v ^ n % 4 * STEP));
#pragma unroll
                for (int m = 0; m < ROW_TILES; ++m) {
                    multiply_add(sum[m][n * 2], a[m], b, T());
                    multiply_add(sum[m][n * 2 + 1], a[m], b + 2, T());
                }
            }
        }
        __syncthreads();  // the values are read
        fetch_values(first + KEYS);
    }
    wait_for_groups<0>();

    long long results = p.units * share.lines;  // of a split
    Parts parts = {reinterpret_cast<float *>(out), logs, results, p.value_size, int(gridDim.y)};
    out += blockIdx.y * results * p.value_size, logs += blockIdx.y * results;
    __syncthreads();
#pragma unroll
    for (int m = 0; m < ROW_TILES; ++m) {
#pragma unroll
        for (int low = 0; low < 2; ++low) {
            int line = top + m * HIGH + low * 8 + lane / 4;
            float all = row_reduce(total[m][low], [](float x, float y) { return x + y; });
            float inverse = all == 0 ? 0 : 1 / all;
            long long row = share.result(p, line);
            bool is_there = share.first + line < share.lines;
            if (is_there && lane % 4 == 0)
                logs[row] =
                    all == 0 ? -INFINITY
                             : (SCORED ? peak[m][low] : peak[m][low] * factor * LN_2) + logf(all);
            Out *to = out + row * p.value_size + lane % 4 * 2;
            int left = is_there ? int(p.value_size) - lane % 4 * 2 : 0;
#pragma unroll
            for (int n = 0; n < STEPS * 2; ++n) {
                float x = sum[m][n][low * 2] * inverse, y = sum[m][n][low * 2 + 1] * inverse;
                if (sizeof(Out) == sizeof(T))
                    *reinterpret_cast<unsigned *>(tiles + place<ROWS>(line, n) + lane % 4 * 4) =
                        packed(x, y, T());
                else {
                    if (n * WIDE < left) to[n * WIDE] = Out(x);
                    if (n * WIDE + 1 < left) to[n * WIDE + 1] = Out(y);
                }
            }
        }
    }
    if (sizeof(Out) != sizeof(T)) {
        merged.finish<ROWS>(parts, share, p, reinterpret_cast<float *>(tiles));
        return;
    }
    __syncwarp();
    for (int i = lane; i < OF_WARP * WIDTH; i += 32) {  // a chunk each: neighbours in memory
        int line = top + i / WIDTH, first = i % WIDTH * PACK;
        if (share.first + line >= share.lines || first >= p.value_size) continue;
        auto pack = *reinterpret_cast<Packed<T, PACK> *>(tiles + place<ROWS>(line, i % WIDTH));
        T *to = reinterpret_cast<T *>(out) + share.result(p, line) * p.value_size + first;
        if (p.value_size % PACK == 0) put(to, pack);
        else
            for (int e = 0; e < PACK && first + e < p.value_size; ++e) to[e] = pack[e];
    }
}
