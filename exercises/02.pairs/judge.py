"""re^2 + im^2 of interleaved pairs."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    z = planted(rng, numbers(rng, n, 2), np.inf, -np.inf, np.nan, 0, 1e12, -1e-12)
    squares = (z.astype(float) ** 2).sum(1)
    return Launch([In(z), Out(squares, _tolerance(squares)), np.int64(n)], blocks_for(n), 256)


def _tolerance(squares):
    """Two products and a sum, each rounded once at most."""
    return np.where(np.isfinite(squares), checks.gamma(2, np.float32) * squares, 0)


def far(rng):
    parts = far_numbers(rng), far_numbers(rng)
    pieces = {at: np.stack([z.pieces[at] for z in parts], 1) for at in parts[0].pieces}
    z = Far(2 * FAR, np.float32, {2 * at: values.ravel() for at, values in pieces.items()})
    squares = far_results(Far(FAR, np.float32, pieces), lambda v: (v.astype(float) ** 2).sum(1))
    tolerance = max(_tolerance(np.asarray(s)).max() for s in squares.values())
    out = Far(FAR, np.float32, expected=squares, tolerance=tolerance)
    return far_launch([z, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    far=far,
    spare=128,
    undefined=BY_ATOMICS,
    counted=1 << 15,
    budget={"ld.sectors": 8192, "ld.requests": 1024, "st.sectors": 4096},
)
