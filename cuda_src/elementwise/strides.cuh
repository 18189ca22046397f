// How arrays of up to 7 dimensions are walked, the last dimension being the closest. Strides count
// elements; 0 is a dimension along which an array is repeated, and a negative one walks backwards.
#pragma once

constexpr int MOST_DIMENSIONS = 7;

struct Strides {
    long long dimensions;
    long long out[MOST_DIMENSIONS], a[MOST_DIMENSIONS], b[MOST_DIMENSIONS];
};

// Divides by a number that the host knew before the launch: helpers.shapes.magic(divisor).
struct Divider {
    unsigned divisor, multiplier, shift;
    __device__ unsigned operator()(unsigned n) const  // n < 2^31
    { return __umulhi(2 * n, multiplier) >> shift; }
};
