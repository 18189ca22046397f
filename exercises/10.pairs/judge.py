"""Sums of halves, two in an instruction: a step of the course."""

import numpy as np

from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    elementwise,
    near,
    numbers,
    pieces,
    planted,
)

OURS = "elementwise/half2_add.cu"
SIZES = 1, 7, 8, 9, 2051, 0
inputs = elementwise


def launch(rng, n):
    a, b = (planted(rng, numbers(rng, n).astype("f2"), np.inf, 65504, 6e-8) for _ in "ab")
    with np.errstate(over="ignore", invalid="ignore"):
        out = Out(a + b, dtype=np.float16)
    return Launch([In(a), In(b), out, np.int64(n)], blocks_for(-(-n // 8)), 256)


def far(rng):
    n = (1 << 32) + 77
    blocks, i = near(n, n - 1, block=8 * 256)
    a, b = (numbers(rng, i.size).astype("f2") for _ in "ab")
    read = [Far(n, "f2", pieces(i, values)) for values in (a, b)]
    out = Far(n, "f2", expected=pieces(i, a + b))
    arguments = [*read, out, np.int64(n)]
    return Launch(arguments, blocks_for(n, 8 * 256), 256, what=f"n = {n:,}", blocks=blocks)


COUNTED = (1 << 16) + 3
BUDGET = {"ld.requests": 518, "st.requests": 259, "ld.sectors": 8198, "st.sectors": 4099}
PAIRS = "Add two halves in one instruction: __hadd2."
WITH = {r"\bf16x2\b": PAIRS}
WITHOUT = {r"\bcvt[.\w]*\.f32\.f16\b": PAIRS}
LIMITS = {"instructions": 1.35}

ONE = "sum[k] = __hadd2(sum[k], other[k])"
LAST = "for (; i < n; ++i) out[i] = __hadd(a[i], b[i]);"
WRONG = {
    "three pairs of four": Wrong("values", {"k < PAIRS; ++k": "k < PAIRS - 1; ++k"}),
    "the first pair four times": Wrong("values", {"other[k])": "other[0])"}),
    "whole packs only": Wrong("values", {LAST: "{}"}),
    "no guard": Wrong("out of bounds", {"if (i + 2 * PAIRS <= n) {": "if (true) {"}),
    "by way of float": Wrong(
        "instructions",
        {
            ONE: (
                "sum[k] = __floats2half2_rn(__low2float(sum[k]) + __low2float(other[k]),"
                " __high2float(sum[k]) + __high2float(other[k]))"
            )
        },
    ),
    "one pair of four": Wrong(
        "instructions",
        {
            ONE: f"{ONE.replace('= ', '= k ? half2(sum[k].x + other[k].x, sum[k].y + other[k].y) : ')}"
        },
    ),
    "half by half": Wrong(
        "instructions", {ONE: "sum[k] = half2(sum[k].x + other[k].x, sum[k].y + other[k].y)"}
    ),
    "one at a time": Wrong(
        "counters",
        {
            "if (i + 2 * PAIRS <= n) {": (
                "if (i + 2 * PAIRS <= n) { for (int k = 0; k < 8; ++k) out[i + k] = __hadd(a[i + k], b[i + k]);"
                " return;"
            )
        },
    ),
}

SURVIVORS = {
    "i + 2 * PAIRS < n": "the last pack is added one by one, if it is whole: one thread of all",
}
