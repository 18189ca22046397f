"""out = 2 x in packs of four."""

import numpy as np

from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    any_floats,
    blocks_for,
    numbers,
)

SIZES = 1, 3, 4, 5, 31, 1024, 1027, 4098, 0


def launch(rng, n):
    x = any_floats(rng, n)
    out = Out(2 * x, bits=True)
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(-(-n // 4)), block=256)


def far(rng):
    n, last = 2**33 + 3, 2**33 - 5  # packs of four: their number needs 64 bits, too
    x = numbers(rng, 8)
    grid = blocks_for(-(-n // 4))
    pieces = Far(n, np.float32, {0: x, last: x}), Far(n, np.float32, {}, {0: 2 * x, last: 2 * x})
    blocks = [range(1), range(grid - 2, grid)]
    return Launch([*pieces, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


SPARE = 128
COUNTED = (1 << 16) + 3
BUDGET = {"ld.requests": 515, "st.requests": 515, "ld.sectors": 8195, "st.sectors": 8195}

WRONG = {
    "blocks of 256": Wrong(
        "blocks of 128", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "one at a time": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, all = gridDim.x * (long long)blockDim.x;"
        " for (; i < n; i += all) out[i] = 2 * x[i];",
    ),
    "whole packs only": Wrong("values", {"k < n": "k < n / 4 * 4"}),
    "rounded up": Wrong("out of bounds", {"i < n / 4": "i < (n + 3) / 4"}),
    "three of four": Wrong("values", {"2 * p.w": "p.w"}),
    "out of step": Wrong("misaligned|values|out of bounds", {"(x)[i]": "(x + 1)[i]"}),
    "no guard": Wrong("out of bounds", {"i < n / 4": "true"}),
    "atomics, one by one": Wrong(
        "counters|inputs",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; for (long long k = 4 * i; k < 4 * i + 4 && k < n; ++k)"
        " atomicExch(out + k, 2 * atomicAdd((float *)x + k, 0.f));",
    ),
    "packs of two": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; for (long long k = 2 * i; k < 2 * i + 2; ++k) {"
        " if (k < n / 2) { float2 p = ((const float2 *)x)[k]; ((float2 *)out)[k] = {2 * p.x, 2 * p.y}; }"
        " else if (2 * k < n) out[2 * k] = 2 * x[2 * k]; }",
    ),
    "-0 lost": Wrong("values", {"2 * p.x,": "2 * p.x + 0.f,"}),
    "limited": Wrong("values", {"2 * p.y": "fminf(2 * p.y, 3e38f)"}),
    "an int for the place": Wrong("n = 8,589,", {"long long i": "int i", "long long k": "int k"}),
    "the tail is the last block's": Wrong(
        "blocks of 128", {"i == n / 4": "blockIdx.x == gridDim.x - 1 && i == n / 4"}
    ),
    "zeros": Wrong("values", {"{2 * p.x, 2 * p.y, 2 * p.z, 2 * p.w}": "{0, 0, 0, 0}"}),
}
