"""a s + b of halves, in packs of eight. Before the sum the product may be rounded to float."""

import numpy as np

from helpers.exercises.for_judges import *


def once(a, b, s):
    """What lies between the results of all ways to round once, and how far they are from it."""
    exact = a.astype("g") * s + b
    ways = exact.astype(float), exact.astype("f4"), a.astype("f4") * s + b.astype("f4")
    ways = [way.astype("f2").astype(float) for way in ways]
    low, high = np.min(ways, 0), np.max(ways, 0)
    return (low + high) / 2, (high - low) / 2


def factors(rng, n):
    """a, b and s for which rounding to half in between gives other results, mostly."""
    s = np.float32(rng.choice([-1, 1]) * 10 ** rng.uniform(-1, 1))
    a, b = ((numbers(rng, 16, n) * 2 ** rng.uniform(-12, 9, (16, n))).astype("f2") for _ in "ab")
    right = once(a, b, s)[0]
    twice = (a.astype("f4") * s).astype("f2") + b, (a.astype("f4") * np.half(s) + b).astype("f2")
    best = np.sum([right != other for other in twice], 0).argmax(0)[None]
    return *(np.take_along_axis(pool, best, 0)[0] for pool in (a, b)), s


def launch(rng, n):
    a, b, s = factors(rng, n)
    a, b = planted(rng, a, np.inf, -65504, 6e-8), planted(rng, b, np.nan, 65504, 65504)
    with np.errstate(over="ignore", invalid="ignore"):
        out = Out(*once(a, b, s), dtype=np.float16)
    grid = blocks_for(-(-n // 8))
    return Launch([In(a), In(b), out, s, np.int64(n)], grid, 256)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 7, 8, 9, 31, 2048, 2051, 4103, 0),
    drawn=lambda rng: rng.integers((70, 22_000), (700, 30_000)).tolist(),
    far=lambda rng: far_elements(launch(rng, 2048 + 77), (1 << 32) + 77, 8),
    spare=128,
    undefined=SCALED,
    counted=(1 << 16) + 3,
    budget={"ld.requests": 518, "st.requests": 259, "ld.sectors": 8198, "st.sectors": 4099},
    inputs=same_place,
)
