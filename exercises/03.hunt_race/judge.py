"""Totals of blocks, with a barrier between any two levels of the tree."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    blocks = blocks_for(n)
    rows = np.zeros(256 * blocks, np.float32)
    rows[:n] = x
    rows = rows.reshape(blocks, 256)
    out = Out(rows.sum(1, dtype=float), checks.sum_tolerance(rows, axis=1, chain=8))
    return Launch([In(x), out, np.int64(n)], grid=blocks, block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "lds.conflicts": 0, "barriers": (4608, 5120)}

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
