"""A histogram of bytes. Half of a block of 4096 bytes are runs of one value."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for

SIZES = 1, 15, 16, 33, 4099, 70001, 0


CHOICES = "BLOCK", "EACH"


def launch(rng, n, block, each):
    data = rng.integers(0, 256, n, np.uint8)
    data[: n // 2] = rng.integers(0, 256)
    counts = Out(np.bincount(data, minlength=256), dtype=np.uint32, initial=np.zeros(256))
    return Launch([In(data), counts, np.int64(n)], blocks_for(-(-n // each), block), block)


COUNTED = 1 << 18
EVEN = False
BUDGET = {
    "ld.sectors": 8192,
    "ld.requests": (512, 560),
    "atoms.requests": (4128, 4400),
    "red.requests": (32, 260),
}

WRONG = {
    "nothing": Wrong("values", "return;"),
    "global atomics": Wrong(
        "counters",
        "for (long long i = blockIdx.x * (long long)BLOCK + threadIdx.x; i < n; i += gridDim.x * (long long)BLOCK) atomicAdd(counts + data[i], 1u);",
    ),
    "not atomic": Wrong(
        "race|double|values", {"atomicAdd(own + value, times)": "own[value] += times"}
    ),
    "garbage to begin with": Wrong("uninit", {"own[k] = 0;": ";"}),
    "no barrier at first": Wrong(
        "race|syncwarp", {"own[k] = 0;\n    __syncthreads();": "own[k] = 0;"}
    ),
    "no barrier at the end": Wrong(
        "race|syncwarp",
        {
            "\n    __syncthreads();\n    for (int k = threadIdx.x; k < 256; k += BLOCK)\n        if": "\n    for (int k = threadIdx.x; k < 256; k += BLOCK)\n        if"
        },
    ),
    "whole packs only": Wrong(
        "values", {"i < n; i += threads) count": "i < n / 16 * 16; i += threads) count"}
    ),
    "the last run forgotten": Wrong(
        "values", {"count(data[i]);\n    if (times)": "count(data[i]);\n    if (false)"}
    ),
    "signed bytes": Wrong(
        "values|out of bounds", {"count(data[i])": "count((signed char)data[i])"}
    ),
    "no runs": Wrong("counters", {"if (byte != value) {": "{"}),
}

SURVIVORS = {
    "value = 1, times = 0": "a value that was seen 0 times adds nothing",
}
