// What attention is asked for, and which share of it a block makes. Elements of a head lie one after the other.
#pragma once

struct Place {
    long long batch, head, row;  // strides
};

struct Problem {
    long long queries, keys;
    long long size, value_size;  // elements of a head: of queries and keys, of values
    long long heads, group;      // of queries, and how many share a head of keys
    long long units, together;   // FOLD heads of queries each; how many are made side by side
    long long diagonal;          // CAUSAL: query i sees the keys up to i + diagonal
    Place q, k, v, mask;
    long long mask_column;
};

// Maps a number to a unit and a tile of its lines. Units that run together share keys and values in L2; with
// LAST_FIRST, the last lines come first, because they take longest.
template <int ROWS, bool LAST_FIRST>
struct TileOf {
    long long unit, first;
    __device__ TileOf(const Problem &p, long long lines, unsigned number)
    {
        unsigned tiles = (lines + ROWS - 1) / ROWS, round = unsigned(p.together) * tiles;
        unsigned before = number / round * unsigned(p.together), within = number % round;
        unsigned beside = min(unsigned(p.together), unsigned(p.units) - before);
        unsigned tile = within / beside;
        unit = before + within % beside;
        first = (LAST_FIRST ? tiles - 1 - tile : tile) * (long long)ROWS;
    }
};

// The lines of a unit are its queries, of FOLD heads in turn.
template <int ROWS, int FOLD, bool CAUSAL>
struct Stretch {
    long long batch, head, first, lines, begin, end;  // lines of the unit; keys of this block

    Stretch() = default;
    __device__ Stretch(const Problem &p, int keys_of_tile, unsigned number, int split, int splits)
    {
        lines = p.queries * FOLD;
        TileOf<ROWS, CAUSAL> tile(p, lines, number);
        first = tile.first;
        unsigned unit = tile.unit, units = unsigned(p.heads) / FOLD;  // of a batch
        batch = unit / units, head = unit % units * FOLD;
        long long last = (min(lines, first + ROWS) - 1) / FOLD;
        long long seen = CAUSAL ? max(0LL, min(p.keys, last + p.diagonal + 1)) : p.keys;
        unsigned tiles = unsigned(seen + keys_of_tile - 1) / keys_of_tile;
        long long each = (tiles + splits - 1) / splits * (long long)keys_of_tile;
        begin = min(seen, split * each), end = min(seen, begin + each);
    }
    // Where a line's results begin, in lines of results.
    __device__ long long result(const Problem &p, int line) const
    { return (batch * p.heads + head + (first + line) % FOLD) * p.queries + (first + line) / FOLD; }
};

constexpr float LOG2_E = 1.44269504f, LN_2 = 0.693147181f;

__device__ inline float power_of_two(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

__device__ inline float added(bool visible) { return visible ? 0 : -INFINITY; }
template <typename Number>
__device__ float added(Number x)
{ return float(x); }

// What a maximum is taken from: -inf - -inf would be NaN.
__device__ inline float base(float peak) { return peak == -INFINITY ? 0 : peak; }
