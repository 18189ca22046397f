"""out = 2 x in packs, from any alignment."""

import numpy as np

from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    any_floats,
    blocks_for,
    elementwise,
    numbers,
)

SIZES = (
    (1, 0),
    (1, 3),
    (2, 1),
    (2, 3),
    (3, 1),
    (4, 0),
    (31, 1),
    (33, 2),
    (1023, 3),
    (1027, 1),
    (0, 1),
)


def drawn(rng):
    return [(int(n), offset) for offset, n in enumerate(rng.integers(34, 1000, 4))] + [
        (int(n), int(rng.integers(1, 4))) for n in rng.integers(10_300, 20_000, 2)
    ]


def launch(rng, size):
    n, offset = size
    x = any_floats(rng, n)
    arguments = [In(x, offset=offset), Out(2 * x, offset=offset, bits=True), np.int64(n)]
    what = f"n = {n:,}, {offset} floats past 16 bytes"
    return Launch(arguments, grid=blocks_for(n // 4 + 2), block=256, what=what)


def far(rng):
    n, last = 2**33 + 3, 2**33 - 5  # packs of four: their number needs 64 bits, too
    x = numbers(rng, 8)
    grid = blocks_for(n // 4 + 2)
    pieces = Far(n, np.float32, {0: x, last: x}), Far(n, np.float32, {}, {0: 2 * x, last: 2 * x})
    blocks = [range(1), range(grid - 2, grid)]
    return Launch([*pieces, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


SPARE = 128
inputs = elementwise
COUNTED = 1 << 16, 1
BUDGET = {"ld.requests": (516, 520), "st.requests": (516, 520)}

WRONG = {
    "blocks of 256": Wrong(
        "blocks of 128", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "aligned only": Wrong("misaligned", {"min((4 - past) % 4, n)": "0"}),
    "as many as are past": Wrong("misaligned|values", {"(4 - past) % 4": "past"}),
    "more head than elements": Wrong("out of bounds", {"min((4 - past) % 4, n)": "(4 - past) % 4"}),
    "no head": Wrong("values", {"for (long long k = 0; k < head; ++k) out[k] = 2 * x[k];": ""}),
    "no tail": Wrong(
        "values", {"for (long long k = head + 4 * packs; k < n; ++k) out[k] = 2 * x[k];": ""}
    ),
    "one pack too many": Wrong(
        "out of bounds", {"i < packs": "i <= packs", "i == packs": "i == packs + 1"}
    ),
    "from the boundary before": Wrong(
        "out of bounds|values|race",
        {
            "for (long long k = 0; k < head; ++k) out": "for (long long k = -past; k < head; ++k) if (float v = x[k]; k >= 0) out"
        },
    ),
    "atomics, one by one": Wrong(
        "counters|inputs",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; for (long long k = 4 * i; k < 4 * i + 4 && k < n; ++k)"
        " atomicExch(out + k, 2 * atomicAdd((float *)x + k, 0.f));",
    ),
    "-0 lost": Wrong("values", {"2 * p.x,": "2 * p.x + 0.f,"}),
    "an int for the place": Wrong(
        "time: n = 8,589,",
        {
            "long long i": "int i",
            "long long past": "int past",
            "long long head = min((4 - past) % 4, n), packs": "int head = min((4LL - past) % 4, n), packs",
            "long long k": "int k",
        },
    ),
    "one by one": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, all = gridDim.x * (long long)blockDim.x;"
        " for (; i < n; i += all) out[i] = 2 * x[i];",
    ),
}

SURVIVORS = {
    "% 5": "where x begins at 16 bytes, the first pack goes one by one",
}
