"""The greatest of each row, a warp each."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (1, 1), (3, 31), (4, 32), (5, 33), (9, 100), (2, 1009)


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) - np.float32(9)  # a zero would be the greatest
    planted = np.arange(0, batch, 2)  # in the others the greatest lies anywhere
    x[planted, -1 - planted % hidden] = -1 - rng.random(len(planted))
    arguments = [In(x), Out(x.max(1)), np.int64(batch), np.int64(hidden)]
    return Launch(arguments, grid=-(-batch // 4), block=128, what=f"{batch} rows of {hidden}")


COUNTED = 64, 256
BUDGET = {"ld.sectors": 2048, "ld.requests": 512, "st.sectors": 64}

WRONG = {
    "zero to begin with": Wrong("values", {"most = -INFINITY": "most = 0"}),
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
