"""A filter of 3 x 3, without columns."""

import numpy as np

from helpers import checks
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
    strewn,
)
from helpers.exercises.seen import Seen, cat

SIZES = (2, 2), (3, 4), (5, 40), (33, 31), (1, 257), (70, 1), (1, 1)


def drawn(rng):
    return rng.integers(((5, 7), (50, 60)), ((20, 50), (90, 90))).tolist()


def launch(rng, size):
    x, weight = numbers(rng, *size), numbers(rng, 3, 3)
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


SPARE = 128
LARGE = (2, 70_003), (300, 260)
COUNTED = 64, 64
BUDGET = {"ld.sectors": (6080, 6500), "st.sectors": 512}
LIMITS = {"barriers": (128,)}  # the weights may be in shared memory

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
    "the nearest pixel, times 0": Wrong(
        "values",
        {
            f"if ({INSIDE})": "",
            "x[row * width + column]": f"({INSIDE})"
            " * x[min(max(row, 0), height - 1) * width + min(max(column, 0), width - 1)]",
        },
    ),
    "rows in float": Wrong("values|launch", {"p / width +": "(int)((float)p / (float)width) +"}),
    "rows in 16 bits": Wrong(
        "values|launch", {"int row =": "short row =", ", column =": "; int column ="}
    ),
    "pixels by atomics": Wrong(
        "counters|inputs|race",
        {"x[row * width + column]": "atomicAdd((float *)x + row * width + column, 0.f)"},
    ),
    "no guard": Wrong("out of bounds", {"if (p >= height * width) return;": ""}),
}
