"""The greatest of each row, a warp each."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, varied

SIZES = (1, 1), (3, 31), (4, 32), (5, 33), (9, 100), (2, 1009)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    x = varied(rng, batch, hidden)
    x[::3] -= np.float32(2000)  # with no element above
    arguments = [In(x), Out(x.max(1)), np.int64(batch), np.int64(hidden)]
    return Launch(arguments, grid=-(-batch // 4), block=128, what=f"{batch} rows of {hidden}")


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700, 4)


COUNTED = 64, 256
BUDGET = {"ld.sectors": (2048, 2200), "ld.requests": (512, 600), "st.sectors": 64}

WRONG = {
    "zero to begin with": Wrong("values", {"most = -INFINITY": "most = 0"}),
    "-1000 to begin with": Wrong("values", {"-INFINITY": "-1000.f"}),
    "the least float to begin with": Wrong("values", {"-INFINITY": "-3.402823466e38f"}),
    "the greatest bits": Wrong(
        "values",
        {
            "most = -INFINITY": "most = __uint_as_float(~0u >> 1)",
            "most = fmaxf(most, x[row * hidden + i])": "most = __uint_as_float(min(__float_as_uint(most), __float_as_uint(x[row * hidden + i])))",
        },
    ),
    "each fetched twice": Wrong(
        "counters|inputs|values",
        {
            "x[row * hidden + i])": "x[row * hidden + i] + 0 * atomicAdd((float *)x + row * hidden + i, 0.f))"
        },
    ),
    "no more than 1024 columns": Wrong("values", {"i < hidden": "i < hidden && i < 1024"}),
    "no more than 16 rows": Wrong("values", {"row >= batch": "row >= batch || row >= 16"}),
    "an int for the place": Wrong(
        "65,700 rows", {"x[row * hidden + i]": "x[(int)row * (int)hidden + (int)i]"}
    ),
    "a short for the row": Wrong("65,700 rows", {"long long row": "short row"}),
    "no row guard": Wrong("out of bounds", {"if (row >= batch) return;": ""}),
    "the last row repeated": Wrong(
        "double|out of bounds|race|values",
        {"if (row >= batch) return;": "row = row > batch ? batch : row;"},
    ),
    "lane 0 alone": Wrong("values", {"most = warp_reduce(most, Max<float>());": ""}),
    "whole warps of columns": Wrong("values", {"i < hidden": "i < hidden / 32 * 32"}),
    "one too many": Wrong("out of bounds", {"i < hidden": "i <= hidden"}),
    "one lane reads all": Wrong(
        "counters", {"i = lane; i < hidden; i += 32": "i = 0; i < hidden; ++i"}
    ),
    "the least": Wrong("values", {"Max<float>": "Min<float>"}),
    "row by row of 32": Wrong("values|out of bounds", {"x[row * hidden + i]": "x[row * 32 + i]"}),
}

SURVIVORS = {
    "lane != 0": "all lanes of the warp have the same result",
    "lane == 1": "all lanes of the warp have the same result",
    "if (!(lane == 0))": "all lanes of the warp have the same result",
}
