// Maximum and sum of a softmax in one operator: sum counts exp(x - peak), and two of them merge.
#pragma once
#include "common/operators.cuh"

template <typename A>
struct Running {
    A peak, sum;
};

template <typename A>
__device__ Running<A> __shfl_xor_sync(unsigned mask, Running<A> a, int lanes)
{ return {__shfl_xor_sync(mask, a.peak, lanes), __shfl_xor_sync(mask, a.sum, lanes)}; }

// A sum of 0 says that nothing was seen but -inf, if anything.
template <typename V>
struct Softmax {
    using A = Running<V>;
    __device__ A initial() const { return {-INFINITY, 0}; }
    // What x alone sums up to, exp(x - x): NaN for inf.
    template <typename T>
    __device__ A from(T x, long long) const
    { return {V(x), V(x) == -INFINITY ? V(0) : V(1) + V(0) * V(x)}; }
    __device__ A from(A a, long long) const { return a; }
    __device__ A operator()(A a, A b) const
    {
        if (b.sum == 0) return a;  // -inf - -inf would be NaN
        if (a.sum == 0) return b;
        V peak = max(a.peak, b.peak);  // drops NaN, which the sum keeps
        return {peak, a.sum * exp(a.peak - peak) + b.sum * exp(b.peak - peak)};
    }
};

// What a sum counts once the maximum is known to be `peak`.
template <typename V>
__device__ V rescaled(Running<V> a, V peak)
{ return a.sum == 0 ? V(0) : a.sum * exp(a.peak - peak); }
