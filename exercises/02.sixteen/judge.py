"""A sum by atomics, 16 elements each."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import (
    FAR,
    PAST,
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    far_launch,
    far_numbers,
    numbers,
    scales,
)

SIZES = 1, 31, 33, 257, 4096, 4099, 0


def drawn(rng):
    return int(rng.integers(34, 4096)), int(rng.integers(41_000, 45_000))


def launch(rng, n):
    x = numbers(rng, n) * scales(rng, 1)
    blocks = blocks_for(-(-n // 16))
    tolerance = checks.sum_tolerance(x)
    out = Out(np.array([x.sum(dtype=float)]), tolerance, initial=np.zeros(1))
    return Launch([In(x), out, np.int64(n)], grid=blocks, block=256)


def far(rng):
    x = far_numbers(rng)
    seen = np.concatenate([x.pieces[0], x.pieces[PAST]])
    tolerance = float(checks.sum_tolerance(seen))
    out = Far(1, np.float32, expected={0: [seen.sum(dtype=float)]}, tolerance=tolerance)
    return far_launch([x, out, np.int64(FAR)])


SPARE = 256
COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "red.requests": 128}
LIMITS = {"barriers": None}  # blocks that add up first are right as well

LOOP = "for (long long i = first; i < n; i += threads) sum += x[i];"
WRONG = {
    "nothing": Wrong("values", {"atomicAdd(out, sum);": ";"}),
    "not atomic": Wrong("race|double|values", {"atomicAdd(out, sum)": "*out += sum"}),
    "the first turn only": Wrong("values", {LOOP: "if (first < n) sum = x[first];"}),
    "an atomic an element": Wrong(
        "sectors of atomics|atomics of warps",
        {LOOP: "for (long long i = first; i < n; i += threads) atomicAdd(out, x[i]);"},
    ),
    "atomics that return a value": Wrong(
        "atomics",
        {
            LOOP: "for (long long i = first; i < n; i += threads)"
            " if (atomicAdd(out, x[i]) == 1e30f) sum += 1;"
        },
    ),
    "fetched by atomics": Wrong("atomics|inputs", {"x[i]": "atomicAdd((float *)x + i, 0.f)"}),
    "an int": Wrong("fault|values|sanitizer|launch|time", {"(long long i": "(int i"}),
    "an unsigned int": Wrong("values|time", {"long long first": "unsigned first"}),
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
