"""Sums of 32 columns by atomics."""

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


def launch(rng, n):
    x = numbers(rng, n) * scales(rng, 1)
    sums, tolerance = _columns(x)
    out = Out(sums, tolerance, initial=np.zeros(32))
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256)


def _columns(x):
    """The sums of 32 columns, and how far off each may be."""
    rows = np.zeros(-(-x.size // 32) * 32, np.float32)
    rows[: x.size] = x
    rows = rows.reshape(-1, 32)
    return rows.sum(0, dtype=float), checks.sum_tolerance(rows, axis=0)


def far(rng):
    x = far_numbers(rng)
    sums, tolerance = _columns(np.concatenate([x.pieces[0], np.zeros(19), x.pieces[PAST]]))
    out = Far(32, np.float32, expected={0: sums}, tolerance=float(tolerance.max()))
    return far_launch([x, out, np.int64(FAR)])


SPARE = 128
COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "red.requests": 512, "red.sectors": 2048}
IDEA = {"red.requests": (512, "Let each thread add its element by an atomic of its own.")}

WRONG = {
    "nothing": Wrong("values", {"if (i < n) atomicAdd(out + i % 32, x[i]);": ""}),
    "not atomic": Wrong(
        "race|double|values", {"atomicAdd(out + i % 32, x[i])": "out[i % 32] += x[i]"}
    ),
    "one queue": Wrong("values", {"out + i % 32": "out"}),
    "columns of 16": Wrong("values", {"i % 32": "i % 16"}),
    "rows of 32": Wrong("values|out of bounds", {"i % 32": "i / 32 % 32"}),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
    "atomics that return a value": Wrong(
        "atomics",
        {"atomicAdd(out + i % 32, x[i]);": "if (atomicAdd(out + i % 32, x[i]) == 1e30f) *out = 0;"},
    ),
    "large ones held": Wrong("values", {"x[i]": "fminf(fmaxf(x[i], -99.f), 99.f)"}),
    "added up in shared memory": Wrong(
        "atomics",
        "__shared__ float sums[32]; long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;"
        " if (threadIdx.x < 32) sums[threadIdx.x] = 0; __syncthreads();"
        " if (i < n) atomicAdd(sums + i % 32, x[i]); __syncthreads();"
        " if (threadIdx.x < 32) atomicAdd(out + threadIdx.x, sums[threadIdx.x]);",
    ),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
    "the first block only": Wrong("values", {"i < n": "i < n && i < 256"}),
    "one block does all": Wrong(
        "counters",
        "for (long long i = threadIdx.x; !blockIdx.x && i < n; i += blockDim.x)"
        " atomicAdd(out + i % 32, x[i]);",
    ),
}
