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

template <typename V>
struct Softmax {
    using A = Running<V>;
    __device__ A initial() const { return {-INFINITY, 0}; }
    template <typename T>
    __device__ A from(T x, long long) const
    { return {V(x), 1}; }
    __device__ A from(A a, long long) const { return a; }
    __device__ A operator()(A a, A b) const
    {
        if (b.peak == -INFINITY) return a;  // it adds nothing, and -inf - -inf would be NaN
        if (a.peak == -INFINITY) return b;
        V peak = Max<V>()(a.peak, b.peak);
        return {peak, a.sum * exp(a.peak - peak) + b.sum * exp(b.peak - peak)};
    }
};
