"""The greatest magnitude of each column."""

import numpy as np

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
    planted,
    scales,
    strewn,
)

SIZES = (1, 1), (3, 31), (33, 5), (7, 300), (100, 257), (70_003, 2), (7, 0), (0, 5)


def drawn(rng):
    return rng.integers(((5, 33), (5, 2561)), ((200, 500), (20, 4000))).tolist()


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


SPARE = 128
COUNTED = 32, 1024
BUDGET = {"ld.sectors": 4096, "st.sectors": 128}

WRONG = {
    "blocks of 256": Wrong(
        "blocks of 128", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "zeros": Wrong("values", {"out[column] = most": "out[column] = 0"}),
    "the greatest": Wrong(
        "values", {"fabsf(x[row * columns + column])": "x[row * columns + column]"}
    ),
    "row 0, and then the others": Wrong(
        "out of bounds", {"most = 0": "most = fabsf(x[column])", "row = 0": "row = 1"}
    ),
    "row 0 only": Wrong("values", {"row < rows": "row < 1"}),
    "without the last row": Wrong("values", {"row < rows": "row + 1 < rows"}),
    "one row too many": Wrong("out of bounds", {"row < rows": "row <= rows"}),
    "no guard": Wrong("out of bounds", {"if (column >= columns) return;": ""}),
    "rows for columns": Wrong("values", {"x[row * columns + column]": "x[column * rows + row]"}),
    "from a thousandth": Wrong("values", {"float most = 0": "float most = 1e-3f"}),
    "a million at most": Wrong(
        "values", {"float most = 0;": "float most = 0;", "= most;": "= fminf(most, 1e6f);"}
    ),
    "row 0 for those below 0": Wrong(
        "values",
        {
            "fmaxf(most, fabsf(x[row * columns + column]))": "fmaxf(most, -x[row * columns + column])"
        },
    ),
    "rows in 16 bits": Wrong("time|fault", {"long long row = 0": "unsigned short row = 0"}),
    "places in 32 bits": Wrong(
        "2 x 2,147", {"x[row * columns + column]": "x[int(row * columns + column)]"}
    ),
    "each element fetched by an atomic": Wrong(
        "counters|inputs|race",
        {"x[row * columns + column]": "atomicAdd((float *)x + row * columns + column, 0.f)"},
    ),
    "the sum": Wrong(
        "values",
        {
            "fmaxf(most, fabsf(x[row * columns + column]))": "most + fabsf(x[row * columns + column])"
        },
    ),
}
