"""numpy.isclose. One pair is on the bound, and none so near it that rounding could tell."""

import numpy as np

from helpers.exercises.for_judges import *

SPECIAL = [(-3e38, 3e38), (1e-45, 0), (1, -1)] + [
    (x, y) for x in (0, 1, -1, np.inf, -np.inf, np.nan) for y in (0, np.inf, -np.inf, np.nan)
]


def drawn(rng):
    sizes = rng.integers((34, 2561), (1000, 5000)).tolist()
    return [(n, 10 ** rng.uniform(-4, -0.3), 10 ** rng.uniform(-9, 3)) for n in sizes]


def pairs(rng, n, rtol, atol):
    """Near the bound and far off, with what comes of them. One pair lies on it, and no other so
    near that rounding could tell."""
    b = rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-8, 6, n)
    if rtol and atol:  # both terms of the bound are of one size
        b[::3] = rng.choice([-1, 1], b[::3].size) * atol / rtol * rng.uniform(0.2, 5, b[::3].size)
    b = b.astype("f4")
    bound = atol + rtol * np.abs(b.astype(float))
    a = (b + bound * rng.choice([-10, -1.1, -1.01, -0.99, 0, 0.99, 1.01, 1.1, 10], n)).astype("f4")
    a[::17] = -b[::17]
    special = np.array([(atol, 0), *SPECIAL], "f4")[: n // 2]
    a[: len(special)], b[: len(special)] = special.T
    with np.errstate(invalid="ignore"):
        past = np.abs(a.astype(float) - b) / (atol + rtol * np.abs(b.astype(float)) + 1e-99) - 1
        a = np.where((past != 0) & (np.abs(past) < 1e-3), b, a)
        return a, b, np.isclose(a.astype(float), b.astype(float), rtol, atol)


def launch(rng, size):
    n, *bounds = size
    rtol, atol = (np.float32(bound * rng.uniform(0.5, 1)) for bound in bounds)
    a, b, close = pairs(rng, n, float(rtol), float(atol))
    what = f"n = {n:,}, rtol {rtol:.3g}, atol {atol:.3g}"
    arguments = [In(a), In(b), Out(close, dtype=bool), rtol, atol, np.int64(n)]
    return Launch(arguments, blocks_for(n), 256, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 1e-3, 1e-5),
        (31, 0.3, 1e-6),
        (32, 0, 1e-4),
        (33, 0.05, 0),
        (255, 1e-4, 1),
        (257, 0.4, 1e-3),
        (1009, 1e-3, 1e-5),
        (1009, 0, 0),
        (0, 1, 1),
    ),
    drawn=drawn,
    far=lambda rng: far_elements(launch(rng, (512 + 77, 0.125, 0.25)), (1 << 32) + 77),
    spare=128,
    undefined=SCALED,
    counted=(1 << 14, 1e-3, 1e-5),
    budget={"ld.sectors": 4096, "st.sectors": 512},
    inputs=same_place,
)
