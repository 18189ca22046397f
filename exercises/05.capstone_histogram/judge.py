"""A histogram of bytes, half of which are equal; all of them where n is odd."""

import numpy as np

from helpers.exercises.launches import Far, In, Launch, Out, Wrong, blocks_for, numbers

SIZES = 1, 15, 16, 33, 4098, 70001, 131_071, 1 << 18, 0
CHOICES = "BLOCK", "EACH"


def drawn(rng):
    return int(rng.integers(34, 3000)), int(rng.integers(100_000, 200_000))


def launch(rng, n, block, each):
    data = rng.integers(0, 256, n, np.uint8)
    data[: n if n % 2 else n // 2] = rng.integers(0, 256)
    before = numbers(rng, 256, dtype=np.uint32)
    counts = Out(before + np.bincount(data, minlength=256), dtype=np.uint32, initial=before)
    return Launch([In(data), counts, np.int64(n)], blocks_for(-(-n // each), block), block)


def far(rng, block, each):
    n = 2**31 + 77
    grid = blocks_for(-(-n // each), block)
    arguments = [Far(n, np.uint8), Far(256, np.uint32), np.int64(n)]  # which bytes, is the design's
    blocks = [range(2), range(grid - 2, grid)]
    return Launch(arguments, grid, block, what=f"n = {n:,}", blocks=blocks)


COUNTED = 1 << 22
BLOCKS = 64
SHARED_BYTES = 1 << 16  # a histogram for each warp, if one likes
BUDGET = {
    "ld.sectors": 131_072,
    "ld.requests": (8192, 9000),
    "atoms.wavefronts": (247_309, 350_000),
    "atomics": (512, 4096),
}
LIMITS = None  # the statement has the whole budget

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
    "on top of what was there": Wrong(
        "race|double|values", {"if (own[k]) atomicAdd(counts + k, own[k])": "counts[k] = own[k]"}
    ),
    "runs of 255 at most": Wrong(
        "values", {"unsigned value = 0, times": "unsigned char value = 0, times"}
    ),
    "16 bits a count": Wrong(
        "values",
        {
            "if (own[k]) atomicAdd(counts + k, own[k])": "if (own[k]) atomicAdd(counts + k, own[k] & 65535)"
        },
    ),
    "one block for all": Wrong("blocks", {"EACH = 256": "EACH = 100000000"}),
    "one block does all": Wrong(
        "values|instructions",
        {
            "long long threads = gridDim.x * (long long)BLOCK": "if (blockIdx.x > 0) return; long long threads = BLOCK"
        },
    ),
    "equal bytes apart": Wrong("wavefronts", {"if (byte != value) {": "if (true) {"}),
    "byte by byte": Wrong(
        "requests to load",
        {"i < n / 16; i": "i < 0; i", "long long i = n / 16 * 16 + first": "long long i = first"},
    ),
    "an int for the place": Wrong(
        "n = 2,147,", {"long long threads": "int threads", "long long i": "int i"}
    ),
    "no runs": Wrong("counters", {"if (byte != value) {": "{"}),
}

SURVIVORS = {
    "value = 1, times = 0": "a value that was seen 0 times adds nothing",
}
