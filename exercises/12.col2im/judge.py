"""col2im in one dimension."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def drawn(rng):
    low = (90, 2, 5, 0, 1), (2561, 9, 1, 0, 4)
    return rng.integers(low, ((300, 9, 12, 9, 4), (4000, 12, 4, 9, 9))).tolist()


def launch(rng, size):
    width, kernel, stride, pad, dilation = size
    w_out = (width + 2 * pad - (kernel - 1) * dilation - 1) // stride + 1
    columns = numbers(rng, kernel, w_out)
    columns[rng.integers(kernel), [0, -1]] = np.inf  # times 0 it is not 0
    sums, sizes = np.zeros((2, width + 2 * pad))
    for k in range(kernel):
        np.add.at(sums, k * dilation + stride * np.arange(w_out), columns[k].astype(float))
        np.add.at(sizes, k * dilation + stride * np.arange(w_out), np.abs(columns[k]).astype(float))
    inside = slice(pad, pad + width)
    out = Out(sums[inside], checks.gamma(kernel, np.float32) * sizes[inside])
    numbers_ = (np.int32(n) for n in (width, w_out, kernel, stride, pad, dilation))
    what = f"width {width}, kernel {kernel}, stride {stride}, pad {pad}, dilation {dilation}"
    return Launch([In(columns), out, *numbers_], blocks_for(width), 256, what=what)


def far(rng):
    """No two windows meet: each element is a copy of one."""
    kernel = stride = 3
    w_out = int(rng.integers(600_000_000, 700_000_000))
    width = w_out * stride
    blocks, p = near(width, width // 2, width - 1)
    read, copies = strewn(rng, kernel * w_out, p % stride * w_out + p // stride)
    out = Far(width, "f4", expected=pieces(p, copies))
    arguments = [read, out, *map(np.int32, (width, w_out, kernel, stride, 0, 1))]
    what = f"width {width:,}, kernel {kernel}, stride {stride}, pad 0, dilation 1"
    return Launch(arguments, blocks_for(width), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (7, 3, 1, 1, 1),
        (33, 3, 2, 0, 1),
        (100, 5, 3, 2, 2),
        (257, 4, 1, 3, 5),
        (31, 7, 2, 6, 1),
        (40, 3, 4, 2, 6),
        (1, 1, 1, 0, 1),
        (3, 2, 1, 7, 1),
        (5, 9, 2, 12, 3),
    ),
    drawn=drawn,
    large=((70_003, 20, 5, 17, 11),),
    far=far,
    spare=128,
    counted=(4096, 4, 1, 0, 1),
    budget={"ld.sectors": (2304, 2500), "st.sectors": 512},
)
