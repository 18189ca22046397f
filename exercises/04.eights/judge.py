"""Sums of groups of eight lanes."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    rows = numbers(rng, n // 8, 8)
    rows *= 10 ** rng.uniform(-9, 9, (n // 8, 1)).astype(np.float32)
    out = Out(rows.sum(1, dtype=float), checks.sum_tolerance(rows, axis=1, chain=3))
    return Launch([In(rows.ravel()), out, np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    n, last = 2**31 + 8, 2**31
    row = rng.integers(-9, 9, 8).astype(np.float32)
    x = Far(n, np.float32, {0: row, last: row})
    out = Far(n // 8, np.float32, {}, {0: [row.sum()], last // 8: [row.sum()]})
    grid = blocks_for(n)
    blocks = [range(1), range(grid - 1, grid)]
    return Launch([x, out, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(8, 24, 32, 40, 256, 264, 1000, 0),
    far=far,
    spare=128,
    undefined=BY_ATOMICS,
    counted=1 << 14,
    budget={"ld.sectors": 2048, "st.sectors": 512, "shuffles": (1536, 3584)},
    idea={"shuffles": (1536, "Add up by shuffles.")},
    without={
        r"\.shared\b": "Let the lanes exchange by shuffles: no shared memory is needed.",
        r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
    },
    survivors={
        ": 1.f": "groups are whole: a lane past the end is in a group that nobody stores",
        "mask = 5": "5, 2 and 1 lead from each lane to all others of its group, too",
        "% 8 != 0": "all lanes of the group have the same sum",
        "% 8 == 1": "all lanes of the group have the same sum",
        "% 7 == 0": "there is one in each group, and all of its lanes have the same sum",
        "threadIdx.y": "all lanes of the group have the same sum",
    },
)
