"""The last block to arrive adds up: fences around the count."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = 1, 33, 257, 1009, 0


def launch(rng, n):
    x = numbers(rng, n)
    blocks = min(20, max(1, -(-n // 32)))
    tolerance = checks.sum_tolerance(x)
    rows = np.zeros((-(-n // (32 * blocks)) or 1) * 32 * blocks)
    rows[:n] = x
    totals = Out(rows.reshape(-1, blocks, 32).sum((0, 2)), tolerance)
    out = Out(np.array([x.sum(dtype=float)]), tolerance)
    arrived = Out(np.zeros(1), dtype=np.uint32, initial=np.zeros(1))
    return Launch([In(x), out, np.int64(n), totals, arrived], grid=blocks, block=32)


COUNTED = 1 << 12
EVEN = False
BUDGET = {"ld.sectors": (532, 600)}

LAST = "if (atomicInc(arrived, gridDim.x - 1) < gridDim.x - 1) return;"
WRONG = {
    "no fence before the count": Wrong(
        "race", {f"    __threadfence();\n    {LAST}": f"    {LAST}"}
    ),
    "a block's fence": Wrong("race", {"__threadfence()": "__threadfence_block()"}),
    "a barrier for a fence": Wrong("race", {"__threadfence()": "__syncwarp(1)"}),
    "the highest block": Wrong(
        "race|values|uninit", {LAST: "if (blockIdx.x < gridDim.x - 1) return;"}
    ),
    "the first to arrive": Wrong("race|values|uninit", {"< gridDim.x - 1) return": "> 0) return"}),
    "the count is not put back": Wrong(
        "values", {"atomicInc(arrived, gridDim.x - 1)": "atomicAdd(arrived, 1)"}
    ),
    "its own total alone": Wrong("values", {"sum += totals[k];": "sum = totals[k];"}),
    "without the last": Wrong("values", {"k < gridDim.x;": "k + 1 < gridDim.x;"}),
}

SURVIVORS = {
    "without __threadfence();": "the second one: loads that come early are not modelled, so nothing tells",
}
