"""A product by tiles, of any depth."""

import numpy as np

from helpers.exercises.costs import FACTORS
from helpers.exercises.launches import Wrong, numbers, product_launch

SIZES = (16, 16, 32), (1, 1, 1), (20, 33, 17), (16, 16, 5), (3, 40, 50), (47, 2, 16)


def drawn(rng):
    low = (5, 5, 5), (110, 2, 300), (2, 600, 60)
    return rng.integers(low, ((50, 50, 50), (140, 16, 350), (16, 700, 80))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    a[::5, [0, -1]] = b[-1, ::5] = np.inf  # times 0 it is not 0
    return product_launch(a, b, (-(-n // 16), -(-m // 16)), (16, 16), size_type=np.int32)


LARGE = ((16, 40, 1300),)
COUNTED = 64, 64, 40
BUDGET = {}
LIMITS = dict.fromkeys(FACTORS.keys() - {"ld.sectors"})  # cost is not judged, but tiles are
IDEA = {
    "lds.wavefronts": (2304, "Multiply from the tiles in shared memory, not from a and b."),
    "barriers": (384, "Tiles are written and read by other threads: that takes barriers."),
}

WRONG = {
    "more shared memory than is needed": Wrong(
        "bytes of shared", {"tile_a[16][16]": "tile_a[300][16]"}
    ),
    "the depth of a only": Wrong("out of bounds|values", {"first + y < k && ": ""}),
    "the depth of b only": Wrong("out of bounds|values", {" && first + x < k": ""}),
    "one too deep": Wrong("values|out of bounds", {"first + x < k": "first + x <= k"}),
    "the depth of a only, b being finite": Wrong(
        "values",
        {
            "first + y < k && column < n ? b[(first + y) * n + column] : 0": "b[min(first + y, k - 1) * n + min(column, n - 1)]"
        },
    ),
    "the depth of b only, a being finite": Wrong(
        "values",
        {
            "row < m && first + x < k ? a[row * k + first + x] : 0": "a[min(row, m - 1) * k + min(first + x, k - 1)]"
        },
    ),
    "tiles of which nothing is taken": Wrong(
        "sectors loaded",
        {
            "sum += tile_a[y][i] * tile_b[i][x];": "sum += row < m && column < n && first + i < k ? a[row * k + first + i]"
            " * b[(first + i) * n + column] + (*(volatile float *)&tile_a[0][i] == 1e30f) : 0;"
        },
    ),
    "no tiles, no barriers": Wrong(
        "sectors loaded",
        "int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;\n"
        "if (row >= m || column >= n) return;\nfloat sum = 0;\n"
        "for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];\n"
        "c[row * n + column] = sum;",
    ),
    "no rows": Wrong("out of bounds|values", {"row < m && first": "first"}),
    "whole tiles only": Wrong("values", {"first < k;": "first + 15 < k;"}),
    "no barrier before": Wrong(
        "race|syncwarp|values|uninitialised",
        {"        __syncthreads();\n        for": "        for"},
    ),
    "no barrier after": Wrong(
        "race|syncwarp|values", {"[i][x];\n        __syncthreads();": "[i][x];"}
    ),
    "ones past the edge": Wrong(
        "values", {"+ x] : 0": "+ x] : 1", "+ column] : 0": "+ column] : 1"}
    ),
    "places in 16 bits": Wrong(
        "values|out of bounds|fault",
        {"b[(first + y) * n + column]": "b[(short)((first + y) * n + column)]"},
    ),
    "fifty deep": Wrong("values", {"first < k;": "first < min(k, 50);"}),
    "no guard": Wrong("out of bounds|values", {"if (row < m && column < n) c": "c"}),
}

SURVIVORS = {
    "first <= k": "one turn more, of zeros",
    "a[row * k + first + x] : 1": "the other tile has a 0 wherever the depth ends",
    "b[(first + y) * n + column] : 1": "the other tile has a 0 wherever the depth ends",
    "[17][16], tile_b": "a larger array",
    "tile_a[16][17]": "a larger array",
}
