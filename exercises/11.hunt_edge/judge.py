"""im2col of one picture, in two dimensions."""

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
    strewn,
)

SIZES = (
    (3, 4, 3, 1), (9, 7, 2, 0), (6, 33, 3, 2), (12, 20, 5, 4), (1, 5, 3, 1), (1, 1, 1, 0),
    (2, 3, 2, 4), (1, 33_003, 1, 0),
)  # fmt: skip


def drawn(rng):
    return rng.integers(((9, 12, 6, 1), (20, 40, 3, 1)), ((12, 30, 9, 5), (40, 70, 6, 7))).tolist()


def launch(rng, size):
    height, width, kernel, pad = size
    x = planted(rng, numbers(rng, height, width), np.nan)
    x[[0, -1], [0, -1]] = x[-1, 0] = np.inf  # times 0 it is not 0
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, pad), (kernel, kernel))
    out = Out(np.ascontiguousarray(windows.transpose(2, 3, 0, 1)))
    numbers_ = (np.int32(n) for n in (height, width, *windows.shape[:2], kernel, pad))
    what = f"{height} x {width}, kernel {kernel}, pad {pad}"
    arguments = [In(x), out, *numbers_]
    return Launch(arguments, blocks_for(out.expected.size), 256, what=what)


def far(rng):
    """Where one element of the window ends and the next begins, in a picture of half a billion."""
    height, width, kernel = 70_003, 7001, 2
    h_out, w_out = height - kernel + 1, width - kernel + 1
    places, count = h_out * w_out, kernel * kernel * h_out * w_out
    blocks, i = near(count, *(k * places for k in range(1, 4)), count - 1)
    k, place = np.divmod(i, places)
    row, column = place // w_out + k // kernel, place % w_out + k % kernel
    read, x = strewn(rng, height * width, row * width + column)
    out = Far(count, "f4", expected=pieces(i, x))
    arguments = [read, out, *map(np.int32, (height, width, h_out, w_out, kernel, 0))]
    what = f"{height:,} x {width:,}, kernel {kernel}, pad 0"
    return Launch(arguments, blocks_for(count), 256, what=what, blocks=blocks)


SPARE = 128
LARGE = (40, 50, 17, 12), (2, 70_003, 1, 0)
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
    "the nearest pixel, times 0": Wrong(
        "values",
        {
            "inside ? x[row * width + column] : 0.f": "inside"
            " * x[min(max(row, 0), height - 1) * width + min(max(column, 0), width - 1)]"
        },
    ),
    "rows in 16 bits": Wrong(
        "70,003", {"int row =": "short row =", ", column =": "; int column ="}
    ),
    "columns in 16 bits": Wrong("33,003", {", column =": "; short column ="}),
    "the window's element in float": Wrong(
        "70,003", {"k = i / (h_out * w_out)": "k = (float)i / (float)(h_out * w_out)"}
    ),
    "pixels by atomics": Wrong(
        "counters|inputs|race",
        {"? x[row * width + column]": "? atomicAdd((float *)x + row * width + column, 0.f)"},
    ),
    "the edge itself is outside": Wrong("values", {"0 <= column": "0 < column"}),
}
