"""A sum in one launch; the blocks' totals in `totals`."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = 1, 33, 257, 2003, 77003, 0


def launch(rng, n):
    x = numbers(rng, n)
    blocks = 300 if n > 4096 else max(1, -(-n // 256))
    tolerance = checks.sum_tolerance(x, chain=40)
    rows = np.zeros((-(-n // (256 * blocks)) or 1) * 256 * blocks)
    rows[:n] = x
    totals = Out(rows.reshape(-1, blocks, 256).sum((0, 2)), tolerance)
    out = Out(np.array([x.sum(dtype=float)]), tolerance)
    arrived = Out(np.zeros(1), dtype=np.uint32, initial=np.zeros(1))
    return Launch([In(x), out, np.int64(n), totals, arrived], grid=blocks, block=256)


COUNTED = 1 << 14
EVEN = False  # the last block has more to do
BUDGET = {"ld.sectors": (2086, 2200), "st.requests": 301}

WRONG = {
    "the highest block, not the last": Wrong(
        "race|values|uninit", {"last_to_arrive(arrived, gridDim.x)": "blockIdx.x == gridDim.x - 1"}
    ),
    "every block": Wrong("race|double|uninit", {"last_to_arrive(arrived, gridDim.x)": "true"}),
    "256 totals at most": Wrong(
        "values",
        {
            "for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) sum": "if (int k = threadIdx.x; k < gridDim.x) sum"
        },
    ),
    "on top of its own": Wrong("values", {"        sum = 0;\n": ""}),
    "nobody": Wrong("values", {"*out = sum;": ";"}),
    "an atomic": Wrong(
        "values|uninit",
        {"if (threadIdx.x == 0) *out = sum": "if (threadIdx.x == 0) atomicAdd(out, sum)"},
    ),
    "one arrives less": Wrong(
        "values|race",
        {"last_to_arrive(arrived, gridDim.x)": "last_to_arrive(arrived, gridDim.x - 1)"},
    ),
    "a warp's share": Wrong("values", {"*out = sum;": "*out = totals[0];"}),
}

SURVIVORS = {
    "threadIdx.x == 1": "all threads have what block_reduce returns",
}
