"""The sum of two matrices that are walked by strides."""

import numpy as np

from helpers.exercises.for_judges import *

WALKS = {  # of a matrix of so many rows and columns
    "whole": lambda rows, columns: (columns, 1),
    "transposed": lambda rows, columns: (1, rows),
    "a row": lambda rows, columns: (0, 1),
    "a column": lambda rows, columns: (1, 0),
    "every other column": lambda rows, columns: (2 * columns, 2),
    "a number": lambda rows, columns: (0, 0),
    "upside down": lambda rows, columns: (-columns, 1),
    "backwards": lambda rows, columns: (-columns, -1),
    "mirrored and transposed": lambda rows, columns: (1, -rows),
}


def drawn(rng):
    sizes = rng.integers(((2, 2), (50, 60)), ((30, 30), (90, 90))).tolist()
    return [(*size, *rng.choice(list(WALKS), 2)) for size in sizes]


def launch(rng, size):
    rows, columns, *kinds = size
    row, column = np.indices((rows, columns))
    walks = [WALKS[kind](rows, columns) for kind in kinds]
    places = [row * of_row + column * of_column for of_row, of_column in walks]
    views = [
        In(numbers(rng, np.ptp(p) + 1 if p.size else 0), first=-p.min(initial=0)) for p in places
    ]
    out = Out(sum(view.values[p + view.first] for view, p in zip(views, places)))
    sizes = map(np.int64, (rows, columns, *walks[0], *walks[1]))
    what = f"{rows} x {columns}, {' and '.join(kinds)}"
    return Launch([*views, out, *sizes], blocks_for(rows * columns), 256, what=what)


def far(rng):
    """One view is whole, the other transposed."""
    rows, columns = (1 << 31) + int(rng.integers(1, 1000)), 2
    count = rows * columns
    blocks, i = near(count, count - 1)
    first, a = strewn(rng, count, i)
    second, b = strewn(rng, count, i % columns * rows + i // columns)
    out = Far(count, "f4", expected=pieces(i, a + b))
    arguments = [first, second, out, *map(np.int64, (rows, columns, columns, 1, 1, rows))]
    what = f"{rows:,} x {columns}"
    return Launch(arguments, blocks_for(count), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 1, "whole", "whole"),
        (33, 65, "whole", "a row"),
        (65, 33, "a column", "whole"),
        (31, 40, "transposed", "every other column"),
        (7, 301, "a row", "a column"),
        (16, 16, "a number", "transposed"),
        (33, 20, "upside down", "backwards"),
        (20, 33, "backwards", "mirrored and transposed"),
        (5, 0, "whole", "whole"),
    ),
    drawn=drawn,
    far=far,
    spare=128,
    counted=(64, 256, "whole", "a row"),
    budget={"ld.sectors": 4096, "st.sectors": 2048},
)
