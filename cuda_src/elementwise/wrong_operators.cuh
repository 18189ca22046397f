// WRONG on purpose: operators that are right for most operands.
#pragma once
#include "elementwise/operators.cuh"

// Through float, which holds integers up to 2^24 only.
struct WrongPower {
    template <typename V>
    __device__ V operator()(V a, V b) const
    { return V(powf(a, b)); }
};

// Takes 0 and 1e-7 for equal, and, where neighbouring floats lie further apart than that, none but the
// same: above 16 it is the plain a == b.
struct WrongEqual {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return fabsf(a - b) < 1e-6f; }
};

// The greater code is not the greater number, unless both have one scale.
struct WrongScaledMaximum {
    float a_scale, b_scale;
    __device__ signed char operator()(signed char a, signed char b) const
    { return quantised(a > b ? product(a, a_scale) : product(b, b_scale)); }
};

// Half goes up instead of away from zero; 0.49999997 + 0.5 is rounded to 1; 130 becomes -126.
struct WrongScaledAdd {
    float a_scale, b_scale;
    __device__ signed char operator()(signed char a, signed char b) const
    { return (signed char)(int)floorf(a * a_scale + b * b_scale + 0.5f); }
};
