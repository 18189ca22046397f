"""Totals of stretches of 512, two elements a thread."""

import numpy as np

from helpers.exercises.launches import In, Launch, Wrong, blocks_for, numbers, totals

SIZES = 1, 33, 256, 257, 511, 513, 1009, 0


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), totals(x, 512), np.int64(n)], grid=blocks_for(n, 512), block=256)


COUNTED = 1 << 15
BUDGET = {"ld.sectors": 4096, "lds.conflicts": 0, "barriers": (4608, 5120), "st.requests": 64}

WRONG = {
    "one of the two": Wrong("values", {"first + second": "first"}),
    "zeros": Wrong("values", {"= s[0];": "= 0;"}),
    "one guard for both": Wrong(
        "out of bounds", {"i + 256 < n ? x[i + 256]": "i < n ? x[i + 256]"}
    ),
    "no guard": Wrong("out of bounds", {"i < n ? x[i] : 0.f, ": "x[i], "}),
    "both at once or none": Wrong("values", {"i < n ? x[i]": "i + 256 < n ? x[i]"}),
    "blocks overlap": Wrong("values", {"blockIdx.x * 512LL": "blockIdx.x * 256LL"}),
    "neighbours by one thread": Wrong(
        "counters",
        {"blockIdx.x * 512LL + tid": "blockIdx.x * 512LL + 2 * tid", "i + 256": "i + 1"},
    ),
    "no barrier before the tree": Wrong(
        "race", {"first + second;\n    __syncthreads();": "first + second;"}
    ),
}

SURVIVORS = {
    "tid == 1": "another thread writes the same, after the same barrier",
}
