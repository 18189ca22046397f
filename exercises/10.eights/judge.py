"""a s + b of halves, in packs of eight. s is a power of 2: the product is exact, fused or not."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = 1, 7, 8, 9, 31, 2048, 2051, 4103, 0


def launch(rng, n):
    a, b, s = numbers(rng, n, dtype="f2"), numbers(rng, n, dtype="f2"), np.float32(0.25)
    out = Out((a.astype("f4") * s + b.astype("f4")).astype("f2"), dtype=np.float16)
    grid = blocks_for(-(-n // 8))
    return Launch([In(a), In(b), out, s, np.int64(n)], grid, 256)


COUNTED = (1 << 16) + 3
BUDGET = {"ld.requests": 518, "st.requests": 259, "ld.sectors": 8198, "st.sectors": 4099}

ONE = "half(float(p.element[k]) * s + float(q.element[k]))"
WRONG = {
    "one at a time": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, all = gridDim.x * 256LL;"
        " for (; i < n; i += all) out[i] = half(float(a[i]) * s + float(b[i]));",
    ),
    "rounded twice": Wrong(
        "values", {ONE: "p.element[k] * half(s) * half(2) / half(2.01f) + q.element[k]"}
    ),
    "whole packs only": Wrong("values", {"k < n;": "k < n / 8 * 8;"}),
    "rounded up": Wrong("out of bounds", {"i < n / 8": "i < (n + 7) / 8"}),
    "seven of eight": Wrong("values", {"k < 8; ++k": "k < 7; ++k"}),
    "the first of each eight": Wrong("values", {"float(p.element[k])": "float(p.element[0])"}),
    "no guard": Wrong("out of bounds", {"i < n / 8": "true"}),
    "a + b": Wrong("values", {" * s": ""}),
    "zeros": Wrong("values", {ONE: "half(0.f)"}),
}
