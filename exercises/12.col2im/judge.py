"""col2im in one dimension."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (
    (7, 3, 1, 1, 1), (33, 3, 2, 0, 1), (100, 5, 3, 2, 2), (257, 4, 1, 3, 5), (31, 7, 2, 6, 1),
    (40, 3, 4, 2, 6), (1, 1, 1, 0, 1),
)  # fmt: skip


def launch(rng, size):
    width, kernel, stride, pad, dilation = size
    w_out = (width + 2 * pad - (kernel - 1) * dilation - 1) // stride + 1
    columns = numbers(rng, kernel, w_out)
    sums, sizes = np.zeros((2, width + 2 * pad))
    for k in range(kernel):
        np.add.at(sums, k * dilation + stride * np.arange(w_out), columns[k].astype(float))
        np.add.at(sizes, k * dilation + stride * np.arange(w_out), np.abs(columns[k]).astype(float))
    inside = slice(pad, pad + width)
    out = Out(sums[inside], checks.gamma(kernel, np.float32) * sizes[inside])
    numbers_ = (np.int32(n) for n in (width, w_out, kernel, stride, pad, dilation))
    what = f"width {width}, kernel {kernel}, stride {stride}, pad {pad}, dilation {dilation}"
    return Launch([In(columns), out, *numbers_], blocks_for(width), 256, what=what)


COUNTED = 4096, 4, 1, 0, 1
BUDGET = {"ld.sectors": (2304, 2500), "st.sectors": 512}

TEST = "at >= 0 && at % stride == 0 && at / stride < w_out"
WRONG = {
    "zeros": Wrong("values", {"x[p] = sum": "x[p] = 0"}),
    "no left edge": Wrong("out of bounds|values", {"at >= 0 && ": ""}),
    "no right edge": Wrong("out of bounds|values", {" && at / stride < w_out": ""}),
    "one past": Wrong("out of bounds|values", {"at / stride < w_out": "at / stride <= w_out"}),
    "between the steps, too": Wrong("values|out of bounds", {"at % stride == 0 && ": ""}),
    "the last copy only": Wrong("values", {"sum += columns": "sum = columns"}),
    "pad the other way": Wrong("values", {"p + pad - k": "p - pad + k"}),
    "no gaps": Wrong("values|out of bounds", {"k * dilation": "k"}),
    "no guard": Wrong("out of bounds", {"if (p >= width) return;": ""}),
    "not across rows of the matrix": Wrong(
        "values", {"columns[k * w_out + at / stride]": "columns[at / stride]"}
    ),
}
