// A product of matrices by warpgroups, for GPUs of compute capability 9.0: a block makes tile after tile, each
// ROWS x COLUMNS elements of it and a share of k.
//
// One thread copies: after copy.begin(tile), each copy.next(a, b, barrier) begins to fill a stage, 128 bytes of each
// line along k, from the tile's first step on. STAGES of them have room. A warpgroup for each 64 rows multiplies what
// has come. Barriers say which stages are full, and which are empty: read by all warpgroups.
//
// Of floats of 8 bits, the tensor cores keep 13 bits of a sum. So they sum up a stage's products only, of APART
// columns at a time, and these sums are added as floats, while another warpgroup's products go on. 0: no such care.
//
// Of floats, the instructions want lines along k. Where a's lines lie across k, each thread reads its part of a into
// registers (hold), and stores the result transposed (is_turned, store_turned). Of halves TURNED asks for the latter
// (store_across).
//
// BESIDE: blocks of a cluster that make tiles one below the other. Each copies a share of their tile of b to all, whose
// map's boxes are as high as a share, and a stage is empty when the readers of all of them are done.
//
// Results go through shared memory. If BOXED, boxes of HIGH rows of 128 bytes are copied from there, to where the map
// `boxes` of results[product and split, row, column] says, each of them results(tile).element(column, sum). Else a lane
// has AT_ONCE neighbours of a row: results(tile).store(row, column, Packed<float, AT_ONCE>). If k is split, there is a
// result of each split, tile.z; or, if there are SPLITS, these are a cluster of blocks, which adds them up (join), with
// room for a tile of each block in `sums`. Launch
// as many blocks as there are multiprocessors, or tiles (of clusters: as many as splits of tiles), of block_of(ROWS)
// threads with STAGES * (ROWS + COLUMNS) * 128 + ROWS / 16 * PATCH_BYTES bytes of shared memory.
#pragma once
#include "common/boxes.cuh"
#include "common/cluster.cuh"
#include "gemm/tensor.cuh"
#include "gemm/warpgroup.cuh"

constexpr int PATCH_COLUMNS = 64;  // of 16 rows, which a warp stores at a time
constexpr int PATCH_BYTES = HIGH * PATCH_COLUMNS * sizeof(float);
constexpr int TILES_HIGH = 16;  // tiles of this many lines of tiles come before the next lines

template <typename T, bool A_ALONG_K>
__device__ constexpr bool is_turned()
{ return sizeof(T) == sizeof(float) && !A_ALONG_K; }
__device__ constexpr int block_of(int rows) { return GROUP + rows / GROUP_ROWS * GROUP; }

// How many lines of a stage an operand takes that is so wide across k.
template <typename T, bool ALONG_K>
__device__ constexpr int in_panels(int wide)
{
    constexpr int PANEL = LINE / sizeof(T);
    return ALONG_K ? wide : (wide + PANEL - 1) / PANEL * PANEL;
}

// Which tile it is: of which product of a batch, or which split of one; where it begins, and its steps along k.
struct Tile {
    int z, top, left, first, steps;
};

template <int ROWS, int COLUMNS>
struct Tiles {
    int down, across, splits, each, steps, count;
    // beside: tiles one below the other that a cluster makes together; some may have no row.
    __device__ Tiles(long long m, long long n, int steps, int splits, int batch, int beside = 1)
        : down((m + ROWS * beside - 1) / (ROWS * beside) * beside),
          across((n + COLUMNS - 1) / COLUMNS), splits(splits),
          each(splits > 1 ? (steps + splits - 1) / splits : steps), steps(steps),
          count(down * across * splits * batch)
    {
    }
    // The only tile of a block of a cluster, which has all splits of one.
    __device__ int in_cluster(int splits) const
    {
        int tile = blockIdx.x / splits, all = down * across;
        return (tile / all * splits + blockIdx.x % splits) * all + tile % all;
    }
    __device__ Tile operator()(int number) const
    {
        // A division takes longer than to ask whether it is needed.
        int z = 0, group = 0, place = number;
        if (count > down * across) z = number / (down * across), place -= z * (down * across);
        if (down > TILES_HIGH)
            group = place / (TILES_HIGH * across), place -= group * (TILES_HIGH * across);
        int high = min(TILES_HIGH, down - group * TILES_HIGH);
        int first = splits > 1 ? z % splits * each : 0;
        return {z, (group * TILES_HIGH + place % high) * ROWS, place / high * COLUMNS, first,
                min(each, steps - first)};
    }
};

// What a warp has of a tile: 16 rows. Eight neighbours of row r lie in place e ^ r % 8 of a patch's line,
// so that what is written at once, 8 bytes of 8 rows, lies in different banks.
template <int COLUMNS, typename Result>
__device__ void store(Result result, int top, int left, float (&sum)[COLUMNS / 2], float *patch)
{
    constexpr int AT_ONCE = Result::AT_ONCE;
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int at = 0; at < COLUMNS; at += PATCH_COLUMNS) {
        int first = min(at, COLUMNS - PATCH_COLUMNS);  // the last may overlap the one before
        __syncwarp();
#pragma unroll
        for (int i = 0; i < PATCH_COLUMNS / 2; i += 2) {
            int row = lane / 4 + i / 2 % 2 * 8, eight = i / 4 ^ row % 8;
            float *place = patch + row * PATCH_COLUMNS + eight * EIGHT + lane % 4 * 2;
            *reinterpret_cast<Packed<float, 2> *>(place) = {sum[first / 2 + i],
                                                            sum[first / 2 + i + 1]};
        }
        __syncwarp();
        if constexpr (AT_ONCE < 0)
            result.template store_lines<HIGH, PATCH_COLUMNS>(
                top, left + first, [&](int row, int column) {
                    return patch[row * PATCH_COLUMNS + (column ^ row % 8 * EIGHT)];
                });
        else
#pragma unroll(AT_ONCE < 4 ? 8 : 1)
            for (int n = lane; n < HIGH * PATCH_COLUMNS / AT_ONCE; n += 32) {
                int row = n / (PATCH_COLUMNS / AT_ONCE),
                    column = n % (PATCH_COLUMNS / AT_ONCE) * AT_ONCE;
                float *place = patch + row * PATCH_COLUMNS + (column ^ row % 8 * EIGHT);
                result.store(top + row, left + first + column,
                             *reinterpret_cast<Packed<float, AT_ONCE> *>(place));
            }
    }
}

// The same by boxes of HIGH lines of 128 bytes, swizzled as a map of the result says, from two patches in turn, which
// goes on from tile to tile: what is multiplied next need not wait until they are stored.
template <int COLUMNS, typename Result>
__device__ void store_boxes(Result result, const Map &map, int top, int left, int z,
                            float (&sum)[COLUMNS / 2], unsigned char *patches, int &turn)
{
    using Out = typename Result::Element;
    constexpr int WIDE = LINE / sizeof(Out), PATCH = HIGH * LINE;
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int at = 0; at < COLUMNS; at += WIDE) {
        int first = min(at, COLUMNS - WIDE);  // the last may overlap the one before
        unsigned char *patch = patches + (turn++ & 1) * PATCH;
        wait_for_stores<1>();
        __syncwarp();
#pragma unroll
        for (int i = 0; i < WIDE / 2; i += 2) {
            int row = lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2;
            int chunk = column * int(sizeof(Out)) / 16 ^ row % 8;
            unsigned char *place = patch + row * LINE + chunk * 16 + column * sizeof(Out) % 16;
            put(reinterpret_cast<Out *>(place),
                Packed<Out, 2>{result.element(left + first + column, sum[first / 2 + i]),
                               result.element(left + first + column + 1, sum[first / 2 + i + 1])});
        }
        show_stores();
        __syncwarp();
        if (is_elected()) store_box(map, left + first, top, z, __cvta_generic_to_shared(patch));
    }
}

// The same where a tile has an even number of boxes, so that each tile begins with the same patch.
template <int COLUMNS, typename Result>
__device__ void store_boxes(Result result, const Map &map, int top, int left, int z,
                            float (&sum)[COLUMNS / 2], unsigned char *patches)
{
    static_assert(COLUMNS / (LINE / sizeof(typename Result::Element)) % 2 == 0, "pass the turn");
    int turn = 0;
    store_boxes<COLUMNS>(result, map, top, left, z, sum, patches, turn);
}

// The first of two neighbouring rows of a tile of floats that a thread holds. To the instruction they are rows r and
// r + 8 of the warp's 16. So half a warp reads different banks, and what is stored at once fills 32 bytes.
__device__ inline int held_row(int warp)
{
    int pair = threadIdx.x % 32 / 4, chunk = warp % 2 * 2 + pair / 4 + pair / 2 % 2 * 4;
    return warp / 2 * 32 + chunk * 4 + pair % 2 * 2;
}

// What a thread holds of a stage: both rows in places lane % 4 and 4 more of each step along k.
constexpr int HELD = LINE / STEP * 4;
__device__ inline void hold(unsigned (&held)[HELD], const unsigned char *tile, int row)
{
    int k = threadIdx.x % 4, chunk = row % 32 / 4 ^ k;
    const unsigned char *line = tile + row / 32 * 32 * LINE + k * LINE + row % 4 * 4;
#pragma unroll
    for (int n = 0; n < HELD / 2; ++n) {
        int place = n * 4 * LINE + (chunk ^ n % 2 * 4) * CHUNK;
        uint2 rows = *reinterpret_cast<const uint2 *>(line + place);
        held[n * 2] = rows.x, held[n * 2 + 1] = rows.y;
    }
}

// Stores a tile of which rows were held; they become columns of the result.
template <int COLUMNS, typename Result>
__device__ void store_turned(Result result, int top, int left, float (&sum)[COLUMNS / 2])
{
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i += i % 2 ? 3 : 1)
        result.store(left + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2, top,
                     Packed<float, 2>{sum[i], sum[i + 2]});
}

// Stores a tile whose rows become columns of the result: a warp has 16 neighbours of each line of it. Lines of a patch are
// padded, so that what is written at once, 8 neighbours of 4 lines, lies in different banks.
template <int COLUMNS, typename Result>
__device__ void store_across(Result result, int top, int left, float (&sum)[COLUMNS / 2],
                             float *patch)
{
    constexpr int AT_ONCE = together<Result>(), PITCH = HIGH + 4, LINES = COLUMNS % 32 ? 16 : 32;
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int at = 0; at < COLUMNS; at += LINES) {
        __syncwarp();
#pragma unroll
        for (int i = 0; i < LINES / 2; ++i) {
            int line = i / 4 * 8 + lane % 4 * 2 + i % 2;
            patch[line * PITCH + lane / 4 + i / 2 % 2 * 8] = sum[at / 2 + i];
        }
        __syncwarp();
        for (int n = lane; n < LINES * HIGH / AT_ONCE; n += 32) {
            int line = n / (HIGH / AT_ONCE), column = n % (HIGH / AT_ONCE) * AT_ONCE;
            result.store(
                left + at + line, top + column,
                *reinterpret_cast<Packed<float, AT_ONCE> *>(patch + line * PITCH + column));
        }
    }
}

// Begins sum = a * b, or sum + a * b if it `adds`, of COUNT times 32 bytes of a stage's 128 along k, from FIRST on.
template <typename T, bool A_ALONG_K, bool B_ALONG_K, int FIRST = 0, int COUNT = LINE / STEP,
          int SUMS>
__device__ void multiply_stage(float (&sum)[SUMS], unsigned a, unsigned b, bool adds)
{
    constexpr int PANEL = LINE / sizeof(T) * LINE;
    begin_products();
#pragma unroll
    for (int n = FIRST; n < FIRST + COUNT; ++n)
        multiply_add<A_ALONG_K, B_ALONG_K>(
            sum, described(a + n * (A_ALONG_K ? STEP : HIGH * LINE), PANEL),
            described(b + n * (B_ALONG_K ? STEP : HIGH * LINE), PANEL), adds || n > 0, T());
    close_products();
}

// The same of a whole stage, of which a thread holds its part of a.
template <typename T, int SUMS>
__device__ void multiply_stage(float (&sum)[SUMS], const unsigned (&held)[HELD], unsigned b,
                               bool adds)
{
    begin_products();
#pragma unroll
    for (int n = 0; n < LINE / STEP; ++n)
        multiply_add<true>(sum, held + n * 4, described(b + n * STEP, 0), adds || n > 0, T());
    close_products();
}

// The thread that copies has begun the barriers: the others may look at them from now on, and it goes on at once.
template <int THREADS>
__device__ void signal_barriers()
{ asm volatile("bar.arrive 3, %0;" ::"n"(THREADS) : "memory"); }
template <int THREADS>
__device__ void wait_barriers()
{ asm volatile("bar.sync 3, %0;" ::"n"(THREADS) : "memory"); }

// Two warpgroups take turns: one begins to multiply when the other is half through, and adds what it has while the
// other goes on. Left alone, they would share the tensor cores, be done together, and leave them idle.
template <int GROUPS>
__device__ void wait_turn(int group)
{
    if (GROUPS == 2) asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
}
template <int GROUPS>
__device__ void signal_turn(int group)
{
    if (GROUPS == 2) asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
}

// sum += a * b of a stage, to the end: products in sums of their own, which are then added.
template <typename T, int APART, int GROUPS, int SUMS>
__device__ void add_apart(float (&sum)[SUMS], unsigned a, unsigned b, int group)
{
    constexpr int HALF = LINE / STEP / 2;
#pragma unroll
    for (int first = 0; first < SUMS; first += APART / 2) {
        float part[APART / 2];
        wait_turn<GROUPS>(group);
        multiply_stage<T, true, true, 0, HALF>(part, a, b + first * 2 * LINE, false);
        multiply_stage<T, true, true, HALF, HALF>(part, a, b + first * 2 * LINE, true);
        wait_for_products<1>();
        signal_turn<GROUPS>(group);
        wait_for_products<0>();
#pragma unroll
        for (int i = 0; i < APART / 2; ++i) sum[first + i] += part[i];
    }
}

// Stores sums of two rows and two columns. TURNED: the columns are lines of the result. Rows that are HELD are neighbours
// in these; else a row's neighbour is what the fourth lane from here has, and each of the two stores one line.
template <bool TURNED, bool HELD, typename Result>
__device__ void store_joined(Result result, int row, int column, float4 sum)
{
    if constexpr (!TURNED) {
        result.store(row, column, Packed<float, 2>{sum.x, sum.y});
        result.store(row + 8, column, Packed<float, 2>{sum.z, sum.w});
    } else if constexpr (HELD) {
        result.store(column, row, Packed<float, 2>{sum.x, sum.z});
        result.store(column + 1, row, Packed<float, 2>{sum.y, sum.w});
    } else {
        bool odd = row % 2;
        float upper = __shfl_xor_sync(~0u, odd ? sum.x : sum.y, 4);
        float lower = __shfl_xor_sync(~0u, odd ? sum.z : sum.w, 4);
        using Two = Packed<float, 2>;
        result.store(column + odd, row - odd, odd ? Two{upper, sum.y} : Two{sum.x, upper});
        result.store(column + odd, row + 8 - odd, odd ? Two{lower, sum.w} : Two{sum.z, lower});
    }
}

// Adds what the blocks of a cluster have of a tile, and stores it: each block a share of the columns. Sums go through
// global memory, ROWS x COLUMNS of each block, which stay in the L2 cache: on an H200, half a microsecond faster for small
// tiles than through other blocks' shared memory. row: the first of a thread's two rows.
template <int ROWS, int COLUMNS, int SPLITS, bool TURNED, bool HELD, typename Result>
__device__ void join(Result result, int row, int left, const float (&sum)[COLUMNS / 2],
                     float4 *sums)
{
    constexpr int THREADS = ROWS / GROUP_ROWS * GROUP, FOURS = COLUMNS / 8;
    constexpr int EACH = (FOURS + SPLITS - 1) / SPLITS, MOST = 16 / SPLITS;  // loads take long
    constexpr int TOGETHER = EACH < MOST ? EACH : MOST;
    int rank = blockIdx.x % SPLITS, last = FOURS * (rank + 1) / SPLITS - 1;
    sums += (long long)(blockIdx.x - rank) * THREADS * FOURS + threadIdx.x;
#pragma unroll
    for (int n = 0; n < FOURS; ++n)
        sums[(rank * FOURS + n) * THREADS] =
            make_float4(sum[n * 4], sum[n * 4 + 1], sum[n * 4 + 2], sum[n * 4 + 3]);
    meet_in_cluster();  // all blocks have left their sums
#pragma unroll 1
    for (int first = FOURS * rank / SPLITS; first <= last; first += TOGETHER) {
        float4 part[TOGETHER][SPLITS];
#pragma unroll
        for (int i = 0; i < TOGETHER * SPLITS; ++i) {
            int n = min(first + i / SPLITS, last);
            part[i / SPLITS][i % SPLITS] = __ldcg(sums + (i % SPLITS * FOURS + n) * THREADS);
        }
#pragma unroll
        for (int i = 0; i < TOGETHER; ++i) {
            float4 all = {};
#pragma unroll
            for (int p = 0; p < SPLITS; ++p)
                all.x += part[i][p].x, all.y += part[i][p].y, all.z += part[i][p].z,
                    all.w += part[i][p].w;
            int column = left + (first + i) * 8 + threadIdx.x % 4 * 2;
            if (first + i <= last) store_joined<TURNED, HELD>(result, row, column, all);
        }
    }
}

template <typename T, int ROWS, int COLUMNS, int STAGES, bool A_ALONG_K, bool B_ALONG_K,
          int APART = 0, bool BOXED = false, int SPLITS = 1,
          bool TURNED = is_turned<T, A_ALONG_K>(), int BESIDE = 1, typename AllTiles, typename Copy,
          typename Results>
__device__ void multiply(AllTiles tiles, Copy copy, Results results, const Map &boxes,
                         float4 *sums = nullptr)
{
    constexpr int GROUPS = ROWS / GROUP_ROWS, OF_A = ROWS * LINE;
    constexpr int STAGE = OF_A + in_panels<T, B_ALONG_K>(COLUMNS) * LINE;
    constexpr bool HOLDS = is_turned<T, A_ALONG_K>();
    constexpr int READER = HOLDS ? 32 : GROUP;  // threads that say together that a stage is read
    extern __shared__ __align__(1024) unsigned char stages[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    __shared__ Tile tile_of[STAGES];  // whose first step a stage is: consumers need not divide
    unsigned begin = __cvta_generic_to_shared(stages), stage = 0, parity = 0;
    unsigned full = __cvta_generic_to_shared(barriers), empty = full + STAGES * 8;
    int group = threadIdx.x / GROUP, first = blockIdx.x, then = gridDim.x;
    if (SPLITS > 1) first = tiles.in_cluster(SPLITS), then = tiles.count;
    auto advance = [&] {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    };
    if (group == GROUPS) {
        if (threadIdx.x % GROUP < 32 && is_elected()) {
            for (int n = 0; n < STAGES; ++n)
                begin_barrier(full + n * 8, 1),
                    begin_barrier(empty + n * 8, BESIDE * GROUPS * GROUP / READER);
            show_barriers();
        }
        __syncwarp();
        if (BESIDE > 1) meet_in_cluster();
        else signal_barriers<block_of(ROWS)>();
        if (GROUPS > 1) give_registers<40>();
        if (threadIdx.x % GROUP >= 32) return;
        for (int number = first; number < tiles.count; number += then) {
            Tile tile = tiles(number);
            copy.begin(tile);
            for (int step = 0; step < tile.steps; ++step, advance()) {
                unsigned to = begin + stage * STAGE, barrier = full + stage * 8;
                wait_for(empty + stage * 8, parity ^ 1);
                if (is_elected()) {
                    if (step == 0) tile_of[stage] = tile;
                    expect_bytes(barrier, STAGE);
                    copy.next(to, to + OF_A, barrier);
                }
                __syncwarp();
            }
        }
        return;
    }
    if (BESIDE > 1) meet_in_cluster();
    else wait_barriers<block_of(ROWS)>();
    if (GROUPS > 1) take_registers<232>();
    if (APART && group == 1) signal_turn<GROUPS>(group);  // to the first
    int warp =
        __shfl_sync(~0u, threadIdx.x / 32, 0);  // the same in all lanes, to the compiler, too
    unsigned char *patch = stages + STAGES * STAGE + warp * PATCH_BYTES;
    int turn = 0, row = HOLDS ? held_row(warp) : 0;
    auto done = [](unsigned barrier) {  // a stage is read, for all blocks that fill it
        int reader = threadIdx.x % READER;
        if (BESIDE > 1 && reader < BESIDE) arrive_in_block(barrier, reader);
        else if (reader == 0) arrive(barrier);
    };
    for (int number = first; number < tiles.count; number += then) {
        Tile tile;
        float sum[COLUMNS / 2];
        unsigned before = 0;
        int step = 0;
        if (APART)
            for (int i = 0; i < COLUMNS / 2; ++i) sum[i] = 0;
        do {
            unsigned a = begin + stage * STAGE + group * GROUP_ROWS * LINE;
            unsigned b = begin + stage * STAGE + OF_A;
            wait_for(full + stage * 8, parity);
            if (step == 0) tile = tile_of[stage];
            if constexpr (APART) {
                add_apart<T, APART, GROUPS>(sum, a, b, group);
                done(empty + stage * 8);
            } else if constexpr (HOLDS) {
                unsigned held[HELD];
                wait_for_products<0>();  // until then they use what is held
                if (step > 0) done(before);
                hold(held, stages + stage * STAGE, row);
                multiply_stage<T>(sum, held, b, step > 0);
                before = empty + stage * 8;
            } else {
                multiply_stage<T, A_ALONG_K, B_ALONG_K>(sum, a, b, step > 0);
                wait_for_products<1>();  // the previous stage's products are done: it is empty
                if (step > 0) done(before);
                before = empty + stage * 8;
            }
            advance();
        } while (++step < tile.steps);
        wait_for_products<0>();
        if (!APART) done(before);
        int top = tile.top + warp * HIGH;
        if constexpr (SPLITS > 1) {
            tile.z /= SPLITS;
            join<ROWS, COLUMNS, SPLITS, TURNED, HOLDS>(
                results(tile), HOLDS ? tile.top + row : top + threadIdx.x % 32 / 4, tile.left, sum,
                sums);
            return;
        }
        if constexpr (HOLDS) store_turned<COLUMNS>(results(tile), tile.top + row, tile.left, sum);
        else if constexpr (TURNED)
            store_across<COLUMNS>(results(tile), top, tile.left, sum,
                                  reinterpret_cast<float *>(patch));
        else if constexpr (BOXED)
            store_boxes<COLUMNS>(results(tile), boxes, top, tile.left, tile.z, sum, patch, turn);
        else store<COLUMNS>(results(tile), top, tile.left, sum, reinterpret_cast<float *>(patch));
    }
    if (BOXED) wait_for_stores<0>();    // their memory goes with the block
    if (BESIDE > 1) meet_in_cluster();  // so do barriers, at which another block arrives
}
