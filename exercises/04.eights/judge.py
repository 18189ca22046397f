"""Sums of groups of eight lanes."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import Far, In, Launch, Out, Wrong, blocks_for, numbers

SIZES = 8, 24, 32, 40, 256, 264, 1000, 0


def launch(rng, n):
    rows = numbers(rng, n // 8, 8)
    rows *= 10 ** rng.uniform(-9, 9, (n // 8, 1)).astype(np.float32)
    out = Out(rows.sum(1, dtype=float), checks.sum_tolerance(rows, axis=1, chain=3))
    return Launch([In(rows.ravel()), out, np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    n, last = 2**31 + 8, 2**31
    row = rng.integers(-9, 9, 8).astype(np.float32)
    x = Far(n, np.float32, {0: row, last: row})
    out = Far(n // 8, np.float32, {}, {0: [row.sum()], last // 8: [row.sum()]})
    grid = blocks_for(n)
    blocks = [range(1), range(grid - 1, grid)]
    return Launch([x, out, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


SPARE = 128
COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "st.sectors": 512, "shuffles": (1536, 3584)}
IDEA = {"shuffles": (1536, "Add up by shuffles.")}
WITHOUT = {
    r"\.shared\b": "Let the lanes exchange by shuffles: no shared memory is needed.",
    r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
}

WRONG = {
    "blocks of 256": Wrong(
        "blocks of 128", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "sixteen": Wrong("values", {"mask = 4": "mask = 8"}),
    "four": Wrong("values", {"mask = 4": "mask = 2"}),
    "every lane writes": Wrong(
        "double|values|counters|out of bounds",
        {"threadIdx.x % 8 == 0 && ": "", "out[i / 8]": "out[i % (n / 8)]"},
    ),
    "no guard": Wrong("out of bounds", {" && i < n) out": ") out"}),
    "the last lane of a group, past the end": Wrong("values", {"% 8 == 0": "% 32 == 0"}),
    "zeros": Wrong("values", {"out[i / 8] = sum": "out[i / 8] = 0"}),
    "whoever is there": Wrong("instructions: .*activemask", {"0xffffffff": "__activemask()"}),
    "the whole warp's sum, less the others": Wrong(
        "values|shuffles",
        {
            "for (int mask = 4": "float own = 0, all = 0; for (int k = 0; k < 32; ++k) { float v = __shfl_sync(~0u, sum, k);"
            " all += v; if (k / 8 != threadIdx.x % 32 / 8) own += v; } sum = (all - own) / 8;\n    for (int mask = 4"
        },
    ),
    "by atomics on shared memory": Wrong(
        "instructions: .*shared",
        {
            "for (int mask": "__shared__ float s[32]; if (threadIdx.x < 32) s[threadIdx.x] = 0; __syncthreads();"
            " atomicAdd(s + threadIdx.x / 8, sum); __syncthreads(); sum = s[threadIdx.x / 8];\n    for (int mask",
            "mask = 4": "mask = 0",
        },
    ),
    "a hundred shuffles": Wrong(
        "shuffles",
        {
            "for (int mask": "for (int k = 0; k < 100; ++k) __shfl_xor_sync(~0u, sum, 1);\n    for (int mask"
        },
    ),
    "an int for the place": Wrong("n = 2,147,", {"long long i": "int i"}),
    "an int for the guard": Wrong("n = 2,147,", {"&& i < n": "&& (int)i < (int)n"}),
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
