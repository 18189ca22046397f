"""Max pooling of one picture."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (6, 9, 2, 2, 0), (13, 10, 3, 1, 1), (31, 33, 3, 2, 1), (7, 40, 5, 3, 2), (1, 1, 1, 1, 0)


def launch(rng, size):
    height, width, kernel, stride, pad = size
    x = numbers(rng, height, width) - 3  # mostly below 0: a 0 outside would show
    padded = np.pad(x, pad, constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel))
    out = Out(windows[::stride, ::stride].max((2, 3)))
    numbers_ = (np.int32(n) for n in (height, width, *out.expected.shape, kernel, stride, pad))
    what = f"{height} x {width}, kernel {kernel}, stride {stride}, pad {pad}"
    arguments = [In(x), out, *numbers_]
    return Launch(arguments, blocks_for(out.expected.size), 256, what=what)


COUNTED = 64, 64, 2, 2, 0
BUDGET = {"ld.sectors": 1024, "st.sectors": 128}

INSIDE = "0 <= row && row < height && 0 <= column && column < width"
WRONG = {
    "from zero": Wrong("values", {"most = -INFINITY": "most = 0"}),
    "zeros outside": Wrong(
        "values",
        {
            f"if ({INSIDE})": "",
            "x[row * width + column]": f"{INSIDE} ? x[row * width + column] : 0",
        },
    ),
    "no edges": Wrong("out of bounds", {INSIDE: "true"}),
    "no left edge": Wrong("out of bounds|values", {" && 0 <= column": ""}),
    "one past": Wrong("out of bounds|values", {"column < width": "column <= width"}),
    "places one apart": Wrong("values|out of bounds", {"i % w_out * stride": "i % w_out"}),
    "as wide as the picture": Wrong(
        "values|out of bounds", {"i / w_out": "i / width", "i % w_out": "i % width"}
    ),
    "a row short": Wrong("values", {"a < kernel": "a < kernel - 1"}),
    "the least": Wrong("values", {"fmaxf": "fminf", "-INFINITY": "INFINITY"}),
    "no guard": Wrong("out of bounds", {"if (i >= h_out * w_out) return;": ""}),
}
