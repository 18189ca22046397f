"""out = 2 x in packs of four."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = 1, 3, 4, 5, 31, 1024, 1027, 4098, 0


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), Out(2 * x), np.int64(n)], grid=blocks_for(-(-n // 4)), block=256)


COUNTED = (1 << 16) + 3
BUDGET = {"ld.requests": 515, "st.requests": 515, "ld.sectors": 8195, "st.sectors": 8195}

WRONG = {
    "one at a time": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, all = gridDim.x * 256LL;"
        " for (; i < n; i += all) out[i] = 2 * x[i];",
    ),
    "whole packs only": Wrong("values", {"k < n": "k < n / 4 * 4"}),
    "rounded up": Wrong("out of bounds", {"i < n / 4": "i < (n + 3) / 4"}),
    "three of four": Wrong("values", {"2 * p.w": "p.w"}),
    "out of step": Wrong("misaligned|values|out of bounds", {"(x)[i]": "(x + 1)[i]"}),
    "no guard": Wrong("out of bounds", {"i < n / 4": "true"}),
    "zeros": Wrong("values", {"{2 * p.x, 2 * p.y, 2 * p.z, 2 * p.w}": "{0, 0, 0, 0}"}),
}
