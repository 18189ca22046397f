"""A product of matrices, four elements of a column to a thread."""

import numpy as np

from helpers.exercises.launches import Rate, Wrong, numbers, product_launch

SIZES = (
    (4, 64, 16), (1, 1, 1), (6, 65, 3), (3, 7, 40), (9, 100, 17), (64, 2, 5), (2, 3, 70_003),
    (1030, 3, 2), (2, 16_500, 1), (5, 3, 0),
)  # fmt: skip


def drawn(rng):
    low = (2, 65, 2), (150, 5, 250), (20, 700, 50)
    return rng.integers(low, ((70, 200, 40), (200, 60, 300), (40, 900, 60))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    return product_launch(a, b, (-(-n // 64), -(-m // 4)), 64, size_type=np.int32)


LARGE = (70_003, 2, 3), (2, 70_003, 2)
COUNTED = 32, 128, 32
RATE = Rate((64, 64, 4096), 0, {"cuBLAS": "gemm 4096 float32"})
BUDGET = {"ld.requests": 5120, "ld.sectors": 8192, "st.sectors": 512}

WRONG = {
    "the first product, and then the others": Wrong(
        "out of bounds",
        {
            "float sum[4] = {};\n    for (int i = 0": "float sum[4]; for (int r = 0; r < 4; ++r)"
            " sum[r] = top + r < m ? a[(top + r) * k] * b[column] : 0;\n    for (int i = 1"
        },
    ),
    "no guard for columns": Wrong("out of bounds|values", {"if (column >= n) return;": ""}),
    "no guard for rows of a": Wrong("out of bounds", {"if (top + r < m) sum": "sum"}),
    "no guard for rows of c": Wrong("out of bounds|values", {"if (top + r < m) c": "c"}),
    "one row too many": Wrong("out of bounds|values", {"top + r < m": "top + r <= m"}),
    "the first row of a for all": Wrong("values", {"a[(top + r) * k + i]": "a[top * k + i]"}),
    "one sum for all": Wrong("values", {"sum[r]": "sum[0]"}),
    "the last product only": Wrong("values", {"sum[r] += a": "sum[r] = a"}),
    "depth in 16 bits": Wrong("70,003|time|fault", {"int i = 0": "short i = 0"}),
    "places of a in 16 bits": Wrong(
        "values|out of bounds|fault", {"a[(top + r) * k + i]": "a[(short)((top + r) * k + i)]"}
    ),
    "places of b in 16 bits": Wrong(
        "values|out of bounds|fault", {"b[i * n + column]": "b[(short)(i * n + column)]"}
    ),
    "sums in local memory": Wrong(
        "counters|local",
        {
            "float sum[4] = {}": "volatile float sum[4] = {0, 0, 0, 0}",
            "sum[r] += a": "sum[r] = sum[r] + a",
        },
    ),
    "b for each row, by atomics": Wrong(
        "counters|inputs|race", {"* of_b": "* atomicAdd((float *)b + i * n + column, 0.f)"}
    ),
    "whole fours only": Wrong("values", {"if (column >= n)": "if (column >= n || top + 3 >= m)"}),
    "b for each row": Wrong(
        "counters", {"* of_b": "* *(volatile const float *)&b[i * n + column]"}
    ),
}

SURVIVORS = {
    "r <= 4": "sum[4] is undefined, and what nvcc makes of it stores nothing",
}
