"""Sums of groups of eight lanes."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = 8, 24, 32, 40, 256, 264, 1000, 0


def launch(rng, n):
    rows = numbers(rng, n // 8, 8)
    out = Out(rows.sum(1, dtype=float), checks.sum_tolerance(rows, axis=1, chain=3))
    return Launch([In(rows.ravel()), out, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "st.sectors": 512}

WRONG = {
    "sixteen": Wrong("values", {"mask = 4": "mask = 8"}),
    "four": Wrong("values", {"mask = 4": "mask = 2"}),
    "every lane writes": Wrong(
        "double|values|counters|out of bounds",
        {"threadIdx.x % 8 == 0 && ": "", "out[i / 8]": "out[i % (n / 8)]"},
    ),
    "no guard": Wrong("out of bounds", {" && i < n) out": ") out"}),
    "the last lane of a group, past the end": Wrong("values", {"% 8 == 0": "% 32 == 0"}),
    "zeros": Wrong("values", {"out[i / 8] = sum": "out[i / 8] = 0"}),
    "eight loads": Wrong(
        "counters",
        "long long g = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (8 * g >= n) return;"
        " float sum = 0; for (int k = 0; k < 8; ++k) sum += x[8 * g + k]; out[g] = sum;",
    ),
}

SURVIVORS = {
    ": 1.f": "groups are whole: a lane past the end is in a group that nobody stores",
    "mask = 5": "5, 2 and 1 lead from each lane to all others of its group, too",
    "% 8 != 0": "all lanes of the group have the same sum",
    "% 8 == 1": "all lanes of the group have the same sum",
    "% 7 == 0": "there is one in each group, and all of its lanes have the same sum",
    "threadIdx.y": "all lanes of the group have the same sum",
}
