"""Rows divided by their length; zeros stay."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * np.float32(3)
    x[1:2] = 0
    x[2:3] /= 1000  # shorter than one
    length = np.sqrt((x.astype(float) ** 2).sum(1, keepdims=True))
    y = x / np.where(length > 0, length, 1)
    out = Out(y, checks.gamma(hidden + 8, np.float32) * np.abs(y))
    return Launch([In(x), out, np.int64(hidden)], batch, 128, what=f"{batch} rows of {hidden}")


COUNTED = 16, 1024
BUDGET = {"ld.sectors": 4096, "st.sectors": 2048}

WRONG = {
    "zeros": Wrong("values", {"* scale;": "* 0;"}),
    "0 / 0": Wrong("values", {"squares > 0 ? 1 / sqrtf(squares) : 0.f": "1 / sqrtf(squares)"}),
    "by the square": Wrong("values", {"sqrtf(squares)": "squares"}),
    "by a thread's own": Wrong("values", {"squares = block_reduce(squares, Sum<float>());": ""}),
    "by the first warp's": Wrong("values", {"block_reduce(": "warp_reduce("}),
    "the first block's columns": Wrong(
        "values",
        {"y[start + i] = x[start + i] * scale": "if (i < 128) y[start + i] = x[start + i] * scale"},
    ),
    "row 0": Wrong("values|double|race", {"start = blockIdx.x * hidden": "start = 0"}),
    "no guard": Wrong(
        "out of bounds",
        {
            "y[start + i] = x[start + i] * scale;": "y[start + i] = x[start + i] * scale;\n    y[start + hidden] = 0;"
        },
    ),
    "the sum of magnitudes": Wrong(
        "values", {"x[start + i] * x[start + i];": "fabsf(x[start + i]);"}
    ),
}

SURVIVORS = {
    ": 1.f": "a row of zeros stays one, whatever it is multiplied by",
}
