"""out = 2 x, an element a thread."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = planted(rng, numbers(rng, n), *SPECIAL)
    return Launch([In(x), Out(2 * x), np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    x = far_numbers(rng)
    out = Far(FAR, np.float32, expected=far_results(x, lambda v: 2 * v))
    return far_launch([x, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    far=far,
    spare=256,
    counted=1 << 16,
    budget={"ld.sectors": 8192, "st.sectors": 8192},
    inputs=same_place,
)
