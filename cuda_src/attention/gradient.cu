// Gradients of attention by q (first[batch, heads, queries, size]), or, OF_KEYS, by k and v (first and second): from
// gradient[batch, heads, queries, value_size] by its result, the logarithms of its rows' sums of powers, and
// products[batch, heads, queries] of result and gradient. PACK divides sizes and strides. Launch a block of BLOCK
// threads for each TILE of queries or keys of each head, with (4 * (HEAD + 4) + 2 * (TILE + 1)) * TILE * 4 bytes of
// shared memory.
// Step 7: probabilities are made again, tile by tile: exp(score - log). A block owns queries and looks at keys, or owns
// keys and looks at queries, of all heads that share them, so that each sum is made by one block: no atomics.
// Limit: scores are made twice, a multiply-add an instruction.
#include "attention/problem.cuh"
#include "common/word.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using T = float;
using Mask = float;
constexpr int HEAD = 128;
constexpr int PACK = 4;
constexpr int OF_KEYS = 0;
constexpr int CAUSAL = 0;
constexpr int MASKED = 0;

constexpr int TILE = 32, BLOCK = 256, SIDE = 16, FOUR = 4;  // SIDE x SIDE threads
constexpr int EACH = TILE / SIDE, COLUMNS = HEAD / (SIDE * FOUR);
constexpr int LENGTH = HEAD + FOUR, SCORES = TILE + 1;  // of lines: neighbours in other banks
using Four = Packed<float, FOUR>;

// Lines of x to shared memory, `left` of them; others are 0, as what is past their size.
__device__ void fetch(float *tile, const T *x, long long step, long long left, long long size)
{
    for (int i = threadIdx.x; i < TILE * HEAD / PACK; i += BLOCK) {
        int line = i / (HEAD / PACK), along = i % (HEAD / PACK) * PACK;
        Packed<T, PACK> pack = {};
        if (line < left && along < size)
            pack = *reinterpret_cast<const Packed<T, PACK> *>(x + line * step + along);
        for (int e = 0; e < PACK; ++e) tile[line * LENGTH + along + e] = float(pack[e]);
    }
}

__device__ float dot(const float *a, const float *b)
{
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < HEAD; i += FOUR) {
        auto x = *reinterpret_cast<const Four *>(a + i), y = *reinterpret_cast<const Four *>(b + i);
#pragma unroll
        for (int e = 0; e < FOUR; ++e) sum += x[e] * y[e];
    }
    return sum;
}

// sum += weights * lines, of the rows and columns of this thread.
__device__ void add(Four (&sum)[EACH][COLUMNS], const float *weights, const float *lines)
{
    for (int line = 0; line < TILE; ++line)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            int column = (threadIdx.x % SIDE + c * SIDE) * FOUR;
            auto x = *reinterpret_cast<const Four *>(lines + line * LENGTH + column);
#pragma unroll
            for (int r = 0; r < EACH; ++r)
#pragma unroll
                for (int e = 0; e < FOUR; ++e)
                    sum[r][c][e] += weights[(threadIdx.x / SIDE * EACH + r) * SCORES + line] * x[e];
        }
}

// Rows to memory, `left` of them from row `first` on.
__device__ void write(T *to, Four (&sum)[EACH][COLUMNS], long long left, long long size)
{
#pragma unroll
    for (int r = 0; r < EACH; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
            for (int e = 0; e < FOUR; ++e) {
                int row = threadIdx.x / SIDE * EACH + r;
                int column = (threadIdx.x % SIDE + c * SIDE) * FOUR + e;
                if (row < left && column < size) to[row * size + column] = T(sum[r][c][e]);
            }
}

extern "C" __global__ __launch_bounds__(BLOCK) void gradient(
    const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v, Problem p,
    float scale, const T *__restrict__ by_result, const float *__restrict__ logs,
    const float *__restrict__ products, T *first, T *second, const Mask *__restrict__ mask)
{
    extern __shared__ __align__(16) float tiles[];
    float *own[2] = {tiles, tiles + TILE * LENGTH};  // queries and gradients, or keys and values
    float *others[2] = {own[1] + TILE * LENGTH, own[1] + 2 * TILE * LENGTH};
    float *slopes = others[1] + TILE * LENGTH, *powers = slopes + TILE * SCORES;
    long long owned = OF_KEYS ? p.keys : p.queries, blocks = (owned + TILE - 1) / TILE;
    long long heads = OF_KEYS ? p.heads / p.group : p.heads, unit = blockIdx.x / blocks;
    long long top = blockIdx.x % blocks * TILE, batch = unit / heads, head = unit % heads;
    long long shared = OF_KEYS ? head : head / p.group;
    k += batch * p.k.batch + shared * p.k.head, v += batch * p.v.batch + shared * p.v.head;
    Four sum[EACH][COLUMNS] = {}, sum_v[EACH][COLUMNS] = {};
    long long begin = 0, end = OF_KEYS ? p.queries : p.keys;
    if (CAUSAL && OF_KEYS) begin = max(0LL, min(end, top - p.diagonal));
    if (CAUSAL && !OF_KEYS) end = max(0LL, min(end, top + TILE + p.diagonal));

    for (long long h = OF_KEYS ? head * p.group : head, last = h + (OF_KEYS ? p.group : 1);
         h < last; ++h) {
        long long rows = (batch * p.heads + h) * p.queries;
        const T *of_q = q + batch * p.q.batch + h * p.q.head;
        auto load_tiles = [&](float *(&to)[2], bool keys, long long from) {
            const T *x = keys ? k + from * p.k.row : of_q + from * p.q.row;
            const T *y = keys ? v + from * p.v.row : by_result + (rows + from) * p.value_size;
            long long left = (keys ? p.keys : p.queries) - from;
            fetch(to[0], x, keys ? p.k.row : p.q.row, left, p.size);
            fetch(to[1], y, keys ? p.v.row : p.value_size, left, p.value_size);
        };
        load_tiles(own, OF_KEYS, top);
        for (long long from = begin; from < end; from += TILE) {
            load_tiles(others, !OF_KEYS, from);
            __syncthreads();
#pragma unroll
            for (int r = 0; r < EACH; ++r)
#pragma unroll
                for (int c = 0; c < EACH; ++c) {
                    int i = threadIdx.x / SIDE * EACH + r, j = threadIdx.x % SIDE + c * SIDE;
                    float score = dot(own[0] + i * LENGTH, others[0] + j * LENGTH) * scale;
                    float slope = dot(own[1] + i * LENGTH, others[1] + j * LENGTH), power = 0;
                    long long query = OF_KEYS ? from + j : top + i;
                    long long key = OF_KEYS ? top + i : from + j;
                    bool seen = query < p.queries && key < p.keys;
                    if (CAUSAL) seen = seen && key <= query + p.diagonal;
                    if (seen) {
                        if (MASKED)
                            score += added(mask[batch * p.mask.batch + h * p.mask.head +
                                                query * p.mask.row + key * p.mask_column]);
                        float log = logs[rows + query];
                        power = log == -INFINITY ? 0 : exp2f((score - log) * LOG2_E);
                        slope -= products[rows + query];
                    }
                    powers[i * SCORES + j] = power;
                    slopes[i * SCORES + j] = seen ? power * slope * scale : 0;
                }
            __syncthreads();
            add(sum, slopes, others[0]);
            if (OF_KEYS) add(sum_v, powers, others[1]);
            __syncthreads();
        }
        __syncthreads();
    }
    long long row = unit * owned + top;
    write(first + row * p.size, sum, owned - top, p.size);
    if (OF_KEYS) write(second + row * p.value_size, sum_v, owned - top, p.value_size);
}
