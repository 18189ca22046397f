"""Rows divided by their length; zeros stay."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, numbers

SIZES = (1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * 10 ** rng.uniform(-17, 17, (batch, 1)).astype(np.float32)
    x[1::5] = 0
    x[2::5] = numbers(rng, *x[2::5].shape) * np.float32(1e-17)
    length = np.sqrt((x.astype(float) ** 2).sum(1, keepdims=True))
    y = x / np.where(length > 0, length, 1)
    out = Out(y, checks.gamma(hidden + 8, np.float32) * np.abs(y))
    return Launch([In(x), out, np.int64(hidden)], batch, 128, what=f"{batch} rows of {hidden}")


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700)


COUNTED = 16, 1024
BUDGET = {"ld.sectors": 4096, "ld.requests": (1024, 1280), "st.sectors": 2048}
WARPS = 1.5

WRONG = {
    "one warp works, the others wait": Wrong(
        "one warp",
        {
            "for (long long i = threadIdx.x; i < hidden; i += blockDim.x)": "if (threadIdx.x < 32) for (long long i = threadIdx.x; i < hidden; i += 32)"
        },
    ),
    "zeros": Wrong("values", {"* scale;": "* 0;"}),
    "0 / 0": Wrong("values", {"squares > 0 ? 1 / sqrtf(squares) : 0.f": "1 / sqrtf(squares)"}),
    "an epsilon": Wrong(
        "values", {"squares > 0 ? 1 / sqrtf(squares) : 0.f": "1 / sqrtf(squares + 1e-12f)"}
    ),
    "a least length": Wrong(
        "values", {"squares > 0 ? 1 / sqrtf(squares) : 0.f": "1 / fmaxf(sqrtf(squares), 1e-6f)"}
    ),
    "short rows are zeros": Wrong("values", {"squares > 0": "squares > 1e-10f"}),
    "long rows are zeros": Wrong("values", {"squares > 0": "squares > 0 && squares < 1e20f"}),
    "no more than 1010 columns": Wrong("values", {"i < hidden": "i < hidden && i < 1010"}),
    "three reads": Wrong(
        "counters",
        {
            "float squares = 0;": "float squares = 0, most = 0; for (long long i = threadIdx.x; i < hidden; i += blockDim.x)"
            " most = fmaxf(most, fabsf(((volatile const float *)x)[start + i])); if (block_reduce(most, Max<float>()) == 0) squares = 0;"
        },
    ),
    "an int for the place": Wrong(
        "65,700 rows",
        {"long long start = blockIdx.x * hidden": "int start = blockIdx.x * (int)hidden"},
    ),
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
