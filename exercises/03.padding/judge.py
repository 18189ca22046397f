"""Totals of blocks by a tree in shared memory, without bank conflicts."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    out = Out(_tree(x))
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256, shared=264 * 4)


def _tree(x):
    """Totals in the order of this tree: neighbours first. Another order rounds otherwise."""
    rows = np.zeros(256 * blocks_for(x.size), np.float32)
    rows[: x.size] = x
    rows = rows.reshape(-1, 256)
    while rows.shape[1] > 1:
        rows = rows[:, ::2] + rows[:, 1::2]
    return rows[:, 0]


def far(rng):
    x = far_numbers(rng)
    out = Far(2**25, np.float32, expected=far_totals(x, _tree))
    return far_launch([x, out, np.int64(FAR)], shared=264 * 4)


TREE = "Leave the tree as it is: only place(i) is asked for."


JUDGE = Judge(
    launch=launch,
    far=far,
    undefined=BY_ATOMICS,
    counted=1 << 14,
    budget={
        "ld.sectors": 2048,
        "lds.conflicts": 0,
        "sts.conflicts": 0,
        "lds.wavefronts": (1600, 2048),
        "barriers": 4608,
        "st.requests": 64,
    },
    idea={"lds.wavefronts": (1600, TREE), "sts.wavefronts": (1280, TREE)},
    survivors={
        "tid == 1": "another thread writes the same, after the same barrier",
        "left + stride <= blockDim.x": "never equal: stride is a power of 2 below 256, left +"
        " stride an odd multiple of it",
    },
)
