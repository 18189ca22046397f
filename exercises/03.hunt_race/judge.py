"""Totals of blocks, with a barrier between any two levels of the tree."""

import numpy as np

from helpers.exercises.launches import In, Launch, Wrong, blocks_for, numbers, totals


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), totals(x), np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "lds.conflicts": 0, "barriers": (4608, 5120), "st.requests": 64}

LEVEL = "if (tid < half) s[tid] += s[tid + half];\n        __syncthreads();"
WRONG = {
    "volatile": Wrong(
        "syncwarp|race",
        {
            "__shared__ float s": "volatile __shared__ float s",
            LEVEL: "if (tid < half) s[tid] += s[tid + half];",
        },
    ),
    "no barrier at all": Wrong("race", {LEVEL: "if (tid < half) s[tid] += s[tid + half];"}),
    "a barrier in the if": Wrong(
        "divergent", {LEVEL: "if (tid < half) { s[tid] += s[tid + half]; __syncthreads(); }"}
    ),
    "the last level left out": Wrong("values", {"half > 0;": "half > 1;"}),
    "zeros": Wrong("values", {"= s[0];": "= 0;"}),
    "the first block's total": Wrong("values", {"blockIdx.x * (long long)blockDim.x + tid": "tid"}),
    "no guard": Wrong("out of bounds", {"i < n ? x[i] : 0.f": "x[i]"}),
}

SURVIVORS = {
    "tid == 1": "another thread writes the same, after the same barrier",
}
