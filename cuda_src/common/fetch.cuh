// Packs that are there or not. One instruction loads a pack or leaves zeros: of a condition in C++, nvcc
// makes a branch, or a condition for each element of the pack.
#pragma once
#include "common/word.cuh"

// Loads a word of what no thread writes, or leaves it as it was.
__device__ inline void load_if(bool is_there, uint4 &word, const void *from)
{
    asm("{ .reg .pred p; setp.ne.b32 p, %4, 0; @p ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%5]; }"
        : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w)
        : "r"(int(is_there)), "l"(from));
}
__device__ inline void load_if(bool is_there, uint2 &word, const void *from)
{
    asm("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.nc.v2.b32 {%0, %1}, [%3]; }"
        : "+r"(word.x), "+r"(word.y)
        : "r"(int(is_there)), "l"(from));
}
__device__ inline void load_if(bool is_there, unsigned &word, const void *from)
{
    asm("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p ld.global.nc.b32 %0, [%2]; }"
        : "+r"(word)
        : "r"(int(is_there)), "l"(from));
}
__device__ inline void load_if(bool is_there, unsigned short &word, const void *from)
{
    asm("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p ld.global.nc.b16 %0, [%2]; }"
        : "+h"(word)
        : "r"(int(is_there)), "l"(from));
}

// The pack at a place, or zeros if it is not there.
template <int N, typename T>
__device__ Packed<T, N> fetch_if(bool is_there, const T *from)
{
    typename Word<sizeof(T) * N>::type word = {};
    load_if(is_there, word, from);
    Packed<T, N> pack;
    memcpy(&pack, &word, sizeof word);
    return pack;
}
