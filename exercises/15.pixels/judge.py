"""im2col by the tensor memory accelerator."""

from functools import partial

import numpy as np

from helpers import tensormap, windows
from helpers.exercises.for_judges import *


def drawn(rng):
    return [
        (
            int(rng.integers(1, 4)),
            *(int(n) for n in rng.integers((6, 6, 2, 2, 1, 0), (20, 20, 4, 4, 3, 2))),
        )
        for _ in "ab"
    ]


def launch(rng, size):
    images, height, width, kernel_h, kernel_w, stride, pad = size
    h, w = windows.sides((height, width), (kernel_h, kernel_w), stride, pad)
    x = rng.integers(-99, 99, (images, height, width, 64)).astype(np.float16)
    x = with_special(rng, x)
    taps, places = kernel_h * kernel_w, images * h.places * w.places
    out = Out(_seen(x, h, w), dtype=np.float16, bits=True)
    make = partial(tensormap.im2col, h=h, w=w, channels=64, pixels=64, swizzle=0)
    numbers = map(np.int32, (places, h.places, w.places, kernel_w, stride, pad))
    what = (
        f"{images} x {height} x {width}, window {kernel_h} x {kernel_w}, stride {stride}, pad {pad}"
    )
    return Launch([Boxes([(In(x), make)]), out, *numbers], (-(-places // 64), taps), 128, what=what)


def _seen(x, h, w):
    """[tap, place, channel]"""
    seen = windows.im2col(x.transpose(0, 3, 1, 2), h, w)  # image, channel, tap row, column, place
    return np.ascontiguousarray(seen.transpose(2, 3, 0, 4, 5, 1)).reshape(
        h.kernel * w.kernel, -1, 64
    )


def explain(launch, out, got):
    if np.ndim(out.expected) < 3:
        return None  # a piece of what is far
    rows, columns, wide = map(int, launch.arguments[3:6])
    wrong = got.reshape(np.shape(out.expected)) != out.expected
    tap, place, channel = np.argwhere(wrong)[0]
    image, at = divmod(int(place), rows * columns)
    return (
        f"The first wrong element is channel {channel} of tap ({tap // wide}, {tap % wide}), at row"
        f" {at // columns} and column {at % columns} of image {image}: which corner does its box"
        " have, and which tap?"
    )


def far(rng):
    """The last tap of images with more places than a float tells apart, and an out with more packs
    than an int can count: the last block, and one that begins at the end of a row."""
    images, side, taps = 3400, 101, 9
    h, w = windows.sides((side, side), 3, 1, 1)
    x = rng.integers(-99, 99, (1, side, side, 64)).astype(np.float16)
    seen, places, before = _seen(x, h, w)[-1], images * side**2, (images - 1) * side**2
    last = (places - 1) // 64
    at = max(range(-(-before // 64), last), key=lambda block: block * 64 % side), last
    first = (taps - 1) * places
    expected = {
        (first + 64 * n) * 64: seen[64 * n - before : 64 * n - before + 64].ravel() for n in at
    }
    given = Far(places * 64, np.float16, {before * 64: x.ravel()})

    def make(x):
        shape = images, side, side, 64
        return tensormap.im2col(x.reshape(shape), h, w, channels=64, pixels=64, swizzle=0)

    numbers = map(np.int32, (places, side, side, 3, 1, 1))
    arguments = [
        Boxes([(given, make)]),
        Far(taps * places * 64, np.float16, {}, expected),
        *numbers,
    ]
    what = f"{images:,} x {side} x {side}, window 3 x 3, stride 1, pad 1"
    blocks = [range((taps - 1) * (last + 1) + n, (taps - 1) * (last + 1) + n + 1) for n in at]
    return Launch(arguments, (last + 1, taps), 128, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 1, 1, 1, 1, 1, 0),
        (1, 5, 6, 3, 3, 1, 1),
        (2, 9, 7, 3, 2, 2, 1),
        (3, 8, 8, 2, 4, 1, 0),
        (2, 20, 21, 3, 3, 2, 1),
    ),
    drawn=drawn,
    large=((2, 20, 21, 5, 5, 3, 3), (70, 32, 33, 1, 1, 1, 0)),
    far=far,
    counted=(2, 16, 16, 3, 3, 1, 1),
    budget={"ld.sectors": 0, "st.sectors": 18432},
    limits={"instructions": 2},
    explain=explain,
    advice={
        "window_place": "The order of coordinates is channel, column, row, image. The corner of"
        " the first place is at column · stride − pad and row · stride − pad,"
        " without the tap."
    },
    survivors={"threadIdx.x == 1": "another thread copies"},
)
