"""A product of matrices by packs, with two tiles in turn: a step of the course."""

import numpy as np

from helpers.exercises.launches import Rate, Wrong, far_product, numbers, product_launch

OURS = "gemm/packed.cu"
SIZES = (33, 40, 20), (1, 4, 4), (130, 8, 24)


def drawn(rng):
    sizes = rng.integers(((5, 33, 3), (200, 20, 1)), ((90, 50, 10), (300, 30, 3)))
    return (sizes * (1, 4, 4)).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    strides = np.array([k, n, 0, 0], np.int64)
    return product_launch(a, b, -(-n // 128) * -(-m // 128), 256, strides)


def far(rng):
    def strides(n, k):
        return np.array([k, n, 0, 0], np.int64)

    return far_product(rng, 8192, 128, lambda m, n: n // 128 * (m // 128), 256, strides)


LARGE = (140, 300, 200), (4, 8, 4000)
COUNTED = 128, 256, 32
RATE = Rate((128, 256, 4096), 0, {"cuBLAS": "gemm 4096 float32"})
BUDGET = {"lds.wavefronts": 6144, "ld.requests": 128, "ld.sectors": 2048, "barriers": 2 * 8 * 4}
LIMITS = {"instructions": 1.5}
SHARED_BYTES = 17_000
ADVICE = {
    "race": "In each turn, take the other pair of tiles (`now ^= 1`), and put one barrier between `put`"
    " and the products: who puts into a pair again has passed the barrier of the turn between."
}
MEANWHILE = {
    (r"\bld\.global\b|\bcp\.async\b", r"\bfma\b|\bmul(\.rn)?\.f(32|64)\b"): (
        r"\bst\.shared\b",
        "Fetch the next tiles before these are multiplied, and put them when that is done: nothing is"
        " on its way while you multiply.",
    )
}

WRITTEN_OUT = """
    __shared__ __align__(16) Acc tiles_a[2][DEEP][ROWS + 4], tiles_b[2][DEEP][COLUMNS + 4];
    long long tiles = (m + ROWS - 1) / ROWS;
    long long top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    Matrix<T, 4, true> of_a = {a, strides.a, k, m};
    Matrix<T, 4, false> of_b = {b, strides.b, k, n};
    Load<Matrix<T, 4, true>, Acc, DEEP, ROWS> load_a;
    Load<Matrix<T, 4, false>, Acc, DEEP, COLUMNS> load_b;
    using Quad = Packed<Acc, 4>;
    Quad sum[2][4][2] = {};
    int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4, now = 0;
    load_a.fetch(of_a, 0, top);
    load_b.fetch(of_b, 0, left);
    for (long long first = 0; first < k; first += DEEP, now ^= 1) {
        load_a.put(tiles_a[now]);
        load_b.put(tiles_b[now]);
        __syncthreads();
        load_a.fetch(of_a, first + DEEP, top);
        load_b.fetch(of_b, first + DEEP, left);
#pragma unroll
        for (int i = 0; i < DEEP; ++i) {
            Quad p[2], q[2];
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                p[h] = *reinterpret_cast<Quad *>(&tiles_a[now][i][y + 64 * h]);
                q[h] = *reinterpret_cast<Quad *>(&tiles_b[now][i][x + 64 * h]);
            }
#pragma unroll
            for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int r = 0; r < 4; ++r)
#pragma unroll
                    for (int w = 0; w < 2; ++w)
#pragma unroll
                        for (int s = 0; s < 4; ++s) sum[h][r][w][s] += p[h][r] * q[w][s];
        }
    }
    Product<Out, Acc, 4> product = {c, m, n};
    for (int h = 0; h < 2; ++h)
        for (int r = 0; r < 4; ++r)
            for (int w = 0; w < 2; ++w)
                product.store(top + y + 64 * h + r, left + x + 64 * w, sum[h][r][w]);
"""


def _changed(old, new):
    assert old in WRITTEN_OUT
    return WRITTEN_OUT.replace(old, new)


WRONG = {
    "no barrier": Wrong("race|uninitialised", _changed("        __syncthreads();\n", "")),
    "one pair of tiles, one barrier": Wrong("race", _changed(", now ^= 1", "")),
    "two barriers": Wrong(
        "barriers", _changed("        load_a.put", "        __syncthreads();\n        load_a.put")
    ),
    "the same tiles again": Wrong("values", _changed("first + DEEP", "first")),
    "nothing fetched at first": Wrong("values|uninitialised", _changed("of_a, 0, top", "of_a, k, top")),
    "fetched when these are multiplied": Wrong(
        "meanwhile",
        _changed("        load_a.fetch(of_a, first + DEEP, top);\n        load_b.fetch(of_b, first + DEEP, left);\n", "").replace(
            "        }\n    }\n    Product", "        }\n        load_a.fetch(of_a, first + DEEP, top);\n        load_b.fetch(of_b, first + DEEP, left);\n    }\n    Product"
        ),
    ),
    "fetched and put at once": Wrong(
        "meanwhile",
        _changed("        load_a.fetch(of_a, first + DEEP, top);\n        load_b.fetch(of_b, first + DEEP, left);\n", "")
        .replace("        load_a.put", "        load_a.fetch(of_a, first, top);\n        load_b.fetch(of_b, first, left);\n        load_a.put"),
    ),
    "four rows only": Wrong("values", _changed("y + 64 * h])", "y])")),
    "number by number": Wrong(
        "wavefronts",
        _changed(
            "p[h] = *reinterpret_cast<Quad *>(&tiles_a[now][i][y + 64 * h]);",
            "for (int e = 0; e < 4; ++e)"
            " p[h][e] = ((volatile Acc *)tiles_a[now][i])[y + 64 * h + e];",
        ),
    ),
}  # fmt: skip

SURVIVORS = {
    "__launch_bounds__": "no result depends on how many blocks a multiprocessor holds",
    "blockIdx.z": "it is 0: batches are not asked for",
    "gridDim.y - blockIdx.y": "the grid has one row: k is not split",
}
