"""A filter of 3 x 3, without columns."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (3, 4), (5, 40), (33, 31), (1, 257), (70, 1), (1, 1)


def launch(rng, size):
    x, weight = numbers(rng, *size), numbers(rng, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, 1), (3, 3))
    sums, sizes = (
        np.einsum("rcij,ij->rc", f(windows).astype(float), f(weight).astype(float))
        for f in (np.array, np.abs)
    )
    out = Out(sums, checks.gamma(10, np.float32) * sizes)
    arguments = [In(x), In(weight.ravel()), out, *map(np.int32, size)]
    what = f"{size[0]} x {size[1]}"
    return Launch(arguments, blocks_for(x.size), 256, what=what)


COUNTED = 64, 64
BUDGET = {"ld.sectors": (6080, 6500), "st.sectors": 512}

INSIDE = "0 <= row && row < height && 0 <= column && column < width"
WRONG = {
    "nothing outside": Wrong("out of bounds", {INSIDE: "true"}),
    "one test for both": Wrong(
        "values", {INSIDE: "0 <= row * width + column && row * width + column < height * width"}
    ),
    "no left edge": Wrong("values|out of bounds", {" && 0 <= column": ""}),
    "one past": Wrong("values|out of bounds", {"column < width": "column <= width"}),
    "mirrored": Wrong("values", {"weight[3 * i + j]": "weight[8 - 3 * i - j]"}),
    "rows and columns swapped": Wrong("values", {"3 * i + j": "i + 3 * j"}),
    "not centred": Wrong("values", {"p / width + i - 1": "p / width + i"}),
    "the last product only": Wrong("values", {"sum += weight": "sum = weight"}),
    "no guard": Wrong("out of bounds", {"if (p >= height * width) return;": ""}),
}
