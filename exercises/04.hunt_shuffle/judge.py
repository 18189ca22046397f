"""Sums of warps, the last of which is not whole."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import Far, In, Launch, Out, Wrong, blocks_for, numbers

SIZES = 1, 30, 31, 32, 33, 250, 257, 1009, 0


def launch(rng, n):
    x = numbers(rng, n)
    if n % 2:
        x[-1] = np.inf  # times 0 it is no 0
    rows = np.zeros(-(-n // 32) * 32, np.float32)
    rows[:n] = x
    rows = rows.reshape(-1, 32)
    tolerance = checks.sum_tolerance(np.where(np.isfinite(rows), rows, 0), axis=1, chain=5)
    out = Out(rows.sum(1, dtype=float), tolerance)
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    n, last = 2**31 + 5, 2**31
    row = rng.integers(-9, 9, 5).astype(np.float32)
    x = Far(n, np.float32, {0: row, last: row})
    out = Far(n // 32 + 1, np.float32, {}, {0: [row.sum()], last // 32: [row.sum()]})
    grid = blocks_for(n)
    blocks = [range(1), range(grid - 1, grid)]
    return Launch([x, out, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


SPARE = 128
COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "st.sectors": 512, "shuffles": (2560, 2560)}
LIMITS = {"instructions": 2}
WITHOUT = {
    r"\.shared\b": "Let the lanes exchange by shuffles: no shared memory is needed.",
    r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
}

WRONG = {
    "at twice the price": Wrong(
        "instructions of warps",
        {
            "float sum = i < n ? x[i] : 0.f;": 'float sum = i < n ? x[i] : 0.f; for (int k = 0; k < 100; ++k) asm volatile("mov.f32 %0, %0;" : "+f"(sum));'
        },
    ),
    "blocks of 256": Wrong(
        "blocks of 128", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "they leave first": Wrong("inactive", {"for (int by": "if (i >= n) return;\n    for (int by"}),
    "a mask of who is there": Wrong(
        "inactive|values|instructions",
        {
            "for (int by": "if (i >= n) return;\n    unsigned there = __activemask();\n    for (int by",
            "0xffffffff, sum": "there, sum",
        },
    ),
    "no guard to load": Wrong("out of bounds", {"i < n ? x[i] : 0.f": "x[i]"}),
    "no guard to store": Wrong("out of bounds", {" && i < n) out": ") out"}),
    "one step too few": Wrong("values", {"by = 16": "by = 8"}),
    "up": Wrong("values", {"__shfl_down_sync": "__shfl_up_sync"}),
    "zeros": Wrong("values", {"out[i / 32] = sum": "out[i / 32] = 0"}),
    "one for the missing": Wrong("values", {": 0.f": ": 1.f"}),
    "the last one, times 0": Wrong(
        "values", {"i < n ? x[i] : 0.f": "n ? x[min(i, n - 1)] * (i < n) : 0.f"}
    ),
    "whoever is there": Wrong("instructions: .*activemask", {"0xffffffff": "__activemask()"}),
    "through shared memory": Wrong(
        "instructions: .*shared",
        {
            "for (int by = 16": "__shared__ float s[256]; s[threadIdx.x] = sum; __syncwarp(); if (threadIdx.x % 32 == 0)"
            " for (int k = 1; k < 32; ++k) sum += s[threadIdx.x + k];\n    for (int by = 0"
        },
    ),
    "an int for the place": Wrong("n = 2,147,", {"long long i": "int i"}),
}
