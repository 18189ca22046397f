"""Greatest elements of blocks: no thread leaves before the last barrier."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return (int(rng.integers(34, 1001)), -5000), (int(rng.integers(2561, 5121)), rng.normal())


def launch(rng, size):
    n, about = size
    spread = numbers(rng, n) * (abs(about) / 9 or 1) if np.isfinite(about) else 0
    x = np.full(n, about + spread, np.float32)
    rows = np.full(256 * blocks_for(n), -np.inf, np.float32)
    rows[:n] = x
    arguments = [In(x), Out(rows.reshape(-1, 256).max(1)), np.int64(n)]
    return Launch(arguments, blocks_for(n), 256, what=f"n = {n:,}, about {about:.4g}")


def far(rng):
    x = far_numbers(rng)
    expected = far_totals(x, lambda v: [v.max()], none=-np.inf)
    return far_launch([x, Far(2**25, np.float32, expected=expected), np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    # elements, and about what they are: what stands for the missing ones must not be the greatest
    sizes=(
        *((1, -10), (31, -1e30), (32, 10), (33, -np.inf), (255, -1e-30)),
        *((257, -10), (257, -np.inf), (1009, 0), (1009, -1e30), (0, 0)),
    ),
    drawn=drawn,
    undefined={"NaN": "fmaxf leaves it out"},
    far=far,
    counted=(1 << 14, -10),
    budget={"ld.sectors": (2048, 2560), "barriers": (4608, 9216), "lds.wavefronts": (1600, 2432)},
    without={r"\b(membar|fence)\b": "Threads of a block need a barrier, no fence."},
    survivors={"tid == 1": "another thread writes the same, after the same barrier"},
)
