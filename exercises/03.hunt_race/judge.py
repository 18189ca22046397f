"""Totals of blocks, with a barrier between any two levels of the tree."""

import numpy as np

from helpers.exercises.distant import FAR, far_launch, far_numbers, far_totals
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Far, In, Launch, blocks_for
from helpers.exercises.products import totals
from helpers.exercises.values import numbers


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), totals(x), np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    x = far_numbers(rng)
    expected = far_totals(x, lambda v: totals(v).expected)
    tolerance = max(totals(v).tolerance.max() for v in x.pieces.values())
    out = Far(2**25, np.float32, expected=expected, tolerance=tolerance)
    return far_launch([x, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    far=far,
    counted=1 << 14,
    # two a level of the block are right, too
    budget={
        "ld.sectors": 2048,
        "lds.conflicts": 0,
        "lds.wavefronts": (1600, 2432),
        "barriers": (1536, 3584),
        "st.requests": 64,
    },
    without={r"\b(membar|fence)\b": "Threads of a block need a barrier, no fence."},
    survivors={
        "tid == 1": "another thread writes the same, after the same barrier",
    },
)
