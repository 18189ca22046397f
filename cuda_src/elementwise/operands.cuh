// What an elementwise kernel reads: PACK elements at a time that are neighbours in the result.
#pragma once
#include "common/packed.cuh"
#include "common/word.cuh"
#include "elementwise/fours.cuh"
#include "elementwise/operators.cuh"

enum Kind {
    NUMBER,    // one number, passed in place of an address
    REPEATED,  // one element, read from memory
    PACKED,    // PACK neighbours, aligned to a pack
    SPACED     // PACK elements that lie a stride apart
};

template <typename T>
union Operand {
    const T *address;
    T number;
};

// PACK elements in registers. They stay in whole words until they are used: int8 and bool that wait one by
// one would take a register each.
template <int KIND, int PACK, typename T>
struct Held {
    typename Word<sizeof(T) * PACK>::type word;
    __device__ Packed<T, PACK> get() const
    {
        Packed<T, PACK> p;
        memcpy(&p, &word, sizeof p);
        return p;
    }
    __device__ void set(const Packed<T, PACK> &p) { memcpy(&word, &p, sizeof p); }

    template <typename Index>
    __device__ void load(Operand<T> x, Index place, Index stride)
    {
        if constexpr (KIND == PACKED)
            word = *reinterpret_cast<const decltype(word) *>(x.address + place);
        else {
            Packed<T, PACK> p;
            for (int k = 0; k < PACK; ++k) p[k] = x.address[place + k * stride];
            set(p);
        }
    }
};

template <int PACK, typename T>
struct Single {
    T element;
    __device__ Packed<T, PACK> get() const
    {
        Packed<T, PACK> p;
        for (int k = 0; k < PACK; ++k) p[k] = element;
        return p;
    }
};

template <int PACK, typename T>
struct Held<NUMBER, PACK, T> : Single<PACK, T> {
    template <typename Index>
    __device__ void load(Operand<T> x, Index, Index)
    { this->element = x.number; }
};

template <int PACK, typename T>
struct Held<REPEATED, PACK, T> : Single<PACK, T> {
    template <typename Index>
    __device__ void load(Operand<T> x, Index place, Index)
    { this->element = x.address[place]; }
};

template <int KIND, int PACK, typename T, typename Index>
__device__ void store(T *out, Index place, Index stride, Held<PACKED, PACK, T> result)
{
    if constexpr (KIND == PACKED)
        *reinterpret_cast<decltype(result.word) *>(out + place) = result.word;
    else
        for (int k = 0; k < PACK; ++k) out[place + k * stride] = result.get()[k];
}

// op on each pair of elements of two packs.
template <typename Out, typename Op, typename T, int PACK>
__device__ Held<PACKED, PACK, Out> apply(Op op, Packed<T, PACK> p, Packed<T, PACK> q)
{
    Held<PACKED, PACK, Out> result;
    if constexpr (in_fours<Op, T> && PACK % 4 == 0) {
        unsigned a[PACK / 4], b[PACK / 4], out[PACK / 4];
        memcpy(a, &p, PACK);
        memcpy(b, &q, PACK);
        for (int k = 0; k < PACK / 4; ++k) out[k] = four(op, a[k], b[k]);
        memcpy(&result.word, out, PACK);
    } else {
        Packed<Out, PACK> out;
        for (int k = 0; k < PACK; ++k) out[k] = apply<Out>(op, p[k], q[k]);
        result.set(out);
    }
    return result;
}
