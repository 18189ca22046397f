"""A filter of 3 x 3, without columns."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    x, weight = numbers(rng, *size), rng.standard_normal((3, 3)).astype(np.float32)
    if x.size > 12:  # of which something goes wrong with ordinary numbers, too
        x[rng.choice([0, -1]), rng.choice([0, -1])] = np.inf  # times 0 it is not 0
    return _launch(x, weight)


def seen():
    photo = cat(96, 96)
    across = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
    return Seen(photo, _launch(photo, across), photo.shape)


def _launch(x, weight):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, 1), (3, 3))
    sums, sizes = (
        np.einsum("rcij,ij->rc", f(windows).astype(float), f(weight).astype(float))
        for f in (np.array, np.abs)
    )
    out = Out(sums, checks.gamma(10, np.float32) * sizes)
    arguments = [In(x), In(weight.ravel()), out, *map(np.int32, x.shape)]
    what = f"a picture of {x.shape[0]} x {x.shape[1]}"
    return Launch(arguments, blocks_for(x.size), 256, what=what)


def far(rng):
    """Where rows of a picture of two billion pixels begin."""
    height, width = 70_003, int(rng.integers(29_000, 30_000))
    blocks, p = near(height * width, height // 3 * width, height // 2 * width)
    row, column = np.divmod(np.arange(9)[:, None], 3)
    read, x = strewn(rng, height * width, p + (row - 1) * width + column - 1)
    column = column + p % width
    weight = numbers(rng, 9)
    terms = np.where((0 < column) & (column <= width), x * weight[:, None].astype(float), 0)
    tolerance = checks.gamma(10, np.float32) * np.abs(terms).sum(0).max()
    out = Far(height * width, "f4", expected=pieces(p, terms.sum(0)), tolerance=tolerance)
    arguments = [read, In(weight), out, np.int32(height), np.int32(width)]
    what = f"{height:,} x {width:,}"
    return Launch(arguments, blocks_for(height * width), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=((2, 2), (3, 4), (5, 40), (33, 31), (1, 257), (70, 1), (1, 1)),
    drawn=lambda rng: rng.integers(((5, 7), (50, 60)), ((20, 50), (90, 90))).tolist(),
    large=((2, 70_003), (300, 260)),
    far=far,
    spare=128,
    undefined={"subnormal": "each of nine products may be rounded"},
    counted=(64, 64),
    budget={"ld.sectors": (6080, 6500), "st.sectors": 512},
    limits={"barriers": (128,)},  # the weights may be in shared memory
    seen=seen,
)
