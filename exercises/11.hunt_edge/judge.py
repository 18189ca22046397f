"""im2col of one picture, in two dimensions."""

import numpy as np

from helpers.exercises.for_judges import *


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


JUDGE = Judge(
    launch=launch,
    sizes=(
        (3, 4, 3, 1),
        (9, 7, 2, 0),
        (6, 33, 3, 2),
        (12, 20, 5, 4),
        (1, 5, 3, 1),
        (1, 1, 1, 0),
        (2, 3, 2, 4),
        (1, 33_003, 1, 0),
    ),
    drawn=drawn,
    large=((40, 50, 17, 12), (2, 70_003, 1, 0)),
    far=far,
    spare=128,
    counted=(32, 32, 3, 1),
    budget={"ld.sectors": (1128, 1250), "st.sectors": 1152},
)
