"""im2col in one dimension."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(
        ((40, 2, 5, 1), (1500, 8, 1, 1)), ((300, 9, 12, 9), (2500, 12, 4, 14))
    ).tolist()


def launch(rng, size):
    width, kernel, stride, pad = size
    w_out = (width + 2 * pad - kernel) // stride + 1
    x = planted(rng, numbers(rng, width), np.nan)
    x[[0, -1]] = np.inf  # times 0 it is not 0
    padded = np.pad(x, pad)
    out = Out(np.stack([padded[k : k + stride * w_out : stride][:w_out] for k in range(kernel)]))
    numbers_ = (np.int32(n) for n in (width, w_out, kernel, stride, pad))
    what = f"width {width}, kernel {kernel}, stride {stride}, pad {pad}"
    return Launch([In(x), out, *numbers_], blocks_for(kernel * w_out), 256, what=what)


def far(rng):
    """Where one row of the matrix ends and the next begins, in rows of 700 million."""
    width, kernel = int(rng.integers(600_000_000, 700_000_000)), 3
    w_out = width - kernel + 1
    blocks, i = near(kernel * w_out, w_out, 2 * w_out, kernel * w_out - 1)
    read, x = strewn(rng, width, i % w_out + i // w_out)
    out = Far(kernel * w_out, "f4", expected=pieces(i, x))
    arguments = [read, out, *map(np.int32, (width, w_out, kernel, 1, 0))]
    what = f"width {width:,}, kernel {kernel}, stride 1, pad 0"
    return Launch(arguments, blocks_for(kernel * w_out), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 1, 1, 0),
        (7, 3, 1, 1),
        (33, 3, 2, 0),
        (100, 5, 3, 2),
        (257, 4, 1, 3),
        (31, 7, 2, 6),
        (3, 2, 1, 5),
        (2, 9, 3, 8),
    ),
    drawn=drawn,
    large=((70_003, 40, 7, 33),),
    far=far,
    spare=128,
    counted=(4096, 4, 1, 0),
    budget={"ld.sectors": (2304, 2500), "st.sectors": (2047, 2048)},
)
