"""im2col of one picture, in two dimensions."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (3, 4, 3, 1), (9, 7, 2, 0), (6, 33, 3, 2), (12, 20, 5, 4), (1, 5, 3, 1), (1, 1, 1, 0)


def launch(rng, size):
    height, width, kernel, pad = size
    x = numbers(rng, height, width)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, pad), (kernel, kernel))
    out = Out(np.ascontiguousarray(windows.transpose(2, 3, 0, 1)))
    numbers_ = (np.int32(n) for n in (height, width, *windows.shape[:2], kernel, pad))
    what = f"{height} x {width}, kernel {kernel}, pad {pad}"
    arguments = [In(x), out, *numbers_]
    return Launch(arguments, blocks_for(out.expected.size), 256, what=what)


COUNTED = 32, 32, 3, 1
BUDGET = {"ld.sectors": (1128, 1250), "st.sectors": 1152}

INSIDE = "0 <= row && row < height && 0 <= column && column < width"
WRONG = {
    "columns only": Wrong("out of bounds|values", {"0 <= row && row < height && ": ""}),
    "rows only": Wrong("values|out of bounds", {" && 0 <= column && column < width": ""}),
    "no right edge": Wrong("values|out of bounds", {" && column < width": ""}),
    "no left edge": Wrong("values|out of bounds", {" && 0 <= column": ""}),
    "one past": Wrong("values|out of bounds", {"column < width": "column <= width"}),
    "the sides mixed up": Wrong(
        "values|out of bounds", {"row < height": "row < width", "column < width": "column < height"}
    ),
    "nothing outside": Wrong("out of bounds", {INSIDE: "true"}),
    "nothing inside": Wrong("values", {INSIDE: "false"}),
    "the place is moved, too": Wrong("values", {"place % w_out - pad": "(place - pad) % w_out"}),
    "row and column swapped": Wrong(
        "values|out of bounds",
        {"k / kernel, column": "k % kernel, column", "pad + k % kernel;": "pad + k / kernel;"},
    ),
    "the edge itself is outside": Wrong("values", {"0 <= column": "0 < column"}),
}
