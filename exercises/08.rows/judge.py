"""Sums of columns, whose rows eight threads share."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import Far, In, Launch, Out, Wrong, numbers, pieces, scales, strewn

SIZES = (1, 1), (3, 31), (8, 32), (33, 5), (2, 1001), (100, 257), (70_003, 2), (7, 0), (0, 5)
BLOCK = 32, 8


def drawn(rng):
    return rng.integers(((5, 33), (5, 330)), ((200, 300), (40, 600))).tolist()


def launch(rng, size):
    rows, columns = size
    x = numbers(rng, rows, columns) * scales(rng, columns)
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


LARGE = ((200_000, 3),)
COUNTED = 2048, 128  # rows enough that a warp too few shows in the busiest one's share
BUDGET = {"ld.sectors": 32_768, "st.sectors": 16, "lds.conflicts": 0, "sts.conflicts": 0}
LIMITS = {"barriers": (4 * 4 * 8,)}  # a tree over the eight has three, and one more before it
WARPS = 1.1  # the warp that adds the eight does a little more, each of seven 8 / 7

ROW = "row = threadIdx.y; row < rows; row += 8"
STORE = "s[threadIdx.y][threadIdx.x] = sum;\n    __syncthreads();"
WRONG = {
    "one warp takes all rows": Wrong(
        "warp", {ROW: "row = threadIdx.y ? rows : 0; row < rows; row += 1"}
    ),
    "four of the eight share the rows": Wrong(
        "warp", {ROW: "row = threadIdx.y < 4 ? threadIdx.y : rows; row < rows; row += 4"}
    ),
    "seven of the eight share the rows": Wrong(
        "warp", {ROW: "row = threadIdx.y < 7 ? threadIdx.y : rows; row < rows; row += 7"}
    ),
    "every warp takes all rows": Wrong("values|counters", {ROW: "row = 0; row < rows; row += 1"}),
    "no barrier": Wrong("race", {"    __syncthreads();\n": ""}),
    "a thread without a column does not wait": Wrong(
        "barrier|race|sanitizer",
        {"    float sum = 0;": "    if (column >= columns) return;\n    float sum = 0;"},
    ),
    "seven of eight": Wrong("values", {"y < 8; ++y": "y < 7; ++y"}),
    "its own sum twice": Wrong("values", {"int y = 1": "int y = 0"}),
    "no guard": Wrong("out of bounds", {"    if (column < columns)\n": ""}),
    "no guard to store": Wrong("out of bounds", {" || column >= columns": ""}),
    "one row too many": Wrong("out of bounds", {"row < rows": "row <= rows"}),
    "whole eights of rows": Wrong("values", {"row < rows;": "row < rows / 8 * 8;"}),
    "lanes take rows": Wrong(
        "values|out of bounds|sectors",
        {"x[row * columns + column]": "x[column * rows + row]"},
    ),
    "eight atomics": Wrong(
        "atomics|values|uninitialised",
        {STORE: "if (column < columns) atomicAdd(out + column, sum); return;"},
    ),
    "a column of s for each thread": Wrong(
        "conflicts",
        {
            "__shared__ float s[8][32]": "__shared__ float s[32][32]",
            "s[threadIdx.y][threadIdx.x] = sum": "s[threadIdx.x][threadIdx.y] = sum",
            "s[y][threadIdx.x]": "s[threadIdx.x][y]",
        },
    ),
    "rows in 16 bits": Wrong("time|fault", {f"long long {ROW}": f"unsigned short {ROW}"}),
    "places in 32 bits": Wrong(
        "9 x 268", {"x[row * columns + column]": "x[int(row * columns + column)]"}
    ),
}
