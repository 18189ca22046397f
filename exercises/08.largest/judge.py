"""The greatest magnitude of each column."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    rows, columns = size
    x = numbers(rng, rows, columns) * scales(rng, columns)
    x = planted(rng, x, 1e-42, np.inf, -np.inf)
    x[:, rng.random(columns) < 0.1] = 0
    arguments = [In(x), Out(np.abs(x).max(0, initial=0)), np.int64(rows), np.int64(columns)]
    return Launch(arguments, blocks_for(columns), 256, what=f"{rows:,} x {columns:,}")


def far(rng):
    rows, columns = 2, (1 << 31) + 77
    blocks, column = near(columns, columns - 1)
    read, x = strewn(rng, rows * columns, np.arange(rows)[:, None] * columns + column)
    out = Far(columns, "f4", expected=pieces(column, np.abs(x).max(0)))
    arguments = [read, out, np.int64(rows), np.int64(columns)]
    what = f"{rows} x {columns:,}"
    return Launch(arguments, blocks_for(columns), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (33, 5), (7, 300), (100, 257), (70_003, 2), (7, 0), (0, 5)),
    drawn=lambda rng: rng.integers(((5, 33), (5, 2561)), ((200, 500), (20, 4000))).tolist(),
    undefined=SCALED | {"NaN": "fmaxf leaves it out"},
    far=far,
    spare=128,
    counted=(32, 1024),
    budget={"ld.sectors": 4096, "st.sectors": 128},
)
