"""Bytes plus a number, held within 0 and 255."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    elementwise,
    far_launch,
    far_numbers,
    far_results,
)
from helpers.exercises.seen import Seen, cat

LEAST, MOST = -(2**31), 2**31 - 256  # what may be added to a pixel in an int
SIZES = (
    *((1, 99), (31, -99), (32, 300), (33, -300), (255, 40_000), (257, -40_000)),
    *((257, 70_000), (1009, MOST), (1009, LEAST), (1009, LEAST + 300), (0, 1)),
)


def drawn(rng):
    few, many = rng.integers(34, 1001), rng.integers(2561, 5121)
    return (few, rng.integers(-255, 256)), (many, rng.integers(LEAST, MOST))


def launch(rng, size):
    n, more = map(int, size)
    pixels, more = rng.integers(0, 256, n, np.uint8), np.int32(more)
    expected = np.clip(pixels.astype(int) + more, 0, 255).astype(np.uint8)
    arguments = [In(pixels), Out(expected, dtype=np.uint8), more, np.int64(n)]
    return Launch(arguments, grid=blocks_for(n), block=256, what=f"n = {n:,}, more = {more}")


def seen():
    return [_seen(np.int32(more)) for more in (300, -300, 99, -99, -40_000, 40_000, 70)]


def _seen(more):
    photo = (200 * cat(96, 96)).astype(np.uint8)
    out = Out(np.clip(photo.ravel().astype(int) + more, 0, 255).astype(np.uint8), dtype=np.uint8)
    arguments = [In(photo.ravel()), out, more, np.int64(photo.size)]
    what = f"more = {more}"
    return Seen(photo, Launch(arguments, blocks_for(photo.size), 256, what=what), photo.shape)


def far(rng):
    pixels, more = far_numbers(rng, dtype=np.uint8), np.int32(rng.integers(1, 100))
    expected = far_results(pixels, lambda v: np.minimum(v.astype(int) + more, 255))
    out = Far(FAR, np.uint8, expected=expected)
    return far_launch([pixels, out, more, np.int64(FAR)])


SPARE = 128
inputs = elementwise
COUNTED = 1 << 16, 77
BUDGET = {"ld.sectors": 2048, "st.sectors": 2048}

WRONG = {
    "zeros": Wrong("values", {"min(max(pixels[i] + more, 0), 255)": "0"}),
    "overflow": Wrong("values", {"min(max(pixels[i] + more, 0), 255)": "pixels[i] + more"}),
    "white only": Wrong(
        "values", {"min(max(pixels[i] + more, 0), 255)": "min(pixels[i] + more, 255)"}
    ),
    "black only": Wrong(
        "values", {"min(max(pixels[i] + more, 0), 255)": "max(pixels[i] + more, 0)"}
    ),
    "added as bytes": Wrong(
        "values", {"pixels[i] + more": "(unsigned char)(pixels[i] + (unsigned char)more)"}
    ),
    "a short": Wrong("values", {"pixels[i] + more": "(int)(short)(pixels[i] + more)"}),
    "a char": Wrong("values", {"+ more": "+ (signed char)more"}),
    "10 bits": Wrong("values", {"+ more": "+ (more << 22 >> 22)"}),
    "hundreds": Wrong("values", {"+ more": "+ more / 100 * 100"}),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
    "one too dark": Wrong("values", {"255": "254"}),
    "no guard": Wrong("out of bounds", {"if (i >= n) return;": ""}),
    "reads its own output": Wrong("uninitialised|values", {"pixels[i] + more": "out[i] + more"}),
}
