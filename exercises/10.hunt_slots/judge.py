"""Sums of halves, eight a thread."""

import numpy as np

from helpers.exercises.for_judges import *


def halves(rng, n):
    return (numbers(rng, n) * 2 ** rng.uniform(-20, 12, n)).astype("f2")


def launch(rng, n):
    a, b = planted(rng, halves(rng, n), np.inf, np.nan), halves(rng, n)
    grid = blocks_for(n // 8)
    return Launch([In(a), In(b), Out(a + b, dtype=np.float16), np.int64(n)], grid, 256)


JUDGE = Judge(
    launch=launch,
    sizes=(2048, 8, 16, 248, 2056, 8168, 0),
    drawn=lambda rng: (8 * rng.integers((9, 2561), (120, 4000))).tolist(),
    far=lambda rng: far_elements(launch(rng, 2048 + 72), (1 << 32) + 72, 8),
    undefined=SCALED,
    counted=1 << 16,
    budget={"ld.requests": 512, "st.requests": 256, "ld.sectors": 8192, "st.sectors": 4096},
    limits={"barriers": (2 * 256,)},  # threads may add what others loaded, after a barrier
    inputs=same_place,
    advice={
        "race": "These are two threads and one slot: whose is it? Let each add the halves of its"
        " own."
    },
)
