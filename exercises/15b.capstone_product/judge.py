"""A product of halves by boxes and warpgroups, as fast as the learner can make it."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.for_judges import *


def drawn(rng):
    m, n, k, blocks = (int(x) for x in rng.integers((130, 33, 9, 1), (300, 70, 40, 4)))
    return [(m, 8 * n, 8 * k, blocks), (136, 776, 264, 3)]


def launch(rng, size, rows, columns, threads, shared):
    m, n, k, blocks = size
    boxes, out = boxed_product(rng, m, n, k, rows=rows, is_stored=True)
    arguments = [boxes, out, *map(np.int64, (m, n)), np.int32(-(-k // 64))]
    what = f"{m} x {k} times {k} x {n} by {blocks}"
    return Launch(arguments, blocks, threads, shared, what=what)


def far(rng, rows, columns, threads, shared):
    """The last tile of a c that has more elements than an int can count."""
    side, k = 46_400, 8
    a, b = (numbers(rng, 1, *shape).astype(np.float16) for shape in ((side, k), (k, side)))
    top, left = side - 1 - (side - 1) % rows, side - 8
    out = product(a[0, top:], b[0, :, left:], np.float16)
    places = np.arange(top, side)[:, None] * side + np.arange(left, side)
    expected = pieces(places.ravel(), out.expected.astype(np.float16).ravel())
    c = Far(side**2, np.float16, {}, expected, np.max(out.tolerance))
    boxes = Boxes(
        [
            (In(a), partial(tensormap.tiled, box=(1, rows, 64))),
            (In(b), partial(tensormap.tiled, box=(1, 64, 64))),
            (c, lambda c: tensormap.tiled(c.reshape(1, side, side), (1, 16, 64))),
        ]
    )
    grid = -(-side // rows) * -(-side // columns)
    arguments = [boxes, c, *map(np.int64, (side, side)), np.int32(1)]
    what = f"{side:,} x {k} times {k} x {side:,}"
    return Launch(arguments, grid, threads, shared, what, [range(grid - 1, grid)])


FREE = "instructions", "barriers", "st.sectors", "lds.wavefronts", "sts.wavefronts"


JUDGE = Judge(
    launch=launch,
    sizes=((1, 8, 8, 1), (130, 264, 72, 2), (300, 40, 424, 2), (140, 520, 328, 4)),
    drawn=drawn,
    large=((100, 40, 4136, 1), (2500, 264, 8, 7)),
    far=far,
    choices=("ROWS", "COLUMNS", "THREADS", "SHARED"),
    counted=(256, 512, 256, 4),
    budget={"ld.sectors": 0},
    limits=dict.fromkeys(FREE),  # what counts is the clock
    shared_bytes=227 << 10,
    even=False,
    rate=Rate((256, 512, 2048, 4), 540, {"cuBLAS": "gemm 4096 float16"}, side=4096),
    checks=[
        TextHas({r"\A(?![\s\S]*\bmultiply\s*[<(])": "Write the loop yourself, without multiply."})
    ],
    advice={
        "clock": "Does each step wait until its products are done before the next step's begin?"
        " Leave one step in flight, wait_for_products<1>(), and release the stage before"
        " it. Then store by boxes while the producer fetches for the next tile."
    },
    survivors={
        "threadIdx.x != 0) stages": "threads begin the barriers alike",
        "threadIdx.x == 1) stages": "another thread begins the barriers",
        "threadIdx.y == 0) stages": "all threads begin the barriers alike",
        "STAGES = 3": "another number of stages",
        "3 * STAGES": "room for barriers that nobody uses",
        "!= 0) arrive(before)": "254 arrivals end 127 phases, which is odd as one is",
        "== 1) arrive(before)": "another thread arrives",
        "before = 1": "nobody arrives there before it is set",
        "THREADS = 383": "one thread of the producer's fewer",
    },
)
