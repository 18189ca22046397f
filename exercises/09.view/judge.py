"""The sum of two matrices that are walked by strides."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

WALKS = {  # of a matrix of so many rows and columns
    "whole": lambda rows, columns: (columns, 1),
    "transposed": lambda rows, columns: (1, rows),
    "a row": lambda rows, columns: (0, 1),
    "a column": lambda rows, columns: (1, 0),
    "every other column": lambda rows, columns: (2 * columns, 2),
    "a number": lambda rows, columns: (0, 0),
}
SIZES = (
    (1, 1, "whole", "whole"),
    (33, 65, "whole", "a row"),
    (65, 33, "a column", "whole"),
    (31, 40, "transposed", "every other column"),
    (7, 301, "a row", "a column"),
    (16, 16, "a number", "transposed"),
)


def launch(rng, size):
    rows, columns, *kinds = size
    places, walks = np.indices((rows, columns)), [WALKS[kind](rows, columns) for kind in kinds]
    places = [row * places[0] + column * places[1] for row, column in walks]
    a, b = (numbers(rng, place.max() + 1) for place in places)
    out = Out(a[places[0]] + b[places[1]])
    sizes = map(np.int64, (rows, columns, *walks[0], *walks[1]))
    what = f"{rows} x {columns}, {' and '.join(kinds)}"
    return Launch([In(a), In(b), out, *sizes], blocks_for(rows * columns), 256, what=what)


COUNTED = 64, 256, "whole", "a row"
BUDGET = {"ld.sectors": 4096, "st.sectors": 2048}

A, B = "a[row * a_row + column * a_column]", "b[row * b_row + column * b_column]"
WRONG = {
    "no guard": Wrong("out of bounds", {"if (i >= rows * columns) return;": ""}),
    "guard a row too late": Wrong(
        "out of bounds", {"i >= rows * columns": "i >= (rows + 1) * columns"}
    ),
    "a whole": Wrong("values|out of bounds", {A: "a[i]"}),
    "b whole": Wrong("values|out of bounds", {B: "b[i]"}),
    "rows for columns": Wrong(
        "values|out of bounds", {"i / columns": "i / rows", "i % columns": "i % rows"}
    ),
    "strides swapped": Wrong("values|out of bounds", {B: "b[row * b_column + column * b_row]"}),
    "rows of b forgotten": Wrong("values", {"b[row * b_row + ": "b["}),
    "columns side by side": Wrong("values|out of bounds", {"column * b_column": "column"}),
    "minus": Wrong("values", {"] + b[": "] - b["}),
}
