"""Sums of columns, four rows at a time and the rest."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    rows, columns = size
    x = numbers(rng, rows, columns) * scales(rng, columns)
    if x.size > 15:
        x[-1, rng.random(columns) < 0.2] = rng.choice([-np.inf, np.inf])  # once, never times 0
    out = Out(x.sum(0, dtype=float), checks.sum_tolerance(x, axis=0))
    arguments = [In(x), out, np.int64(rows), np.int64(columns)]
    return Launch(arguments, blocks_for(columns), 256, what=f"a matrix of {rows:,} x {columns:,}")


def far(rng):
    rows, columns = 5, (1 << 31) + 77
    blocks, column = near(columns, columns - 1)
    read, x = strewn(rng, rows * columns, np.arange(rows)[:, None] * columns + column)
    sums, tolerance = x.sum(0, dtype=float), checks.sum_tolerance(x, axis=0).max()
    out = Far(columns, "f4", expected=pieces(column, sums), tolerance=tolerance)
    arguments = [read, out, np.int64(rows), np.int64(columns)]
    what = f"{rows} x {columns:,}"
    return Launch(arguments, blocks_for(columns), 256, what=what, blocks=blocks)


# Only the text can tell: the compiler makes fours of single rows, too.
FOURS = (
    r"\[\s*[48]\s*\]|\+=\s*[48]\b|\+\s*3\b|<<\s*2\b"
    r"|(constexpr|enum)[^;]*=\s*[48]\b|unroll\s+[48]\b"
)


JUDGE = Judge(
    launch=launch,
    sizes=((4, 31), (1, 1), (3, 5), (33, 5), (10, 300), (102, 257), (70_003, 2), (7, 0)),
    drawn=lambda rng: rng.integers(((5, 33), (5, 2561)), ((200, 500), (20, 4000))).tolist(),
    far=far,
    spare=128,
    undefined=BY_ATOMICS,
    counted=(32, 1024),
    budget={"ld.sectors": 4096, "st.sectors": 128},
    limits={"instructions": 5, "ldl.sectors": None, "stl.sectors": None},  # each row may be tested
    # loads that wait for each other take 1.4 times as long
    checks=[
        TextHas({FOURS: "Take four rows in each turn of the loop: load all four, then add."}),
        Pace(1.3),
    ],
    survivors={
        "row + 4 < rows": "the last four rows may go one by one",
        "row + 5 <= rows": "the last four rows may go one by one",
    },
)
