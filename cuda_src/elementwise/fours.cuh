// Operators that take four int8 at a time, all of a word: a few instructions for four elements where
// taking them out, one by one, and putting them back costs more than the operation.
#pragma once
#include "elementwise/operators.cuh"

__device__ inline unsigned four(Add, unsigned a, unsigned b) { return __vadd4(a, b); }
__device__ inline unsigned four(Subtract, unsigned a, unsigned b) { return __vsub4(a, b); }
__device__ inline unsigned four(Maximum, unsigned a, unsigned b) { return __vmaxs4(a, b); }
__device__ inline unsigned four(Minimum, unsigned a, unsigned b) { return __vmins4(a, b); }
__device__ inline unsigned four(Equal, unsigned a, unsigned b) { return __vseteq4(a, b); }
__device__ inline unsigned four(NotEqual, unsigned a, unsigned b) { return __vsetne4(a, b); }
__device__ inline unsigned four(Greater, unsigned a, unsigned b) { return __vsetgts4(a, b); }
__device__ inline unsigned four(GreaterEqual, unsigned a, unsigned b) { return __vsetges4(a, b); }
__device__ inline unsigned four(Less, unsigned a, unsigned b) { return __vsetlts4(a, b); }
__device__ inline unsigned four(LessEqual, unsigned a, unsigned b) { return __vsetles4(a, b); }

// Two floats to int8, saturated, below the lower half of what came before: one instruction.
__device__ inline unsigned quantised(float low, float high, unsigned before)
{
    unsigned word;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
        : "=r"(word)
        : "r"(__float2int_rz(half_away(high))), "r"(__float2int_rz(half_away(low))), "r"(before));
    return word;
}

// Of Scaled and Rescaled.
template <typename Op>
__device__ auto four(Op op, unsigned a, unsigned b) -> decltype(op.value(0, 0), 0u)
{
    float value[4];
    for (int k = 0; k < 4; ++k)
        value[k] = op.value((signed char)(a >> 8 * k), (signed char)(b >> 8 * k));
    return quantised(value[0], value[1], quantised(value[2], value[3], 0));
}

// Whether there is a four() for elements of type T.
template <typename Op, typename T>
constexpr bool in_fours = false;
template <typename Op>
constexpr auto has_four(int) -> decltype(four(Op(), 0u, 0u), true)
{ return true; }
template <typename Op>
constexpr bool has_four(long)
{ return false; }
template <typename Op>
constexpr bool in_fours<Op, signed char> = has_four<Op>(0);
