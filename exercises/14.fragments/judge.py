"""A product of matrices by wmma: a step of the course."""

import numpy as np

from helpers.exercises.launches import Rate, Wrong, far_product, numbers, product_launch

OURS = "gemm/fragments.cu"
SIZES = (16, 16, 16), (1, 1, 1), (70, 20, 33)


def drawn(rng):
    return rng.integers(((5, 17, 17), (130, 33, 2)), ((60, 60, 60), (200, 50, 9))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = (numbers(rng, *shape).astype(np.float16) for shape in ((m, k), (k, n)))
    return product_launch(a, b, (-(-n // 16), -(-m // 64)), 128)


def far(rng):
    return far_product(rng, 33_024, 64, lambda m, n: (n // 16, m // 64), 128, of=np.float16)


LARGE = (30, 20, 33_000), (70_003, 5, 3)
COUNTED = 64, 64, 64
RATE = Rate((64, 64, 4096), 0, {"cuBLAS": "gemm 4096 float16"})
BUDGET = {"hmma": 128}
LIMITS = {"instructions": 4}
IDEA = {"hmma": (128, "Let the warps multiply: wmma::mma_sync.")}

MULTIPLY = "wmma::mma_sync(sum, p, q, sum);"
WRONG = {
    "no zeros to begin with": Wrong(
        "values|uninit|unwritten", {"wmma::fill_fragment(sum, Acc(0));": "wmma::fill_fragment(sum, Acc(1));"}
    ),
    "whole fragments only": Wrong("values", {"first < k;": "first + SIDE <= k;"}),
    "the last fragment only": Wrong(
        "values", {MULTIPLY: f"wmma::fill_fragment(sum, Acc(0)); {MULTIPLY}"}
    ),
    "columns of b": Wrong(
        "values", {"matrix_b, SIDE, SIDE, SIDE, T, wmma::row_major": "matrix_b, SIDE, SIDE, SIDE, T, wmma::col_major"}
    ),
    "sums by columns": Wrong("values", {"wmma::mem_row_major": "wmma::mem_col_major"}),
    "places of a and b swapped": Wrong(
        "values|out of bounds", {"load(q, b, k, n, first, left": "load(q, b, k, n, left, first"}
    ),
    "one room for all warps": Wrong("race|values", {"sums[warp], sum": "sums[0], sum", "T(sums[warp]": "T(sums[0]"}),
}  # fmt: skip

SURVIVORS = {
    "if (line": "what is gathered in shared memory first is the same",
    "top > m": "a warp past the last row stores nothing",
    "blockIdx.z": "blockIdx.z is 0: batches are not asked for",
    "i += 31": "some elements are gathered twice",
    "__launch_bounds__": "no more threads than these are launched",
}
