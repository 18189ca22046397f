"""Totals of blocks by a tree in shared memory, without bank conflicts."""

import numpy as np

from helpers.exercises.launches import In, Launch, Wrong, blocks_for, numbers, totals


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), totals(x), np.int64(n)], grid=blocks_for(n), block=256, shared=264 * 4)


COUNTED = 1 << 14
BUDGET = {
    "ld.sectors": 2048,
    "lds.conflicts": 0,
    "sts.conflicts": 0,
    "lds.wavefronts": (1600, 2048),
    "barriers": 4608,
    "st.requests": 64,
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
    "every thread but one writes": Wrong("counters", {"tid == 0": "tid != 0"}),
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

SURVIVORS = {
    "tid == 1": "another thread writes the same, after the same barrier",
    "left + stride <= blockDim.x": "never equal: stride is a power of 2 below 256, left + stride an odd multiple of it",
}
