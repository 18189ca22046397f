"""Sums of warps, the last of which is not whole."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


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


JUDGE = Judge(
    launch=launch,
    sizes=(1, 30, 31, 32, 33, 250, 257, 1009, 0),
    far=far,
    spare=128,
    undefined=BY_ATOMICS,
    counted=1 << 14,
    budget={"ld.sectors": 2048, "st.sectors": 512, "shuffles": (2560, 2560)},
    limits={"instructions": 2},
    without={
        r"\.shared\b": "Let the lanes exchange by shuffles: no shared memory is needed.",
        r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
    },
)
