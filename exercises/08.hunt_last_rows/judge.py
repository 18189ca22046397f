"""Sums of columns, four rows at a time and the rest."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (4, 31), (1, 1), (3, 5), (33, 5), (10, 300), (102, 257)


def launch(rng, size):
    rows, columns = size
    x = numbers(rng, rows, columns)
    out = Out(x.sum(0, dtype=float), checks.sum_tolerance(x, axis=0))
    arguments = [In(x), out, np.int64(rows), np.int64(columns)]
    return Launch(arguments, blocks_for(columns), 256, what=f"{rows} x {columns}")


COUNTED = 32, 1024
BUDGET = {"ld.sectors": 4096, "st.sectors": 128}

WRONG = {
    "the rest forgotten": Wrong(
        "values", {"for (; row < rows; ++row) sum += x[row * columns];": ""}
    ),
    "fours past the end": Wrong("out of bounds", {"row + 4 <= rows": "row < rows"}),
    "the rest once": Wrong("values", {"for (; row < rows; ++row)": "if (row < rows)"}),
    "one row too many": Wrong("out of bounds", {"for (; row < rows;": "for (; row <= rows;"}),
    "three of four": Wrong("values", {"k < 4; ++k) sum": "k < 3; ++k) sum"}),
    "the first row of each four": Wrong("values", {"x[(row + k) * columns]": "x[row * columns]"}),
    "zeros": Wrong("values", {"out[column] = sum": "out[column] = 0"}),
    "row by row, four times": Wrong(
        "counters|values", {"row + 4 <= rows; row += 4": "row + 4 <= rows; row += 1"}
    ),
}

SURVIVORS = {
    "row + 4 < rows": "the last four rows may go one by one",
    "row + 5 <= rows": "the last four rows may go one by one",
}
