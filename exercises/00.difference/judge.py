"""out[i] = x[i + 1] - x[i]."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = planted(rng, numbers(rng, n), *SPECIAL)
    if n > 3:
        x[1:3] = np.inf  # whose difference is NaN
    return Launch([In(x), Out(_steps(x)), np.int64(n)], grid=blocks_for(n), block=256)


def _steps(x):
    with np.errstate(invalid="ignore"):
        return np.diff(x)


def far(rng):
    x = far_numbers(rng)
    out = Far(FAR - 1, np.float32, expected=far_results(x, _steps))
    return far_launch([x, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    far=far,
    spare=128,
    counted=1 << 16,
    # Neighbouring threads share sectors: x[i + 1] takes one more a warp than x[i], which takes 4.
    budget={"ld.sectors": 18431, "st.sectors": 8192},
)
