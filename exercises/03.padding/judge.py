"""Totals of blocks by a tree in shared memory, without bank conflicts."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    far_launch,
    far_numbers,
    far_totals,
    numbers,
)


def launch(rng, n):
    x = numbers(rng, n)
    out = Out(_tree(x))
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256, shared=264 * 4)


def _tree(x):
    """Totals in the order of this tree: neighbours first. Another order rounds otherwise."""
    rows = np.zeros(256 * blocks_for(x.size), np.float32)
    rows[: x.size] = x
    rows = rows.reshape(-1, 256)
    while rows.shape[1] > 1:
        rows = rows[:, ::2] + rows[:, 1::2]
    return rows[:, 0]


def far(rng):
    x = far_numbers(rng)
    out = Far(2**25, np.float32, expected=far_totals(x, _tree))
    return far_launch([x, out, np.int64(FAR)], shared=264 * 4)


COUNTED = 1 << 14
BUDGET = {
    "ld.sectors": 2048,
    "lds.conflicts": 0,
    "sts.conflicts": 0,
    "lds.wavefronts": (1600, 2048),
    "barriers": 4608,
    "st.requests": 64,
}
TREE = "Leave the tree as it is: only place(i) is asked for."
IDEA = {"lds.wavefronts": (1600, TREE), "sts.wavefronts": (1280, TREE)}

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
    "another tree": Wrong(
        "values",
        {
            "i + i / 32": "i",
            "stride = 1; stride < blockDim.x; stride *= 2": "half = 128; half > 0; half /= 2",
            "int left = 2 * stride * tid;": "",
            "left + stride < blockDim.x": "tid < half",
            "place(left)": "place(tid)",
            "place(left + stride)": "place(tid + half)",
        },
    ),
    "shuffles": Wrong(
        "Leave the tree|shared memory",
        "extern __shared__ float s[]; int tid = threadIdx.x; long long i = blockIdx.x * 256LL + tid;"
        " float v = i < n ? x[i] : 0.f; for (int m = 1; m < 32; m *= 2) v += __shfl_xor_sync(~0u, v, m);"
        " if (tid % 32 == 0) s[tid / 32] = v; __syncthreads(); if (tid >= 8) return; v = s[tid];"
        " for (int m = 1; m < 8; m *= 2) v += __shfl_xor_sync(255u, v, m);"
        " if (tid == 0) out[blockIdx.x] = v;",
    ),
    "a hundred instructions a level": Wrong(
        "instructions",
        {
            "2 * stride * tid;": "2 * stride * tid; for (int k = 0; k < 100; ++k)"
            ' asm volatile("mov.u32 %0, %0;" : "+r"(left));'
        },
    ),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
    "one thread adds": Wrong(
        "counters|values",
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
