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
