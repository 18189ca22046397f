"""Means of five neighbours through shared memory."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    if n > 33:
        x[[0, -1]] = np.inf, -np.inf  # times 0 they are no zeros
        x = planted(rng, x, np.nan)
    return Launch([In(x), Out(*_means(x)), np.int64(n)], grid=blocks_for(n), block=256)


def _means(x):
    """The means of five, and how far off each may be."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, (2, 3)).astype(float), 5)[: x.size]
    means = windows.sum(1) / 5
    return means, np.where(
        np.isfinite(means), checks.gamma(6, np.float32) * np.abs(windows).sum(1) / 5, 0
    )


def far(rng):
    x = far_numbers(rng)
    out = Far(FAR, np.float32, expected=far_results(x, lambda v: _means(v)[0]))
    out.tolerance = max(_means(v)[1].max() for v in x.pieces.values())
    return far_launch([x, out, np.int64(FAR)])


SHARED = "Each element is wanted by five threads: pass it through shared memory."


JUDGE = Judge(
    launch=launch,
    far=far,
    undefined=BY_ATOMICS,
    counted=1 << 14,
    # threads that fetch their own element first, and the ends apart, ask for 2174, but take longer
    budget={"ld.sectors": (2686, 2700), "st.sectors": 2048},
    idea={"lds.wavefronts": (512, SHARED)},
)
