"""A product of two tiles by one warp's fragments: those of b are read transposed."""

import numpy as np

from helpers.exercises.launches import In, Launch, Wrong, far_rows, numbers, product

OURS = "gemm/transposed.cu"
SIZES = 1, 2


def drawn(rng):
    return int(rng.integers(3, 6)), int(rng.integers(11, 15))


def launch(rng, n):
    a, b = (numbers(rng, n, 64, 64).astype(np.float16) for _ in "ab")
    return Launch([In(a), In(b), product(a, b)], n, 128, what=f"{n} pairs of tiles")


def far(rng):
    return far_rows(launch(rng, 3), 1_060_000)


LARGE = (300,)
COUNTED = 4
BUDGET = {"hmma": 512, "lds.wavefronts": 1280, "lds.conflicts": 0, "sts.conflicts": 0}
LIMITS = {"instructions": 2}
IDEA = {"hmma": (512, "Let the tensor cores multiply: multiply_add, twice for each load of b.")}
ONE_BY_ONE = "Let ldmatrix bring b's fragments: load_matrices<true>."
WITH = {r"ldmatrix[\w.]*\.trans": ONE_BY_ONE}

LOAD = "load_matrices<true>(q, shared_b + place(step + lane % 16, e * 2 + lane / 16));"
WRONG = {
    "places in 32 bits": Wrong("1,060,000", {"(long long)SIDE": "SIDE"}),
    "pairs in 8 bits": Wrong("300 pairs", {"= blockIdx.x": "= (unsigned char)blockIdx.x"}),
    "not transposed": Wrong("values", {"load_matrices<true>": "load_matrices<false>"}),
    "the right matrix before the lower one": Wrong(
        "values", {"step + lane % 16, e * 2 + lane / 16": "step + lane / 16 * 8 + lane % 8, e * 2 + lane / 8 % 2"}
    ),
    "the second takes a register further": Wrong("values", {"p, q + 2, half()": "p, q + 1, half()"}),
    "the same columns twice": Wrong("values", {"p, q + 2, half()": "p, q, half()"}),
    "eight columns of sixteen": Wrong(
        "values", {"            multiply_add(sum[e * 2 + 1], p, q + 2, half());\n": ""}
    ),
    "the same rows of b in each step": Wrong("values", {"place(step + lane % 16, e * 2": "place(lane % 16, e * 2"}),
    "eight rows, twice": Wrong("values", {"place(step + lane % 16, e * 2": "place(step + lane % 8, e * 2"}),
    "chunks where they would lie without the swizzle": Wrong(
        "values", {"shared_b + place(step + lane % 16, e * 2 + lane / 16)": "shared_b + (step + lane % 16) * LINE + (e * 2 + lane / 16) * CHUNK"}
    ),
    "no swizzle": Wrong("conflicts", {"(chunk ^ line % 8)": "chunk"}),
    "half by half": Wrong(
        "compiled kernel|counters",
        {LOAD: "for (int r = 0; r < 4; ++r) { half two[2]; for (int h = 0; h < 2; ++h)"
         " two[h] = *reinterpret_cast<half *>(tile_b + place(step + r % 2 * 8 + lane % 4 * 2 + h, e * 2 + r / 2)"
         " + lane / 4 * 2); q[r] = *reinterpret_cast<unsigned *>(two); }"},
    ),
}  # fmt: skip
