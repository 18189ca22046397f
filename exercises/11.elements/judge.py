"""im2col with a thread per element: a step of the course."""

import numpy as np

from helpers import windows
from helpers.exercises.for_judges import *


def drawn(rng):
    """Uneven windows over a few images."""
    for size in (2, 30), (4, 60):
        channels, height, width = rng.integers(*size, 3).tolist()
        window = rng.integers((1, 1, 1, 1, 0, 0, 1, 1), (5, 6, 4, 4, 5, 6, 4, 4)).reshape(4, 2)
        yield channels, height + 15, width + 20, *map(tuple, window.tolist())


def launch(rng, size):
    channels, height, width, *window = size
    h, w = windows.sides((height, width), *window)
    x = planted(rng, numbers(rng, channels, height, width), np.nan)
    x[:, [0, -1], [0, -1]] = np.inf  # times 0 it is not 0
    out = Out(windows.im2col(x, h, w))
    n = out.expected.size
    names = "window", "stride", "padding", "dilation"
    told = ", ".join(f"{name} {value}" for name, value in zip(names, window))
    what = f"{channels} x {height} x {width}, {told}"
    return Launch([In(x), out, np.int64(n), windows.argument(h, w)], blocks_for(n), 256, what=what)


def far(rng):
    """A picture of ten channels, and windows of two rows: more elements than 32 bits can count."""
    channels, height, width = 10, 70_003, int(rng.integers(6500, 7000))
    h, w = windows.sides((height, width), (2, 1))
    row = h.places * width
    n = 2 * channels * row
    blocks, i = near(n, *(k * row for k in range(1, 2 * channels)), n - 1)
    channel, tap = i // (2 * row), i // row % 2
    read, x = strewn(rng, channels * height * width, (channel * height + tap) * width + i % row)
    arguments = [read, Far(n, "f4", expected=pieces(i, x)), np.int64(n), windows.argument(h, w)]
    what = f"{channels} x {height:,} x {width:,}, window (2, 1)"
    return Launch(arguments, blocks_for(n), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(  # channels, height, width, and the window: kernel, stride, padding, dilation
        (2, 9, 40, (2, 3), (1, 2), (0, 3), (2, 1)),
        (3, 2, 3, (5, 4), 1, 4, 1),
        (1, 1, 1, 1, 1, 0, 1),
    ),
    drawn=drawn,
    large=((1, 14, 15, (10, 9), 1, 5, 1),),
    far=far,
    ours="im2col/elements.cu",
    spare=128,
    counted=(2, 32, 32, 3, 1, 1, 1),
    budget={"ld.sectors": (2256, 2500), "st.sectors": 2304},
    checks=[OtherTypes("half")],
)
