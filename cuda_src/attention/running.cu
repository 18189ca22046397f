// Attention in float32: softmax(scale * q kᵀ + mask) v -> out[batch, heads, queries, value_size], contiguous; logs: of
// each row's sum of powers, in base e. PACK divides sizes and strides of q, k and v. Launch a grid of (units * lines /
// ROWS, splits) blocks of BLOCK threads, with ((ROWS + KEYS) * (HEAD + 4) + ROWS * (KEYS + 4)) * 4 bytes of shared
// memory. Split s makes out[s] and logs[s], which are merged.
// Step 3: keys and values come in tiles, and sums of the values so far shrink as the maximum grows, as a softmax's do:
// there is no row of scores anywhere, so rows may be of any length. A thread makes some scores of some rows, then some
// columns of the same rows' results.
// Limit: a multiply-add an instruction, and numbers from shared memory for it.
#include "attention/problem.cuh"
#include "common/word.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using T = float;
using Out = float;
using Mask = float;
constexpr int HEAD = 128;
constexpr int ROWS = 64;
constexpr int KEYS = 64;
constexpr int PACK = 4;
constexpr int CAUSAL = 0;
constexpr int MASKED = 0;
constexpr int FOLD = 1;

constexpr int BLOCK = 256, SIDE = 16, FOUR = 4;  // SIDE x SIDE threads
constexpr int EACH = ROWS / SIDE, ACROSS = KEYS / SIDE, COLUMNS = HEAD / (SIDE * FOUR);
constexpr int LENGTH = HEAD + FOUR, SCORES = KEYS + FOUR;  // of lines: neighbours in other banks

// Lines to shared memory, `left` of them, that begin at from(line); others are 0, as what is past their size.
template <int LINES, typename From>
__device__ void fetch(float *tile, long long left, long long size, From from)
{
    for (int i = threadIdx.x; i < LINES * HEAD / PACK; i += BLOCK) {
        int line = i / (HEAD / PACK), along = i % (HEAD / PACK) * PACK;
        Packed<T, PACK> pack = {};
        if (line < left && along < size)
            pack = *reinterpret_cast<const Packed<T, PACK> *>(from(line) + along);
        for (int e = 0; e < PACK; ++e) tile[line * LENGTH + along + e] = float(pack[e]);
    }
}

__device__ inline Packed<float, FOUR> four(const float *from)
{ return *reinterpret_cast<const Packed<float, FOUR> *>(from); }

// What the SIDE lanes of a row have.
template <typename Op>
__device__ float row_reduce(float x, Op op)
{
#pragma unroll
    for (int lanes = 1; lanes < SIDE; lanes *= 2) x = op(x, __shfl_xor_sync(~0u, x, lanes));
    return x;
}

extern "C" __global__ __launch_bounds__(BLOCK) void running(const T *__restrict__ q,
                                                            const T *__restrict__ k,
                                                            const T *__restrict__ v, Problem p,
                                                            float scale, Out *out, float *logs,
                                                            const Mask *__restrict__ mask)
{
    extern __shared__ __align__(16) float tiles[];
    float *of_q = tiles, *of_k = of_q + ROWS * LENGTH, *scores = of_k + KEYS * LENGTH;
    int x = threadIdx.x % SIDE, top = threadIdx.x / SIDE * EACH;
    const Stretch<ROWS, FOLD, CAUSAL> share(p, KEYS, blockIdx.x, blockIdx.y, gridDim.y);
    q += share.batch * p.q.batch + share.head * p.q.head;
    k += share.batch * p.k.batch + share.head / p.group * p.k.head;
    v += share.batch * p.v.batch + share.head / p.group * p.v.head;
    fetch<ROWS>(of_q, share.lines - share.first, p.size, [&](int line) {
        long long at = share.first + line;
        return q + at / FOLD * p.q.row + at % FOLD * p.q.head;
    });
    Packed<float, FOUR> sum[EACH][COLUMNS] = {};
    float peak[EACH], total[EACH] = {};
    for (float &most : peak) most = -INFINITY;

    for (long long first = share.begin; first < share.end; first += KEYS) {
        __syncthreads();  // the last values are read
        fetch<KEYS>(of_k, p.keys - first, p.size,
                    [&](int line) { return k + (first + line) * p.k.row; });
        __syncthreads();
        float score[EACH][ACROSS] = {};
#pragma unroll 4
        for (int i = 0; i < HEAD; i += FOUR) {
            Packed<float, FOUR> a[EACH], b[ACROSS];
#pragma unroll
            for (int r = 0; r < EACH; ++r) a[r] = four(of_q + (top + r) * LENGTH + i);
#pragma unroll
            for (int c = 0; c < ACROSS; ++c) b[c] = four(of_k + (x + c * SIDE) * LENGTH + i);
#pragma unroll
            for (int r = 0; r < EACH; ++r)
#pragma unroll
                for (int c = 0; c < ACROSS; ++c)
#pragma unroll
                    for (int e = 0; e < FOUR; ++e) score[r][c] += a[r][e] * b[c][e];
        }
        __syncthreads();  // the keys are read: values take their place
        fetch<KEYS>(of_k, p.keys - first, p.value_size,
                    [&](int line) { return v + (first + line) * p.v.row; });
#pragma unroll
        for (int r = 0; r < EACH; ++r) {
            long long line = min(share.first + top + r, share.lines - 1), query = line / FOLD;
            long long seen = CAUSAL ? min(p.keys, query + p.diagonal + 1) : p.keys;
            const Mask *row = mask + share.batch * p.mask.batch +
                              (share.head + line % FOLD) * p.mask.head + query * p.mask.row;
            float most = peak[r];
#pragma unroll
            for (int c = 0; c < ACROSS; ++c) {
                long long key = first + x + c * SIDE;
                float &s = score[r][c];
                s *= scale;
                if (MASKED && key < seen) s += added(row[key * p.mask_column]);
                if (key >= seen) s = -INFINITY;
                most = fmaxf(most, s);
            }
            most = row_reduce(most, [](float a, float b) { return fmaxf(a, b); });
            float down = base(most), shrink = exp2f((peak[r] - down) * LOG2_E);
            peak[r] = most, total[r] *= shrink;
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
                for (int e = 0; e < FOUR; ++e) sum[r][c][e] *= shrink;
#pragma unroll
            for (int c = 0; c < ACROSS; ++c) {
                float power = exp2f((score[r][c] - down) * LOG2_E);
                total[r] += power;
                scores[(top + r) * SCORES + x + c * SIDE] = power;
            }
        }
        __syncthreads();
#pragma unroll 4
        for (int key = 0; key < KEYS; ++key) {
            Packed<float, FOUR> b[COLUMNS];
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c)
                b[c] = four(of_k + key * LENGTH + (x + c * SIDE) * FOUR);
#pragma unroll
            for (int r = 0; r < EACH; ++r) {
                float power = scores[(top + r) * SCORES + key];
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
                    for (int e = 0; e < FOUR; ++e) sum[r][c][e] += power * b[c][e];
            }
        }
    }

    long long results = p.units * share.lines;  // of a split
    out += blockIdx.y * results * p.value_size, logs += blockIdx.y * results;
    for (int r = 0; r < EACH; ++r) {
        float all = row_reduce(total[r], [](float a, float b) { return a + b; });
        if (share.first + top + r >= share.lines) continue;
        float inverse = all == 0 ? 0 : 1 / all;
        long long row = share.result(p, top + r);
        if (x == 0) logs[row] = all == 0 ? -INFINITY : peak[r] + logf(all);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            Packed<Out, FOUR> pack;
            for (int e = 0; e < FOUR; ++e) pack[e] = Out(sum[r][c][e] * inverse);
            int column = (x + c * SIDE) * FOUR;
            Out *to = out + row * p.value_size + column;
            if (p.value_size % FOUR)
                for (int e = 0; e < FOUR && column + e < p.value_size; ++e) to[e] = pack[e];
            else if (column < p.value_size) stream(to, pack);
        }
    }
}
