"""A product of matrices, a thread for each element: a step of the course."""

import numpy as np

from helpers.exercises.launches import Rate, Wrong, far_product, numbers, product_launch

OURS = "gemm/naive.cu"
SIZES = (3, 5, 7), (1, 1, 1), (20, 33, 2), (5, 3, 0)
BLOCK = 32, 8


def drawn(rng):
    return rng.integers(((20, 33, 33), (150, 65, 2)), ((60, 60, 90), (200, 90, 9))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    if k:
        a[::5, -1], b[-1, ::5] = 0, np.inf  # times 0 it is not 0
    return product_launch(a, b, (-(-n // BLOCK[0]), -(-m // BLOCK[1])), BLOCK)


def far(rng):
    return far_product(rng, 33_024, BLOCK[1], lambda m, n: (n // BLOCK[0], m // BLOCK[1]), BLOCK)


LARGE = (3, 2, 70_000), (70_003, 3, 2), (3, 70_003, 2)
COUNTED = 64, 64, 64
RATE = Rate((64, 64, 4096), 0, {"cuBLAS": "gemm 4096 float32"})
BUDGET = {"ld.sectors": 40_960, "st.sectors": 512}

WRONG = {
    "no guard for rows": Wrong("out of bounds|values", {"row >= m || column": "column"}),
    "no guard for columns": Wrong("out of bounds|values", {"row >= m || column >= n": "row >= m"}),
    "the last product only": Wrong("values", {"sum += ": "sum = "}),
    "whole fours of the depth": Wrong("values", {"i < k;": "i < k / 4 * 4;"}),
    "16 bits for the depth": Wrong("70000", {"long long i = 0": "unsigned short i = 0"}),
    "b along its rows": Wrong("values|out of bounds", {"b[i * n + column]": "b[column * n + i]"}),
    "rows of 32 bits": Wrong("33,024", {"a[row * k + i]": "a[(int)row * (int)k + (int)i]"}),
    "b read twice": Wrong(
        "counters",
        {
            "Acc(b[i * n + column])": "Acc(b[i * n + column] + (*(volatile const T *)&b[i * n + column] == 1e30f))"
        },
    ),
}

SURVIVORS = {
    "-= blockIdx.z": "blockIdx.z is 0: batches are not asked for",
}
