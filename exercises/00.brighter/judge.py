"""Bytes plus a number, held within 0 and 255."""

import numpy as np

from helpers.exercises.for_judges import *

LEAST, MOST = -(2**31), 2**31 - 256  # what may be added to a pixel in an int


def drawn(rng):
    few, many = rng.integers(34, 1001), rng.integers(2561, 5121)
    return (few, rng.integers(-255, 256)), (many, rng.integers(LEAST, MOST))


def launch(rng, size):
    n, more = map(int, size)
    pixels, more = rng.integers(0, 256, n, np.uint8), np.int32(more)
    expected = np.clip(pixels.astype(int) + more, 0, 255).astype(np.uint8)
    arguments = [In(pixels), Out(expected, dtype=np.uint8), more, np.int64(n)]
    return Launch(arguments, grid=blocks_for(n), block=256, what=f"n = {n:,}, more = {more}")


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


JUDGE = Judge(
    launch=launch,
    sizes=(
        *((1, 99), (31, -99), (32, 300), (33, -300), (255, 40_000), (257, -40_000)),
        *((257, 70_000), (1009, MOST), (1009, LEAST), (1009, LEAST + 300), (0, 1)),
    ),
    drawn=drawn,
    far=far,
    spare=128,
    counted=(1 << 16, 77),
    budget={"ld.sectors": 2048, "st.sectors": 2048},
    inputs=same_place,
    seen=lambda: [_seen(np.int32(more)) for more in (300, -300, 99, -99, -40_000, 40_000, 70)],
)
