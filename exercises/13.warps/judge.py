"""A product of matrices by tiles of warps, with fragments one step ahead: a step of the course."""

from dataclasses import replace

import numpy as np

from helpers.exercises.launches import Rate, Wrong, far_product, numbers, product_launch

OURS = "gemm/warps.cu"
SIZES = (33, 40, 20), (1, 4, 4), (260, 8, 36)
SHARED = 2 * 16 * (256 + 128 + 8) * 4


def _blocks(m, n):
    return -(-n // 128) * -(-m // 256)


def drawn(rng):
    sizes = rng.integers(((5, 33, 5), (300, 20, 1)), ((90, 50, 10), (600, 70, 5)))
    return (sizes * (1, 4, 4)).tolist()


def launch(rng, size):
    m, n, k = size
    strides = np.array([k, n, 0, 0], np.int64)
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    return replace(product_launch(a, b, _blocks(m, n), 256, strides), shared=SHARED)


def far(rng):
    def strides(n, k):
        return np.array([k, n, 0, 0], np.int64)

    return replace(far_product(rng, 8192, 256, _blocks, 256, strides), shared=SHARED)


COUNTED = 256, 128, 128
BUDGET = {"lds.wavefronts": 8 * 129 * 16, "ld.sectors": 6144, "barriers": 9 * 8}
LIMITS = {"instructions": 1.5}
SHARED_BYTES = SHARED
RATE = Rate((256, 128, 4096), 45, {"cuBLAS": "gemm 4096 float32"})

TAKE = "take((i + 1) % 2, is_last ? now ^ 1 : now, (i + 1) % DEEP);"
WRONG = {
    "no barrier": Wrong("race|uninitialised", {"                __syncthreads();": ""}),
    "none before the first step": Wrong("race|uninitialised", {"    put(0);\n    __syncthreads();\n": "    put(0);\n"}),
    "the same pair again": Wrong("race|values", {"put(now ^ 1);": "put(now);"}),
    "the next pair's first step from this one": Wrong("race|values", {"is_last ? now ^ 1 : now": "now"}),
    "the step that has just been multiplied": Wrong("values", {"(i + 1) % DEEP);\n            if": "i);\n            if"}),
    "fetched twice": Wrong("values|clock|counters", {"if (i == 0) fetch();": "if (i < 2) fetch();"}),
    "warps in two rows of four": Wrong(
        "race|values|out of bounds|double", {"warp / 2 * 64": "warp / 4 * 64", "warp % 2 * 64": "warp % 4 * 64"}
    ),
    "lanes in eight rows of four": Wrong(
        "race|values|double", {"lane / ACROSS * FOUR, x": "lane / 4 * FOUR, x", "lane % ACROSS * FOUR": "lane % 4 * FOUR"}
    ),
    "a and b exchanged": Wrong("values", {"p[i % 2][h][r] * q[i % 2][w][s]": "p[i % 2][h][s] * q[i % 2][w][r]"}),
    "the buffer that is being loaded": Wrong("values", {"p[i % 2][h][r] * q": "p[(i + 1) % 2][h][r] * q"}),
    "steps in a loop": Wrong("local|counters|clock", {"#pragma unroll\n        for (int i = 0; i < DEEP; ++i) {": "#pragma unroll 1\n        for (int i = 0; i < DEEP; ++i) {"}),
}  # fmt: skip

SURVIVORS = {
    "__launch_bounds__": "no result depends on how many blocks a multiprocessor holds",
    "blockIdx.z": "it is 0: batches are not asked for",
    "gridDim.y - blockIdx.y": "the grid has one row: k is not split",
}
