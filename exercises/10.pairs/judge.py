"""Sums of halves, two in an instruction: a step of the course."""

import numpy as np

from helpers.exercises.for_judges import *


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


PAIRS = "Add two halves in one instruction, all four pairs: __hadd2."


JUDGE = Judge(
    launch=launch,
    sizes=(1, 7, 8, 9, 2051, 0),
    far=far,
    ours="elementwise/half2_add.cu",
    spare=128,
    undefined=SCALED,
    counted=(1 << 16) + 3,
    budget={"ld.requests": 518, "st.requests": 259, "ld.sectors": 8198, "st.sectors": 4099},
    limits={"instructions": 1.5},
    without={r"\bcvt[.\w]*\.f32\.f16\b": PAIRS},
    checks=[PtxHas({r"(\bf16x2\b[\s\S]*){4}": PAIRS})],
    inputs=same_place,
    survivors={
        "i + 2 * PAIRS < n": "the last pack is added one by one, if it is whole: one thread of all"
    },
)
