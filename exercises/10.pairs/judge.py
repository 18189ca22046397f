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
    small = np.where(rng.random(n) < 0.2, 2.0**-16, 1)  # sums that are subnormal
    special = np.inf, -np.inf, np.nan, 65504
    a, b = (planted(rng, (small * numbers(rng, n)).astype("f2"), *special) for _ in "ab")
    with np.errstate(over="ignore", invalid="ignore"):
        out = Out(a + b, dtype=np.float16)
    return Launch([In(a), In(b), out, np.int64(n)], blocks_for(-(-n // 8)), 256)


def far(rng):
    n = (1 << 32) + 77
    blocks, i = near(n, 1 << 20, n - 1, block=8 * 256)
    a, b = (numbers(rng, i.size).astype("f2") for _ in "ab")
    read = [Far(n, "f2", pieces(i, values)) for values in (a, b)]
    out = Far(n, "f2", expected=pieces(i, a + b))
    arguments = [*read, out, np.int64(n)]
    return Launch(arguments, blocks_for(n, 8 * 256), 256, what=f"n = {n:,}", blocks=blocks)


COUNTED = (1 << 16) + 3
BUDGET = {"ld.requests": 518, "st.requests": 259, "ld.sectors": 8198, "st.sectors": 4099}
PAIRS = "Add two halves in one instruction, all four pairs: __hadd2."
WITH = {r"(\bf16x2\b[\s\S]*){4}": PAIRS}
WITHOUT = {r"\bcvt[.\w]*\.f32\.f16\b": PAIRS}
LIMITS = {"instructions": 1.5}

ONE = "sum[k] = __hadd2(sum[k], other[k])"
LAST = "for (; i < n; ++i) out[i] = __hadd(a[i], b[i]);"
PAIR = (
    "*reinterpret_cast<half2 *>(out + i) = __hadd2(*reinterpret_cast<const half2 *>(a + i),"
    " *reinterpret_cast<const half2 *>(b + i));"
)
WRONG = {
    "three pairs of four": Wrong("values", {"k < PAIRS; ++k": "k < PAIRS - 1; ++k"}),
    "the first pair four times": Wrong("values", {"other[k])": "other[0])"}),
    "the low halves for both": Wrong("values", {"other[k])": "__low2half2(other[k]))"}),
    "the low half alone": Wrong(
        "values", {"other[k])": "__halves2half2(__low2half(other[k]), half(0)))"}
    ),
    "halves that have changed places": Wrong(
        "values", {"other[k])": "__lowhigh2highlow(other[k]))"}
    ),
    "held between 0 and 1": Wrong("values", {"__hadd2": "__hadd2_sat"}),
    "small sums are 0": Wrong(
        "values",
        {
            ONE: 'asm("add.ftz.f16x2 %0, %0, %1;" : "+r"(reinterpret_cast<unsigned &>(sum[k]))'
            ' : "r"(reinterpret_cast<unsigned &>(other[k])))'
        },
    ),
    "the rest by pairs, past an odd end": Wrong(
        "out of bounds", {LAST: f"for (; i < n; i += 2) {PAIR}"}
    ),
    "the rest by pairs, without an odd end": Wrong(
        "values", {LAST: f"for (; i + 1 < n; i += 2) {PAIR}"}
    ),
    "packs that begin anywhere": Wrong(
        "misaligned", {"if (i + 2 * PAIRS <= n) {": "if (i < n && n >= 8) { i = min(i, n - 8);"}
    ),
    "an int for the place": Wrong("n = 4,294,", {"long long i": "int i"}),
    "an int for the guard": Wrong("time", {"i + 2 * PAIRS <= n": "(int)i + 2 * PAIRS <= (int)n"}),
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
    "three pairs of four in one instruction": Wrong(
        "asked for",
        {
            ONE: f"{ONE.replace('= ', '= k == 3 ? half2(sum[k].x + other[k].x, sum[k].y + other[k].y) : ')}"
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
