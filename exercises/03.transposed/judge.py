"""A transpose through tiles."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (1, 1), (32, 32), (31, 33), (1, 257), (65, 7), (100, 130)


def launch(rng, size):
    x = numbers(rng, *size)
    rows, columns = size
    grid = -(-columns // 32), -(-rows // 32)
    arguments = [In(x), Out(x.T.copy()), np.int32(rows), np.int32(columns)]
    return Launch(arguments, grid=grid, block=(32, 8), what=f"{rows} x {columns}")


COUNTED = 128, 256
BUDGET = {"ld.sectors": 4096, "st.sectors": 4096, "lds.conflicts": 0, "sts.conflicts": 0}

WRONG = {
    "conflicts": Wrong("bank conflicts", {"WIDTH = 33": "WIDTH = 32"}),
    "no barrier": Wrong("race", {"    __syncthreads();\n": ""}),
    "not transposed within tiles": Wrong(
        "values|uninitialised",
        {"tile[threadIdx.x][threadIdx.y + k]": "tile[threadIdx.y + k][threadIdx.x]"},
    ),
    "tiles stay where they are": Wrong(
        "values|out of bounds",
        {"column = 32 * blockIdx.y + threadIdx.x, row = 32 * blockIdx.x + threadIdx.y;": ""},
    ),
    "no guard to store": Wrong(
        "out of bounds|uninitialised", {"if (column < rows && row + k < columns)\n": ""}
    ),
    "no guard to load": Wrong("out of bounds", {"if (column < columns && row + k < rows)\n": ""}),
    "the first rows of each tile": Wrong(
        "values",
        {"k < 32; k += 8)\n        if (column < rows": "k < 8; k += 8)\n        if (column < rows"},
    ),
    "without a tile": Wrong(
        "sectors",
        "int column = 32 * blockIdx.x + threadIdx.x, row = 32 * blockIdx.y + threadIdx.y;"
        " for (int k = 0; k < 32; k += 8) if (column < columns && row + k < rows)"
        " out[column * (long long)rows + row + k] = x[(row + k) * (long long)columns + column];",
    ),
}
