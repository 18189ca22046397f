"""Max pooling of one picture."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    low, high = ((9, 20, 6, 4, 1), (60, 70, 2, 1, 1)), ((30, 60, 9, 8, 9), (90, 90, 4, 2, 5))
    return rng.integers(low, high).tolist()


def launch(rng, size):
    height, width, kernel, stride, pad = size
    centre = -(10 ** rng.uniform(1, 35))  # far below 0: what does not begin at -inf shows
    x = (centre * (1 + numbers(rng, height, width) / 8)).astype(np.float32)
    x = planted(rng, x, np.inf, *[-np.inf] * (x.size // 3))
    return _launch(x, kernel, stride, pad)


def seen():
    darker = np.linspace(0.5, 1, 96, dtype=np.float32)  # to the right, so that each edge shows
    photo = cat(96, 96) - darker
    pooled = _launch(photo, 4, 4, 2)
    return Seen(photo, pooled, (25, 25))


def _launch(x, kernel, stride, pad):
    height, width = x.shape
    padded = np.pad(x, pad, constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel))
    out = Out(windows[::stride, ::stride].max((2, 3)))
    numbers_ = (np.int32(n) for n in (height, width, *out.expected.shape, kernel, stride, pad))
    what = f"{height} x {width}, kernel {kernel}, stride {stride}, pad {pad}"
    arguments = [In(x), out, *numbers_]
    return Launch(arguments, blocks_for(out.expected.size), 256, what=what)


def far(rng):
    height, width, kernel = 70_003, int(rng.integers(29_000, 30_000)), 2
    h_out, w_out = height - kernel + 1, width - kernel + 1
    blocks, i = near(h_out * w_out, h_out // 2 * w_out, h_out * w_out - 1)
    window = np.array([[0], [1], [width], [width + 1]])
    read, x = strewn(rng, height * width, i // w_out * width + i % w_out + window)
    out = Far(h_out * w_out, "f4", expected=pieces(i, x.max(0)))
    arguments = [read, out, *map(np.int32, (height, width, h_out, w_out, kernel, 1, 0))]
    what = f"{height:,} x {width:,}, kernel {kernel}, stride 1, pad 0"
    return Launch(arguments, blocks_for(h_out * w_out), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (6, 9, 2, 2, 0),
        (13, 10, 3, 1, 1),
        (31, 33, 3, 2, 1),
        (7, 40, 5, 3, 2),
        (1, 1, 1, 1, 0),
        (2, 3, 2, 1, 3),
        (5, 4, 2, 3, 4),
    ),
    drawn=drawn,
    large=((2, 40_000, 2, 1, 0), (300, 240, 17, 13, 16), (280, 300, 3, 1, 1)),
    undefined=SCALED | {"NaN": "the statement says that there is none"},
    far=far,
    spare=128,
    counted=(64, 64, 2, 2, 0),
    budget={"ld.sectors": 1024, "st.sectors": 128},
    padding=-np.inf,
    seen=seen,
)
