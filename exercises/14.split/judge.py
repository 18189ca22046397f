"""Products of floats by tf32, in three parts."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, far_rows, numbers

SIZES = (1, 8), (2, 40)


def drawn(rng):
    return [(int(rng.integers(3, 6)), 8 * int(rng.integers(5, 12))), (11, 16)]


def launch(rng, size):
    n, k = size
    a, b = numbers(rng, n, 16, k), numbers(rng, n, k, 8)
    sums, sizes = (f(a).astype(float) @ f(b).astype(float) for f in (np.array, np.abs))
    # left out: rest times rest, below 2^-20, and of each rest what is past its own 10 bits, below
    # 2^-21; cut off in each of 3 k / 8 sums: below 11 parts of 2^-24.
    out = Out(sums, (2.0**-20 + 2 * 2.0**-21 + 3 * k / 8 * 11 * 2.0**-24) * sizes)
    return Launch([In(a), In(b), out, np.int32(k)], n, 32, what=f"{n} products, k = {k}")


def far(rng):
    return far_rows(launch(rng, (5, 64)), 8_500_000)


LARGE = ((3, 40_000),)
COUNTED = 8, 32
BUDGET = {"hmma": 96}
WITHOUT = {
    r"\bfma\b|\bmul\.(rn\.)?f32\b": "Let the tensor cores multiply: subtract, and call multiply."
}
IDEA = {"hmma": (96, "One product of cut numbers has three digits. What did the cut leave out?")}
LIMITS = {"instructions": 4}

WRONG = {
    "a only": Wrong("values", {"        multiply(sum, p, rest_q);\n": ""}),
    "b only": Wrong("values", {"        multiply(sum, rest_p, q);\n": ""}),
    "rest times rest": Wrong("values", {"multiply(sum, p, rest_q)": "multiply(sum, rest_p, rest_q)"}),
    "places in 32 bits": Wrong("8,500,000", {"16LL * k": "16 * k"}),
    "four products": Wrong("counters", {"multiply(sum, p, q);": "multiply(sum, p, q); multiply(sum, rest_p, rest_q);"}),
    "a rest of the wrong sign": Wrong("values", {"p[r] - upper(p[r])": "upper(p[r]) - p[r]"}),
    "rests cut at 7 bits": Wrong("values", {"& 0xffffe000": "& 0xffff0000"}),
    "floats without tensor cores": Wrong(
        "fma",
        "a += blockIdx.x * 16LL * k, b += blockIdx.x * 8LL * k, c += blockIdx.x * 128LL;"
        " for (int e = threadIdx.x; e < 128; e += 32) { float sum = 0; for (int i = 0; i < k; ++i)"
        " sum += a[e / 8 * k + i] * b[i * 8 + e % 8]; c[e] = sum; }",
    ),
}  # fmt: skip
