"""out = min(x, most), by the guard of an article: `index > num`."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    most = np.float32(rng.normal())
    x = planted(rng, numbers(rng, n), np.inf, -np.inf, most, 1e38)
    out = Out(np.minimum(x, most))
    return Launch([In(x), out, most, np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    x, most = far_numbers(rng), np.float32(rng.uniform(0, 1))
    out = Far(FAR, np.float32, expected=far_results(x, lambda v: np.minimum(v, most)))
    return far_launch([x, out, most, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    undefined={
        "NaN": "fminf and comparisons differ, and the text does not say which of them it is"
    },
    far=far,
    spare=128,
    counted=1 << 16,
    budget={"ld.sectors": (8192, 10240), "st.sectors": (8192, 10240)},
    inputs=same_place,
    survivors={"value >= most": "where they are equal, both are right"},
)
