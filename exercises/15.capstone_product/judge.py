"""A product by boxes and warpgroups, of the learner's own design."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.for_judges import *


def drawn(rng):
    """Few columns and many steps; many columns."""
    m, n, k = (int(x) for x in rng.integers((30, 30, 60), (100, 100, 80)))
    return (m, n, 8 * k), (2 * m, 2 * n, k - k % 8)


def launch(rng, size, threads):
    m, n, k = size
    a, b = operands(rng, m, n, k, np.float16)
    return _launch(a[None], np.ascontiguousarray(b.T)[None], product(a, b), threads)


def _launch(a, b, c, threads, **more):
    (_, m, k), (_, n, _) = a.shape, b.shape
    box = partial(tensormap.tiled, box=(1, 64, 64), swizzle=128)
    arguments = [Boxes([(In(a), box), (In(b), box)]), c, *map(np.int32, (m, n, k))]
    what = f"{m:,} x {k} times {k} x {n:,}"
    return Launch(arguments, (-(-n // 64), -(-m // 64)), threads, what=what, **more)


def far(rng, threads):
    """The last block of a c that has more elements than 32 bits can count."""
    n = 64 * 1025
    a, b = (numbers(rng, 1, n, 8).astype(np.float16) for _ in "ab")
    out = product(a[0, -64:], np.ascontiguousarray(b[0, -64:].T))
    places = np.arange(n - 64, n)[:, None] * n + np.arange(n - 64, n)
    expected = pieces(places.ravel(), out.expected.astype(np.float32).ravel())
    c = Far(n * n, np.float32, {}, expected, np.max(out.tolerance))
    return _launch(a, b, c, threads, blocks=[range(1025**2 - 1, 1025**2)])


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 8), (64, 64, 64), (65, 63, 72), (64, 130, 200), (100, 33, 320)),
    drawn=drawn,
    large=((70, 66, 33_000),),
    far=far,
    choices=("THREADS",),
    counted=(256, 256, 256),
    budget={"ld.sectors": 0, "hmma": 1024},
    limits={"instructions": None, "barriers": 4},  # of who waits
    idea={
        "shared": (
            32_768,
            "Use two stages of two tiles, 64 lines of 128 bytes each: one is copied while the"
            " other is multiplied.",
        )
    },
    shared_bytes=49_152,
    even=False,
    rate=Rate((256, 256, 4096), 0, {"cuBLAS": "gemm 4096 b transposed float16"}),
    checks=[
        Exposed(
            262_144,  # of each block the first step
            393_216,
            "While you multiply one stage, let the other be copied: wait only for the stage"
            " that you are about to overwrite.",
        )
    ],
    survivors={
        "step <= steps": "a step more, which nobody multiplies",
        "if (threadIdx.x != 0) {": "threads begin the barriers alike",
        "if (threadIdx.x != 0) arrive": "127 arrivals end 127 phases, which is odd as one is",
        "threadIdx.x == 1": "another thread",
        "threadIdx.y == 0": "all threads begin the barriers alike",
        "3 * STAGES": "room for barriers that nobody uses",
        "DEEP - 2": "k is a multiple of 8",
        "bar.sync 2": "another barrier",
    },
)
