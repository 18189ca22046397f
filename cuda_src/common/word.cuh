// So many bytes as they come from memory: a pack that moves in one access, whatever the compiler makes of
// its elements.
#pragma once
#include "common/packed.cuh"

template <int BYTES>
struct Word;
template <>
struct Word<16> {
    using type = uint4;
};
template <>
struct Word<8> {
    using type = uint2;
};
template <>
struct Word<4> {
    using type = unsigned;
};
template <>
struct Word<2> {
    using type = unsigned short;
};
template <>
struct Word<1> {
    using type = unsigned char;
};

// Writes a pack.
template <typename T, int N>
__device__ void put(T *to, const Packed<T, N> &pack)
{
    typename Word<sizeof(T) * N>::type word;
    memcpy(&word, &pack, sizeof word);
    *reinterpret_cast<decltype(word) *>(to) = word;
}

// Writes a pack that is not read again soon: it is the first to leave the cache.
template <typename T, int N>
__device__ void stream(T *to, const Packed<T, N> &pack)
{
    typename Word<sizeof(T) * N>::type word;
    memcpy(&word, &pack, sizeof word);
    __stcs(reinterpret_cast<decltype(word) *>(to), word);
}

// A pack on its way from memory, from an aligned address.
template <bool SHIFTED, typename T, int N>
struct Piece {
    Packed<T, N> pack;
    __device__ void load(const T *from, const T *) { pack = *(const Packed<T, N> *)from; }
    __device__ Packed<T, N> get() const { return pack; }
};

// 16 bytes from any address below `end`. Lanes of a warp take neighbours: each loads the aligned word that its
// own begin in, and has the rest from the next lane. The last lane is there for this only.
template <typename T, int N>
struct Piece<true, T, N> {
    uint4 word;
    int bytes;  // how far into the word its own begin
    __device__ void load(const T *from, const T *end)
    {
        bytes = (unsigned long long)from % 16;
        auto half = (const unsigned short *)from - bytes / 2, last = (const unsigned short *)end;
        if (half + 8 <= last) {
            word = *(const uint4 *)half;
            return;
        }
        unsigned part[4] = {};  // whole words, so that nobody waits for a load to take it apart
        for (int i = 0; i < 8; ++i)
            if (half + i < last) part[i / 2] |= half[i] << i % 2 * 16;
        memcpy(&word, part, sizeof word);
    }
    __device__ Packed<T, N> get() const
    {
        unsigned part[8];
        memcpy(part, &word, sizeof word);
        for (int i = 0; i < 4; ++i) part[4 + i] = __shfl_down_sync(0xffffffff, part[i], 1);
        for (int i = 0; i < 6 && (bytes & 8); ++i) part[i] = part[i + 2];
        for (int i = 0; i < 5 && (bytes & 4); ++i) part[i] = part[i + 1];
        for (int i = 0; i < 4; ++i) part[i] = __funnelshift_r(part[i], part[i + 1], bytes % 4 * 8);
        Packed<T, N> pack;
        memcpy(&pack, part, sizeof pack);
        return pack;
    }
};
