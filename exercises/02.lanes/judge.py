"""Sums of 32 columns by atomics."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    rows = np.zeros(-(-n // 32) * 32, np.float32)
    rows[:n] = x
    rows = rows.reshape(-1, 32)
    tolerance = checks.sum_tolerance(rows, axis=0)
    out = Out(rows.sum(0, dtype=float), tolerance, initial=np.zeros(32))
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "red.requests": 512, "red.sectors": 2048}

WRONG = {
    "nothing": Wrong("values", {"if (i < n) atomicAdd(out + i % 32, x[i]);": ""}),
    "not atomic": Wrong(
        "race|double|values", {"atomicAdd(out + i % 32, x[i])": "out[i % 32] += x[i]"}
    ),
    "one queue": Wrong("values", {"out + i % 32": "out"}),
    "columns of 16": Wrong("values", {"i % 32": "i % 16"}),
    "rows of 32": Wrong("values|out of bounds", {"i % 32": "i / 32 % 32"}),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
    "the first block only": Wrong("values", {"i < n": "i < n && i < 256"}),
    "one block does all": Wrong(
        "counters",
        "for (long long i = threadIdx.x; !blockIdx.x && i < n; i += 256) atomicAdd(out + i % 32, x[i]);",
    ),
}
