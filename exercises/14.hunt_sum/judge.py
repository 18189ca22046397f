"""Long rows times rows, whose sums need floats."""

import numpy as np

from helpers.exercises.launches import In, Launch, Wrong, far_rows, numbers, product

SIZES = (1, 16), (2, 48), (1, 4096)


def drawn(rng):
    return [(int(rng.integers(3, 5)), 160), (11, 16 * int(rng.integers(3, 9)))]


def launch(rng, size):
    blocks, k = size
    a, b = (numbers(rng, rows, k).astype(np.float16) for rows in (16 * blocks, 8))
    a[::3], b[::2] = abs(a[::3]), abs(b[::2])
    a[1::3] *= 64
    arguments = [In(a), In(b), product(a, b.T), np.int32(k)]
    return Launch(arguments, blocks, 32, what=f"{16 * blocks} rows of {k}")


def far(rng):
    return far_rows(launch(rng, (1, 1024)), 4_200_000, 16)


LARGE = ((2, 40_000),)
COUNTED = 4, 64
BUDGET = {}
IDEA = {"hmma": (16, "Let the tensor cores multiply.")}

STORE = "for (int e = 0; e < 4; ++e) c[(group + e / 2 * 8) * 8 + pair + e % 2] = sum[e];"
WRONG = {
    "a half after each turn": Wrong(
        "values",
        {"multiply_add(sum, p, q, half());": "multiply_add(sum, p, q, half()); for (float &s : sum) s = float(half(s));"},
    ),
    "a half at the end": Wrong("values", {"= sum[e];": "= float(half(sum[e]));"}),
    "the upper rows only": Wrong("unwritten|values", {"group + e / 2 * 8": "group"}),
    "columns swapped": Wrong("values", {"pair + e % 2] = sum": "pair + 1 - e % 2] = sum"}),
    "the last turn only": Wrong("values", {"multiply_add(sum": "for (float &s : sum) s = 0; multiply_add(sum"}),
    "half of each turn": Wrong("values", {"words(b, group, i + 8)": "words(b, group, i)"}),
    "the block's rows in 32 bits": Wrong("4,200,000", {"16LL * k": "16 * k"}),
    "floats beside the tensor cores": Wrong(
        "counters",
        {"multiply_add(sum, p, q, half());": "float none[4] = {}; multiply_add(none, p, q, half()); for (int e = 0; e < 4; ++e) for (int j = 0; j < 16; ++j)"
         " sum[e] += float(a[(group + e / 2 * 8) * (long long)k + i + j]) * float(b[(pair + e % 2) * (long long)k + i + j]);"},
    ),
    "one lane adds": Wrong(
        "counters",
        "for (int e = threadIdx.x; e < 128; e += 32) { float sum = 0; for (int i = 0; i < k; ++i)"
        " sum += float(a[(blockIdx.x * 16LL + e / 8) * k + i]) * float(b[e % 8 * (long long)k + i]);"
        " c[blockIdx.x * 128LL + e] = sum; }",
    ),
}  # fmt: skip
