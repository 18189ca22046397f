"""A sum by atomics, 16 elements each."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = 1, 31, 33, 257, 4096, 4099, 0


def launch(rng, n):
    x = numbers(rng, n)
    blocks = blocks_for(-(-n // 16))
    tolerance = checks.sum_tolerance(x)
    out = Out(np.array([x.sum(dtype=float)]), tolerance, initial=np.zeros(1))
    return Launch([In(x), out, np.int64(n)], grid=blocks, block=256)


COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "red.requests": 128}

LOOP = "for (long long i = first; i < n; i += threads) sum += x[i];"
WRONG = {
    "nothing": Wrong("values", {"atomicAdd(out, sum);": ";"}),
    "not atomic": Wrong("race|double|values", {"atomicAdd(out, sum)": "*out += sum"}),
    "the first turn only": Wrong("values", {LOOP: "if (first < n) sum = x[first];"}),
    "an atomic an element": Wrong(
        "sectors of atomics|atomics of warps",
        {LOOP: "for (long long i = first; i < n; i += threads) atomicAdd(out, x[i]);"},
    ),
    "sixteen in a row": Wrong(
        "sectors loaded",
        {LOOP: "for (long long i = 16 * first; i < n && i < 16 * first + 16; ++i) sum += x[i];"},
    ),
    "past the end": Wrong("out of bounds", {"i < n; i": "i <= n; i"}),
    "whole turns only": Wrong("values", {"i < n; i": "i < n / threads * threads; i"}),
    "one block does all": Wrong(
        "counters",
        "float sum = 0; if (blockIdx.x) return; for (long long i = threadIdx.x; i < n; i += 256)"
        " sum += x[i]; atomicAdd(out, sum);",
    ),
}

SURVIVORS = {
    "first <= n": "a thread without an element adds 0",
}
