// Division by a number that the host knew, as a multiplication and a shift: helpers.shapes.magic. Index
// is int, or long long where what is divided may be 2^31 or more.
#pragma once

__device__ inline unsigned multiply_high(unsigned a, unsigned b) { return __umulhi(a, b); }
__device__ inline unsigned long long multiply_high(unsigned long long a, unsigned long long b)
{ return __umul64hi(a, b); }

template <typename Index>
struct Unsigned;
template <>
struct Unsigned<int> {
    using type = unsigned;
};
template <>
struct Unsigned<long long> {
    using type = unsigned long long;
};

template <typename Index>
struct Divider {
    using U = typename Unsigned<Index>::type;
    Index divisor;
    U multiplier;
    Index shift;
    __device__ Index quotient(Index n) const
    { return multiply_high(U(n) * 2, multiplier) >> shift; }
};
