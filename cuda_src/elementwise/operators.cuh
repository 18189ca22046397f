// Operators of two elements: op(a, b), computed in V. apply() calls them on elements of type T, in
// V = T, but of halves in float, and rounds once, to the type of the result. Integers wrap.
// A kernel gets its operator as its last argument: one byte, or the numbers that the operator holds.
#pragma once
#include <cuda_fp16.h>

template <typename T>
struct Computed {
    using type = T;
};
template <>
struct Computed<half> {
    using type = float;
};

template <typename Out, typename Op, typename T>
__device__ Out apply(Op op, T a, T b)
{
    using V = typename Computed<T>::type;
    return Out(op(V(a), V(b)));
}

template <typename V>
constexpr bool is_integer = V(1) / 2 == 0;

// In C++ only unsigned integers wrap; the lower bits of a sum or product do not depend on the sign.
template <typename V>
__device__ auto wrapping(V a)
{
    if constexpr (is_integer<V>) return (unsigned long long)a;
    else return a;
}

struct Add {
    template <typename V>
    __device__ V operator()(V a, V b) const
    { return V(wrapping(a) + wrapping(b)); }
};

struct Subtract {
    template <typename V>
    __device__ V operator()(V a, V b) const
    { return V(wrapping(a) - wrapping(b)); }
};

struct Multiply {
    template <typename V>
    __device__ V operator()(V a, V b) const
    { return V(wrapping(a) * wrapping(b)); }
};

// Of integers rounded down, so that a == divide(a, b) * b + mod(a, b); by zero 0.
struct Divide {
    template <typename V>
    __device__ V operator()(V a, V b) const
    {
        if constexpr (is_integer<V>) {
            if (b == 0) return 0;
            if (b == V(-1)) return V(0 - wrapping(a));  // the lowest one has no opposite: it wraps
            bool round_down = a % b != 0 && (a < 0) != (b < 0);
            return a / b - round_down;
        } else return a / b;
    }
};

// What is left has the divisor's sign. Of integers by zero 0, of floats NaN.
struct Mod {
    template <typename V>
    __device__ V operator()(V a, V b) const
    {
        if constexpr (is_integer<V>) {
            if (b == 0 || b == V(-1)) return 0;
            V left = a % b;
            return left != 0 && (left < 0) != (b < 0) ? left + b : left;
        } else {
            V left = fmod(a, b);
            if (left == 0) return copysign(V(0), b);
            return (left < 0) != (b < 0) ? left + b : left;
        }
    }
};

// What is left has the dividend's sign.
struct Fmod {
    template <typename V>
    __device__ V operator()(V a, V b) const
    {
        if constexpr (is_integer<V>) return b == 0 || b == V(-1) ? 0 : a % b;
        else return fmod(a, b);
    }
};

// a != a is true of NaN alone: a NaN in either is the result.
struct Maximum {
    template <typename V>
    __device__ V operator()(V a, V b) const
    { return a >= b || a != a ? a : b; }
};

struct Minimum {
    template <typename V>
    __device__ V operator()(V a, V b) const
    { return a <= b || a != a ? a : b; }
};

// Of integers exact, by squaring: base is a, a^2, a^4 ... 1/a^n is rounded to 0 unless a is 1 or -1.
struct Power {
    template <typename V>
    __device__ V operator()(V a, V b) const
    {
        if constexpr (is_integer<V>) {
            if (b < 0) return a == 1 ? 1 : a == V(-1) ? (b % 2 ? -1 : 1) : 0;
            auto result = wrapping(V(1)), base = wrapping(a);
            for (; b > 0; b /= 2, base *= base)
                if (b % 2) result *= base;
            return V(result);
        } else return pow(a, b);
    }
};

struct PRelu {
    template <typename V>
    __device__ V operator()(V a, V b) const
    { return a > 0 ? a : V(wrapping(a) * wrapping(b)); }
};

// The first, as it is: a copy.
struct First {
    template <typename V>
    __device__ V operator()(V a, V) const
    { return a; }
};

// Whatever is not 0 is true, NaN as well.
struct LogicalAnd {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return a != 0 && b != 0; }
};

struct LogicalOr {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return a != 0 || b != 0; }
};

struct LogicalXor {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return (a != 0) != (b != 0); }
};

struct Equal {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return a == b; }
};

struct NotEqual {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return a != b; }
};

struct Greater {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return a > b; }
};

struct GreaterEqual {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return a >= b; }
};

struct Less {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return a < b; }
};

struct LessEqual {
    template <typename V>
    __device__ bool operator()(V a, V b) const
    { return a <= b; }
};

// A product that is rounded by itself: the compiler does not make it and a sum one fused instruction.
__device__ inline float product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }

// Whether |a - b| <= atol + rtol * |b|, as NumPy has it: b is the one to compare with. R is float or
// double.
template <typename R>
struct IsClose {
    R rtol, atol;
    int equal_nan;
    template <typename V>
    __device__ bool operator()(V x, V y) const
    {
        R a = x, b = y;
        if (a == b || (equal_nan && a != a && b != b)) return true;
        return isfinite(b) && abs(a - b) <= atol + product(rtol, abs(b));
    }
};

// A float to int8: half away from zero, saturated; NaN is 0. Both steps round towards zero: if adding 0.5
// rounded up, 0.49999997 would become 1.
__device__ inline float half_away(float value) { return __fadd_rz(value, copysign(0.5f, value)); }

__device__ inline signed char quantised(float value)
{
    int code;
    asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(code) : "f"(half_away(value)));
    return code;
}

// Op on int8 codes, in float. A code stands for code * scale. The host makes two factors of the scales
// of a, b and the result (s0, s1, so): for a sum s0/so and s1/so, so that no thread divides.
template <typename Op>
struct Scaled {
    float a_scale, b_scale;
    __device__ float value(signed char a, signed char b) const
    { return Op()(product(a, a_scale), product(b, b_scale)); }
    __device__ signed char operator()(signed char a, signed char b) const
    { return quantised(value(a, b)); }
};

// The same where the result has to be scaled, too: of a product 1, 1 and s0*s1/so.
template <typename Op>
struct Rescaled {
    float a_scale, b_scale, scale;
    __device__ float value(signed char a, signed char b) const
    { return product(Op()(product(a, a_scale), product(b, b_scale)), scale); }
    __device__ signed char operator()(signed char a, signed char b) const
    { return quantised(value(a, b)); }
};
