"""Sums of columns, whose rows eight threads share."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *

BLOCK = 32, 8


def launch(rng, size):
    rows, columns = size
    x = numbers(rng, rows, columns) * scales(rng, columns)
    x[:, ::2] = abs(x[:, ::2])  # rows that are left out show, however many there are
    if x.size > 15:
        x[-1, rng.random(columns) < 0.2] = rng.choice([-np.inf, np.inf])
    out = Out(x.sum(0, dtype=float), checks.sum_tolerance(x, axis=0))
    arguments = [In(x), out, np.int64(rows), np.int64(columns)]
    return Launch(arguments, max(1, -(-columns // 32)), BLOCK, what=f"{rows:,} x {columns:,}")


def far(rng):
    rows, columns = 9, (1 << 28) + 7
    last = columns // 32
    column = np.arange(32 * last, columns)
    read, x = strewn(rng, rows * columns, np.arange(rows)[:, None] * columns + column)
    sums, tolerance = x.sum(0, dtype=float), checks.sum_tolerance(x, axis=0).max()
    out = Far(columns, "f4", expected=pieces(column, sums), tolerance=tolerance)
    arguments = [read, out, np.int64(rows), np.int64(columns)]
    what = f"{rows} x {columns:,}"
    return Launch(arguments, last + 1, BLOCK, what=what, blocks=[range(last, last + 1)])


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (8, 32), (33, 5), (2, 1001), (100, 257), (70_003, 2), (7, 0), (0, 5)),
    drawn=lambda rng: rng.integers(((5, 33), (5, 330)), ((200, 300), (40, 600))).tolist(),
    large=((200_000, 3),),
    far=far,
    undefined=BY_ATOMICS,
    counted=(2048, 128),  # rows enough that a warp too few shows in the busiest one's share
    budget={"ld.sectors": 32_768, "st.sectors": 16, "lds.conflicts": 0, "sts.conflicts": 0},
    limits={"barriers": (4 * 4 * 8,)},  # a tree over the eight has three, and one more before it
    warps=1.1,  # the warp that adds the eight does a little more, each of seven 8 / 7
)
