"""Sums of columns, four rows at a time and the rest."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    near,
    numbers,
    pieces,
    scales,
    strewn,
)

SIZES = (4, 31), (1, 1), (3, 5), (33, 5), (10, 300), (102, 257), (70_003, 2), (7, 0)


def drawn(rng):
    return rng.integers(((5, 33), (5, 2561)), ((200, 500), (20, 4000))).tolist()


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


SPARE = 128
COUNTED = 32, 1024
BUDGET = {"ld.sectors": 4096, "st.sectors": 128}
# Only the text can tell: the compiler makes fours of single rows, too.
FOURS = (
    r"\[\s*[48]\s*\]|\+=\s*[48]\b|\+\s*3\b|<<\s*2\b"
    r"|(constexpr|enum)[^;]*=\s*[48]\b|unroll\s+[48]\b"
)
TEXT = {FOURS: "Take four rows in each turn of the loop: load all four, then add."}
PACE = 1.3  # loads that wait for each other take 1.4 times as long
LIMITS = {"instructions": 5, "ldl.sectors": None, "stl.sectors": None}  # each row may be tested

HEAD = (
    "long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x, row = 0; float sum = 0;"
    " if (column >= columns) return; x += column;"
)
FOUR, REST = "x[(row + k) * columns]", "for (; row < rows; ++row) sum += x[row * columns];"
WRONG = {
    "the rest forgotten": Wrong("values", {REST: ""}),
    "fours past the end": Wrong("out of bounds", {"row + 4 <= rows": "row < rows"}),
    "the rest once": Wrong("values", {"for (; row < rows; ++row)": "if (row < rows)"}),
    "one row too many": Wrong("out of bounds", {"for (; row < rows;": "for (; row <= rows;"}),
    "three of four": Wrong("values", {"k < 4; ++k) sum": "k < 3; ++k) sum"}),
    "the first row of each four": Wrong("values", {FOUR: "x[row * columns]"}),
    "zeros": Wrong("values", {"out[column] = sum": "out[column] = 0"}),
    "row by row, four times": Wrong(
        "counters|values", {"row + 4 <= rows; row += 4": "row + 4 <= rows; row += 1"}
    ),
    "the last row instead, times 0": Wrong(
        "values",
        {
            "row + 4 <= rows": "row < rows",
            FOUR: "x[min(row + k, rows - 1) * columns] * (row + k < rows)",
        },
    ),
    "row by row": Wrong(
        "text", f"{HEAD} for (; row < rows; ++row) sum += x[row * columns]; out[column] = sum;"
    ),
    "row by row, and a 4": Wrong(
        "text",
        f"{HEAD} const int four = 4; for (; row < rows * four / 4; ++row) sum += x[row * columns];"
        " out[column] = sum;",
    ),
    "two by two": Wrong(
        "text",
        f"{HEAD} for (; row + 2 <= rows; row += 2) {{ float first = x[row * columns],"
        " second = x[(row + 1) * columns]; sum += first; sum += second; }"
        " if (row < rows) sum += x[row * columns]; out[column] = sum;",
    ),
    "loads that wait for each other": Wrong(
        "clock",
        {
            "row + 4 <= rows": "row < rows",
            "k < 4; ++k) four[k]": "k < 4 && row + k < rows; ++k) four[k]",
            "k < 4; ++k) sum": "k < 4 && row + k < rows; ++k) sum",
        },
    ),
    "rows in 16 bits": Wrong("time|fault", {"long long row = 0": "unsigned short row = 0"}),
    "places in 32 bits": Wrong("5 x 2,147", {FOUR: "x[(int)(row + k) * (int)columns]"}),
}

SURVIVORS = {
    "row + 4 < rows": "the last four rows may go one by one",
    "row + 5 <= rows": "the last four rows may go one by one",
}
