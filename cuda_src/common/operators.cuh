// Operators: what a reduction folds with. A is the accumulator, often wider than the input.
//   initial()       the neutral value: op(initial(), a) == a
//   from(x, i)      what element i of the input contributes
//   op(a, b)        associative and commutative, so that threads may fold in any grouping
//   finish(a, n)    the result, once n elements are folded
#pragma once
#include <cuda_fp16.h>

template <typename A>
struct Operator {
    template <typename T>
    __device__ A from(T x, long long) const
    { return A(x); }
    __device__ A finish(A a, long long) const { return a; }
};

template <typename A>
struct Sum : Operator<A> {
    __device__ A initial() const { return A(0); }
    __device__ A operator()(A a, A b) const { return a + b; }
};

template <typename A>
struct Mean : Sum<A> {
    __device__ A finish(A a, long long n) const { return a / A(n); }
};

template <typename A>
struct Prod : Operator<A> {
    __device__ A initial() const { return A(1); }
    __device__ A operator()(A a, A b) const { return a * b; }
};

template <typename A>
struct Limit {
    static constexpr A lowest = -INFINITY, highest = INFINITY;
};
template <>
struct Limit<int> {
    static constexpr int lowest = -2147483647 - 1, highest = 2147483647;
};

// a != a is true of NaN alone: as in NumPy and PyTorch, a NaN anywhere is the result.
template <typename A>
struct Max : Operator<A> {
    __device__ A initial() const { return Limit<A>::lowest; }
    __device__ A operator()(A a, A b) const { return a > b || a != a ? a : b; }
};

template <typename A>
struct Min : Operator<A> {
    __device__ A initial() const { return Limit<A>::highest; }
    __device__ A operator()(A a, A b) const { return a < b || a != a ? a : b; }
};

// A value and where it was found. No constructors, so that it can live in shared memory.
template <typename V>
struct Indexed {
    V value;
    long long index;
};

template <typename V>
__device__ Indexed<V> __shfl_xor_sync(unsigned mask, Indexed<V> a, int lanes)
{ return {__shfl_xor_sync(mask, a.value, lanes), __shfl_xor_sync(mask, a.index, lanes)}; }

// Where the best value is. NaN is better than any number; of equals the first is.
template <typename V, bool GREATEST>
struct ArgBest {
    using A = Indexed<V>;
    __device__ A initial() const
    { return {GREATEST ? Limit<V>::lowest : Limit<V>::highest, 0x7fffffffffffffff}; }
    template <typename T>
    __device__ A from(T x, long long i) const
    { return {V(x), i}; }
    __device__ A from(A a, long long) const { return a; }
    __device__ A operator()(A a, A b) const
    {
        bool a_nan = a.value != a.value, b_nan = b.value != b.value;
        if (a_nan != b_nan) return a_nan ? a : b;
        if (a.value < b.value) return GREATEST ? b : a;
        if (a.value > b.value) return GREATEST ? a : b;
        return a.index < b.index ? a : b;
    }
    __device__ long long finish(A a, long long) const { return a.index; }
};
template <typename V>
using ArgMax = ArgBest<V, true>;
template <typename V>
using ArgMin = ArgBest<V, false>;
