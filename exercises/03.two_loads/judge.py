"""Totals of stretches of 512, two elements a thread."""

from functools import partial

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    if n > 256:
        x[-1] = np.inf  # times 0 it is no zero
    return Launch([In(x), totals(x, 512), np.int64(n)], grid=blocks_for(n, 512), block=256)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 33, 256, 257, 511, 513, 1009, 0),
    drawn=lambda rng: (int(rng.integers(34, 1001)), int(rng.integers(5121, 8000))),
    far=partial(far_block_totals, each=512),
    undefined=BY_ATOMICS,
    counted=1 << 15,
    budget={
        "ld.sectors": 4096,
        "lds.conflicts": 0,
        "barriers": (4608, 5120),
        "st.requests": 64,
        "lds.wavefronts": (1600, 2432),
    },
    survivors={"tid == 1": "another thread writes the same, after the same barrier"},
)
