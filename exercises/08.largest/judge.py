"""The greatest magnitude of each column."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (1, 1), (3, 31), (33, 5), (7, 300), (100, 257)


def launch(rng, size):
    rows, columns = size
    x = numbers(rng, rows, columns)
    arguments = [In(x), Out(np.abs(x).max(0)), np.int64(rows), np.int64(columns)]
    return Launch(arguments, blocks_for(columns), 256, what=f"{rows} x {columns}")


COUNTED = 32, 1024
BUDGET = {"ld.sectors": 4096, "st.sectors": 128}

WRONG = {
    "zeros": Wrong("values", {"out[column] = most": "out[column] = 0"}),
    "the greatest": Wrong(
        "values", {"fabsf(x[row * columns + column])": "x[row * columns + column]"}
    ),
    "row 0 only": Wrong("values", {"row < rows": "row < 1"}),
    "without the last row": Wrong("values", {"row < rows": "row + 1 < rows"}),
    "one row too many": Wrong("out of bounds", {"row < rows": "row <= rows"}),
    "no guard": Wrong("out of bounds", {"if (column >= columns) return;": ""}),
    "rows for columns": Wrong("values", {"x[row * columns + column]": "x[column * rows + row]"}),
    "the sum": Wrong(
        "values",
        {
            "fmaxf(most, fabsf(x[row * columns + column]))": "most + fabsf(x[row * columns + column])"
        },
    ),
}
