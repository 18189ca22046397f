"""Totals of blocks, with a barrier between any two levels of the tree."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), totals(x), np.int64(n)], grid=blocks_for(n), block=256)


JUDGE = Judge(
    launch=launch,
    far=far_block_totals,
    undefined=BY_ATOMICS,
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
    survivors={"tid == 1": "another thread writes the same, after the same barrier"},
)
