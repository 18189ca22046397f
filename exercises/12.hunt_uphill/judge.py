"""The gradient of a convolution with respect to the picture, without columns."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(((9, 12, 2, 0), (50, 60, 3, 0)), ((20, 50, 7, 4), (70, 90, 6, 7))).tolist()


def launch(rng, size):
    height, width, side, pad = size
    h_out, w_out = height + 2 * pad - side + 1, width + 2 * pad - side + 1
    dy, weight = numbers(rng, h_out, w_out), numbers(rng, side, side)
    if dy.size > 12:  # of which something goes wrong with ordinary numbers, too
        dy[rng.choice([0, -1]), rng.choice([0, -1])] = np.inf  # times 0 it is not 0
    sums, sizes = np.zeros((2, height + 2 * pad, width + 2 * pad))
    for i, j in np.ndindex(side, side):
        place = np.s_[i : i + h_out, j : j + w_out]
        sums[place] += float(weight[i, j]) * dy
        sizes[place] += abs(float(weight[i, j]) * dy)
    inside = np.s_[pad : pad + height, pad : pad + width]
    out = Out(sums[inside], checks.gamma(side**2 + 1, np.float32) * sizes[inside])
    numbers_ = map(np.int32, (height, width, h_out, w_out, side, pad))
    what = f"a picture of {height} x {width}, a filter of {side} x {side}, pad {pad}"
    arguments = [In(dy), In(weight.ravel()), out, *numbers_]
    return Launch(arguments, blocks_for(height * width), 256, what=what)


def far(rng):
    """Where rows of a picture of two billion pixels begin."""
    height, width, side = 70_003, int(rng.integers(29_000, 30_000)), 3
    h_out, w_out = height - 2, width - 2
    blocks, p = near(height * width, height // 3 * width, height // 2 * width)
    i, j = np.divmod(np.arange(9)[:, None], side)
    row, column = p // width - i, p % width - j
    inside = (0 <= column) & (column < w_out)
    read, y = strewn(rng, h_out * w_out, np.where(inside, row * w_out + column, 0))
    weight = numbers(rng, 9)
    terms = np.where(inside, y * weight[:, None].astype(float), 0)
    tolerance = checks.gamma(10, np.float32) * np.abs(terms).sum(0).max()
    out = Far(height * width, "f4", expected=pieces(p, terms.sum(0)), tolerance=tolerance)
    numbers_ = map(np.int32, (height, width, h_out, w_out, side, 0))
    what = f"{height:,} x {width:,}, a filter of 3 x 3, pad 0"
    arguments = [read, In(weight), out, *numbers_]
    return Launch(arguments, blocks_for(height * width), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (3, 4, 3, 1),
        (2, 2, 3, 1),
        (5, 40, 3, 0),
        (33, 31, 5, 1),
        (1, 257, 1, 0),
        (70, 3, 2, 1),
        (9, 12, 4, 5),
        (1, 1, 1, 0),
        (1, 33_003, 1, 0),
    ),
    drawn=drawn,
    large=((60, 50, 9, 4),),
    far=far,
    spare=128,
    counted=(64, 64, 3, 1),
    budget={"ld.sectors": (6080, 6500), "st.sectors": 512},
    limits={"barriers": (128,)},  # the weights may be in shared memory
)
