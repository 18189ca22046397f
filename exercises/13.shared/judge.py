"""A product of matrices by tiles in shared memory: a step of the course."""

import numpy as np

from helpers.exercises.launches import Rate, Wrong, far_product, numbers, product_launch

OURS = "gemm/shared.cu"
SIZES = (33, 40, 17), (1, 1, 1), (40, 3, 70)


def drawn(rng):
    return rng.integers(((5, 33, 33), (300, 65, 2)), ((60, 60, 90), (350, 90, 9))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    a[::5, [0, -1]] = b[-1, ::5] = np.inf  # times 0 it is not 0
    return product_launch(a, b, (-(-n // 32), -(-m // 32)), (32, 32))


def far(rng):
    return far_product(rng, 33_024, 32, lambda m, n: (n // 32, m // 32), (32, 32))


LARGE = (20, 30, 70_000), (70_003, 3, 2)
COUNTED = 64, 64, 64
RATE = Rate((64, 64, 4096), 0, {"cuBLAS": "gemm 4096 float32"})
BUDGET = {"ld.sectors": 2048, "st.sectors": 512, "barriers": 4 * 2 * 2 * 32}
LIMITS = {"lds.wavefronts": 1.7}  # each number by itself: 2 for a multiply-add, where ours has 1.25
IDEA = {"lds.wavefronts": (4096, "Multiply from the tiles in shared memory, not from a and b.")}

BARRIER = "        __syncthreads();  // "
WRONG = {
    "no barrier before": Wrong("race|uninitialised", {f"{BARRIER}the tiles are written": ""}),
    "no barrier after": Wrong(
        "race", {f"{BARRIER}and read: the next ones may take their place": ""}
    ),
    "no zeros in a": Wrong(
        "out of bounds|values", {"row < m && first + x < k ? Acc(a[row": "true ? Acc(a[row"}
    ),
    "no zeros in b": Wrong(
        "out of bounds|values", {"first + y < k && column < n ? Acc(b[": "true ? Acc(b["}
    ),
    "the depth of a only": Wrong(
        "values",
        {
            "first + y < k && column < n ? Acc(b[(first + y) * n + column])": "column < n ?"
            " Acc(b[(first + y < k ? first + y : k - 1) * n + column])"
        },
    ),
    "whole tiles only": Wrong("values", {"first < k;": "first + SIDE <= k;"}),
    "no tiles": Wrong(
        "counters|barriers",
        {"tile_a[y][i] * tile_b[i][x]": "(row < m && first + i < k ? a[row * k + first + i] : 0)"
         " * (first + i < k && column < n ? b[(first + i) * n + column] : 0)"},
    ),
}  # fmt: skip

SURVIVORS = {
    "-= blockIdx.z": "blockIdx.z is 0: batches are not asked for",
    "first + x]) : Acc(1)": "the other tile has a 0 wherever the depth ends",
    "+ column]) : Acc(1)": "the other tile has a 0 wherever the depth ends",
}
