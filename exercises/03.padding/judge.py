"""Totals of blocks by a tree in shared memory, without bank conflicts."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    blocks = blocks_for(n)
    rows = np.zeros(256 * blocks, np.float32)
    rows[:n] = x
    rows = rows.reshape(blocks, 256)
    tolerance = checks.sum_tolerance(rows, axis=1, chain=8)
    out = Out(rows.sum(1, dtype=float), tolerance)
    return Launch([In(x), out, np.int64(n)], grid=blocks, block=256, shared=264 * 4)


COUNTED = 1 << 14
BUDGET = {
    "ld.sectors": 2048,
    "lds.conflicts": 0,
    "sts.conflicts": 0,
    "lds.wavefronts": (1600, 2048),
    "barriers": (4608, 5120),
}

WRONG = {
    "half the padding": Wrong("bank conflicts", {"i + i / 32": "i + i / 64"}),
    "two slots in one word": Wrong("values|race", {"i + i / 32": "i - i / 32"}),
    "past the end": Wrong("out of bounds", {"i + i / 32": "i + i / 16"}),
    "no barrier between levels": Wrong(
        "race|syncwarp",
        {"s[place(left + stride)];\n        __syncthreads();": "s[place(left + stride)];"},
    ),
    "no barrier after the fetch": Wrong(
        "race|syncwarp", {"x[i] : 0.f;\n    __syncthreads();": "x[i] : 0.f;"}
    ),
    "no guard": Wrong("out of bounds", {"i < n ? x[i] : 0.f": "x[i]"}),
    "zeros": Wrong("values", {"out[blockIdx.x] = s[place(0)]": "out[blockIdx.x] = 0"}),
    "element 0 only": Wrong("values|out of", {"= s[place(0)];": "= x[0];"}),
    "one thread adds": Wrong(
        "counters",
        "extern __shared__ float s[]; long long i = blockIdx.x * 256LL + threadIdx.x;"
        " s[place(threadIdx.x)] = i < n ? x[i] : 0.f; __syncthreads();"
        " if (threadIdx.x == 0) { float sum = 0;"
        " for (int k = 0; k < 256; ++k) sum += s[place(k)]; out[blockIdx.x] = sum; }",
    ),
    "the first block's total": Wrong("values", {"blockIdx.x * (long long)blockDim.x + ": ""}),
}
