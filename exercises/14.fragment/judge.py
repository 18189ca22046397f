"""One product of a warp by one instruction, with fragments filled by hand."""

import numpy as np

from helpers.exercises.fragments import misplaced
from helpers.exercises.launches import In, Launch, Wrong, far_rows, numbers, product

SIZES = 1, 3


def drawn(rng):
    return int(rng.integers(5, 9)), int(rng.integers(12, 20))


def launch(rng, n):
    a, b = (numbers(rng, n, 16, wide).astype(np.float16) for wide in (16, 8))
    return Launch([In(a), In(b), product(a, b)], n, 32, what=f"{n} products")


def advice(launch, out, got):
    a, b = (argument.values[0] for argument in launch.arguments[:2])
    return misplaced(a.astype(float), b.astype(float), got.reshape(-1, 16, 8)[0])


def far(rng):
    return far_rows(launch(rng, 5), 34_000_000)


LARGE = (300,)
COUNTED = 16
BUDGET = {"hmma": 16}

WRONG = {
    "places in 32 bits": Wrong("34,000,000", {"blockIdx.x * 256LL": "blockIdx.x * 256"}),
    "the right half of a before the lower one": Wrong(
        "values", {"(group + r % 2 * 8) * 16 + r / 2 * 8": "(group + r / 2 * 8) * 16 + r % 2 * 8"}
    ),
    "b by rows": Wrong(
        "values", {"b + (r * 8 + pair) * 8 + group": "b + (r * 8 + group) * 8 + pair", "from[8]": "from[1]"}
    ),
    "the upper rows of c only": Wrong("unwritten|values", {"group + e / 2 * 8": "group"}),
    "c by columns": Wrong(
        "values", {"(group + e / 2 * 8) * 8 + pair + e % 2": "(group + e % 2 * 8) * 8 + pair + e / 2"}
    ),
    "pairs swapped": Wrong("values", {"two(from[0], from[8])": "two(from[8], from[0])"}),
    "four lanes in turn": Wrong(
        "values", {"group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2": "group = threadIdx.x % 8, pair = threadIdx.x / 8 * 2"}
    ),
    "without tensor cores": Wrong(
        "the idea|counters",
        "a += blockIdx.x * 256LL, b += blockIdx.x * 128LL, c += blockIdx.x * 128LL;"
        "for (int i = threadIdx.x; i < 128; i += 32) { float sum = 0; for (int k = 0; k < 16; ++k)"
        " sum += float(a[i / 8 * 16 + k]) * float(b[k * 8 + i % 8]); c[i] = sum; }",
    ),
}  # fmt: skip
IDEA = {"hmma": (16, "Let the warp multiply: multiply_add.")}

SURVIVORS = {
    "{%8, %9}, {%": "the four sums begin as 0, so each may begin as another",
}
