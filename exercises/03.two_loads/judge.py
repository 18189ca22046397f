"""Totals of stretches of 512, two elements a thread."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    Far,
    In,
    Launch,
    Wrong,
    blocks_for,
    far_launch,
    far_numbers,
    far_totals,
    numbers,
    totals,
)

SIZES = 1, 33, 256, 257, 511, 513, 1009, 0


def drawn(rng):
    return int(rng.integers(34, 1001)), int(rng.integers(5121, 8000))


def launch(rng, n):
    x = numbers(rng, n)
    if n > 256:
        x[-1] = np.inf  # times 0 it is no zero
    return Launch([In(x), totals(x, 512), np.int64(n)], grid=blocks_for(n, 512), block=256)


def far(rng):
    x = far_numbers(rng, 512)
    expected = far_totals(x, lambda v: totals(v, 512).expected, 512)
    tolerance = max(totals(v, 512).tolerance.max() for v in x.pieces.values())
    out = Far(2**25, np.float32, expected=expected, tolerance=tolerance)
    return far_launch([x, out, np.int64(FAR)], 512)


COUNTED = 1 << 15
BUDGET = {"ld.sectors": 4096, "lds.conflicts": 0, "barriers": (4608, 5120), "st.requests": 64}
BUDGET |= {"lds.wavefronts": (1600, 2432)}

WRONG = {
    "one of the two": Wrong("values", {"first + second": "first"}),
    "zeros": Wrong("values", {"= s[0];": "= 0;"}),
    "one guard for both": Wrong(
        "out of bounds", {"i + 256 < n ? x[i + 256]": "i < n ? x[i + 256]"}
    ),
    "no guard": Wrong("out of bounds", {"i < n ? x[i] : 0.f, ": "x[i], "}),
    "the last one times 0": Wrong(
        "values",
        {"i + 256 < n ? x[i + 256] : 0.f": "n ? x[min(i + 256, n - 1)] * (i + 256 < n) : 0.f"},
    ),
    "both into shared memory": Wrong(
        "wavefronts",
        {
            "s[256]": "s[512]",
            "s[tid] = first + second": "s[tid] = first, s[tid + 256] = second",
            "half = 128": "half = 256",
        },
    ),
    "one thread adds": Wrong(
        "wavefronts",
        {
            "for (int half = 128; half > 0; half /= 2) {": "if (tid == 0) for (int k = 1; k < 256; ++k)"
            " s[0] += s[k]; for (int half = 0; half > 0; half /= 2) {"
        },
    ),
    "atomics for the tree": Wrong(
        "atomics", {"s[tid] += s[tid + half]": "atomicAdd(s + tid, s[tid + half])"}
    ),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
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
