"""A product of halves by tensor cores, of the learner's own design."""

import numpy as np

from helpers.exercises.launches import Rate, Wrong, far_product, numbers, product_launch

SIZES = (64, 64, 64), (1, 8, 8), (70, 40, 136)
CHOICES = "ROWS", "COLUMNS", "THREADS"


def drawn(rng):
    m, n, k = rng.integers((65, 9, 9), (90, 18, 25))
    return [(int(m), 8 * int(n), 8 * int(k)), (500, 24, 16)]


def launch(rng, size, rows, columns, threads):
    m, n, k = size
    a, b = (numbers(rng, *shape).astype(np.float16) for shape in ((m, k), (k, n)))
    grid = -(-n // columns), -(-m // rows)
    return product_launch(a, b, grid, threads, size_type=np.int32)


def far(rng, rows, columns, threads):
    def grid(m, n):
        return -(-n // columns), -(-m // rows)

    return far_product(rng, 8192, rows, grid, threads, of=np.float16, size_type=np.int32)


LARGE = (140, 304, 200), (4, 8, 4000)
COUNTED = 128, 128, 128
SHARED_BYTES = 3 << 14
BUDGET = {
    "ld.sectors": (4096, 5000),
    "hmma": 1024,
    "lds.wavefronts": (2048, 2600),
    "lds.conflicts": 0,
    "sts.conflicts": 0,
}
RATE = Rate((128, 128, 4096), 170, {"cuBLAS": "gemm 4096 float16"})
LIMITS = None  # the statement has the whole budget
IDEA = {"hmma": (1024, "Let the tensor cores multiply: multiply_add.")}

PLACE = "(chunk ^ line % CHUNKS) * CHUNK"
WRONG = {
    "no swizzle": Wrong("conflicts", {PLACE: "chunk * CHUNK"}),
    "waits for nothing": Wrong("race", {"wait_for_groups<1>();": ""}),
    "no group for what is not there": Wrong(
        "race|values", {"        }\n        close_group();": "        close_group(); }"}
    ),
    "no barrier after": Wrong("race", {"        __syncthreads();\n    }\n#pragma": "    }\n#pragma"}),
    "no zeros past the edge": Wrong("out of bounds|values", {"line < lines && along < length": "true"}),
    "the depth in whole tiles": Wrong("values", {"first < k; first += DEEP": "first + DEEP <= k; first += DEEP"}),
    "b without .trans": Wrong("values", {"load_matrices<true>": "load_matrices<false>"}),
}  # fmt: skip

SURVIVORS = {
    "first <= k": "one tile more, of zeros",
    "CHUNK : 1": "past an edge, the lower byte of a half meets another: too small to see",
    "x / 7": "x is 0 or 32",
    "STAGES = 3": "room for one tile more",
    "65 * LINE": "a larger array",
}
