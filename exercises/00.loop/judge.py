"""x *= a, by 4 blocks."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    PAST,
    SPECIAL,
    Far,
    Launch,
    Out,
    Wrong,
    elementwise,
    numbers,
    planted,
)

SIZES = 1, 31, 33, 255, 1024, 1025, 4099, 0


def launch(rng, n):
    x, a = planted(rng, numbers(rng, n), *SPECIAL), np.float32(rng.uniform(-3, 3))
    grid = 4 if n < COUNTED else n // 1024
    return Launch([Out(x * a, initial=x), a, np.int64(n)], grid, block=256)


def far(rng):
    """More threads than elements: a turn each, unless their number is taken as one of 32 bits, 512."""
    last, a, block = numbers(rng, FAR - PAST), np.float32(rng.uniform(2, 3)), PAST // 256
    x = Far(FAR, np.float32, {PAST: last}, {PAST: last * a})
    some = [range(block - 2, block + 1)]
    return Launch([x, a, np.int64(FAR)], 2**24 + 2, 256, what=f"n = {FAR:,}", blocks=some)


inputs = elementwise
SPARE = 128
COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "st.sectors": 8192}
WARPS = 1.5
ADVICE = {
    "race": "Two threads take one element: where does each begin, and by how many does it step?",
}

LOOP = "for (long long i = first; i < n; i += threads) x[i] *= a;"
WRONG = {
    "one warp of four works": Wrong(
        "one warp",
        {
            "for (long long i = first; i < n; i += threads)": "if (threadIdx.x % 128 >= 32) return;"
            " long long quarter = (blockDim.x + 127) / 128 * 32;"
            " for (long long i = blockIdx.x * quarter + threadIdx.x / 128 * 32 + threadIdx.x % 32; i < n; i += gridDim.x * quarter)"
        },
    ),
    "nothing": Wrong("values", {LOOP: ""}),
    "zeros": Wrong("values", {"x[i] *= a": "x[i] = 0"}),
    "one element a thread": Wrong("values", {LOOP: "if (first < n) x[first] *= a;"}),
    "the statement's own grid": Wrong("blocks of 128", {"threads) x": "1024) x"}),
    "steps of a block": Wrong("race|double|values", {"i += threads": "i += blockDim.x"}),
    "an int": Wrong("fault|values|sanitizer|launch|time", {"(long long i": "(int i"}),
    "an unsigned int": Wrong("values|time", {"(long long i": "(unsigned i"}),
    "the threads as an int": Wrong(
        "fault|values|sanitizer|launch|time", {"long long threads": "int threads"}
    ),
    "stored by atomics": Wrong("atomics", {"x[i] *= a": "atomicExch(x + i, x[i] * a)"}),
    "NaN lost": Wrong("values", {"x[i] *= a": "x[i] = fmaxf(x[i] * a, -INFINITY)"}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
    "every thread does all": Wrong(
        "race|double|values", {"i = first": "i = 0", "i += threads": "++i"}
    ),
    "neighbours by one thread": Wrong(
        "counters",
        "long long all = gridDim.x * (long long)blockDim.x, each = (n + all - 1) / all;"
        " long long first = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * each;"
        " for (long long i = first; i < first + each && i < n; ++i) x[i] *= a;",
    ),
    "one block does all": Wrong(
        "counters",
        "for (long long i = threadIdx.x; !blockIdx.x && i < n; i += blockDim.x) x[i] *= a;",
    ),
}
