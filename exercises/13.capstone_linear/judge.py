"""A linear layer, as fast as the learner can make it."""

import numpy as np

from helpers.exercises.launches import In, Launch, Rate, Wrong, far_product, numbers, product

SIZES = (33, 40, 20), (1, 1, 4), (70, 3, 64), (5, 130, 12)
CHOICES = "ROWS", "COLUMNS", "THREADS"


def drawn(rng):
    sizes = rng.integers(((5, 33, 3), (300, 140, 1)), ((200, 150, 10), (400, 200, 3)))
    return (sizes * (1, 1, 4)).tolist()


def launch(rng, size, rows, columns, threads):
    m, n, k = size
    x, w, bias = numbers(rng, m, k), numbers(rng, n, k), numbers(rng, n)
    out = product(x, w.T, bias=bias, roundings=k + 2)
    arguments = [In(x), In(w), In(bias), out, *map(np.int32, size)]
    grid = -(-n // columns), -(-m // rows)
    return Launch(arguments, grid, threads, what=f"{m} x {k} times ({n} x {k})ᵀ")


def far(rng, rows, columns, threads):
    """The last block of x, w and y that have more elements than an int can count each."""

    def grid(m, n):
        return -(-n // columns), -(-m // rows)

    how = {"size_type": np.int32, "wide": columns, "turned": True}
    launch = far_product(rng, 8192, rows, grid, threads, **how)
    launch.arguments.insert(2, In(np.zeros(launch.arguments[4], np.float32)))  # the bias
    return launch


LARGE = ((70, 301, 20),)
COUNTED = 256, 256, 128
BUDGET = {"ld.sectors": (32_800, 300_000)}
LIMITS = None  # what counts is the clock
SHARED_BYTES = 49_152
RATE = Rate((256, 256, 4096), 35, {"cuBLAS": "gemm 4096 b transposed float32"})

WRONG = {
    "no bias": Wrong("values", {" + bias[column]": ""}),
    "a bias for each row": Wrong("values|out of bounds", {"bias[column]": "bias[row]"}),
    "no guard for rows of x": Wrong("out of bounds", {"line >= lines || i >= k": "i >= k"}),
    "past the depth": Wrong("out of bounds|values", {"line >= lines || i >= k": "line >= lines"}),
    "no guard for y": Wrong("out of bounds|values", {"if (row < m && column < n) y": "y"}),
    "no barrier": Wrong("race|uninitialised", {"        __syncthreads();\n": ""}),
    "one pair of tiles, one barrier": Wrong("race", {", now ^= 1": ""}),
    "places of y in 32 bits": Wrong("262,272 x", {"row * (long long)n": "row * n"}),
    "places of x and w in 32 bits": Wrong("262,272 x", {"line * (long long)k": "line * k"}),
    "a number at a time": Wrong(
        "clock",
        {"*reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);": "for (int e = 0;"
         " e < 4; ++e) to[e] = ((const volatile float *)from)[e];",
         "*reinterpret_cast<float4 *>(to + 4) = *reinterpret_cast<const float4 *>(from + 64);":
         "for (int e = 0; e < 4; ++e) to[4 + e] = ((const volatile float *)from)[64 + e];"},
    ),
}  # fmt: skip

SURVIVORS = {
    "first <= k": "one turn more, of zeros",
    "now = 1": "it begins with the other pair of tiles",
    "[3][DEEP]": "a larger array",
    "sum[8][9]": "a larger array",
}
