"""A product of matrices with 64 sums to a thread: a step of the course."""

from helpers.exercises.launches import Rate, Wrong, far_product, numbers, product_launch

OURS = "gemm/registers.cu"
SIZES = (33, 40, 17), (1, 1, 1), (130, 3, 8)
SIDE = 128


def drawn(rng):
    return rng.integers(((5, 129, 9), (200, 65, 2)), ((90, 200, 40), (300, 90, 9))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    return product_launch(a, b, (-(-n // SIDE), -(-m // SIDE)), (16, 16))


def far(rng):
    return far_product(rng, 8192, SIDE, lambda m, n: (n // SIDE, m // SIDE), (16, 16))


LARGE = (140, 300, 200), (4, 8, 4000)
COUNTED = 128, 256, 32
RATE = Rate((128, 256, 4096), 0, {"cuBLAS": "gemm 4096 float32"})
BUDGET = {"lds.wavefronts": 8192, "ld.sectors": 2048, "st.sectors": 4096}
SHARED_BYTES = 17_000  # two pairs of tiles
LIMITS = {"instructions": 2, "barriers": 1}
IDEA = {"lds.wavefronts": (1024, "Multiply from the tiles in shared memory, not from a and b.")}

BARRIER = "        __syncthreads();  // "
WRONG = {
    "no barrier before": Wrong("race|uninitialised", {f"{BARRIER}the tiles are written": ""}),
    "no barrier after": Wrong(
        "race", {f"{BARRIER}and read: the next ones may take their place": ""}
    ),
    "no guard for rows": Wrong("out of bounds|values", {"if (row < m && column": "if (column"}),
    "no guard for columns": Wrong("out of bounds|values|double write", {"if (row < m && column < n)": "if (row < m)"}),
    "rows and columns exchanged": Wrong("values", {"sum[r][s] += p[r] * q[s]": "sum[s][r] += p[r] * q[s]"}),
    "loops as they are": Wrong("counters|local", {
        "#pragma unroll\n            for (int r = 0": "#pragma unroll 1\n            for (int r = 0",
        "#pragma unroll\n                for (int s = 0": "#pragma unroll 1\n                for (int s = 0",
    }),
    "rows of 32 bits": Wrong("262,272 x", {"c[row * n + column]": "c[(int)row * (int)n + column]"}),
}  # fmt: skip

SURVIVORS = {
    "-= blockIdx.z": "blockIdx.z is 0: batches are not asked for",
    "row * k + i_a]) : Acc(1)": "the other tile has a 0 wherever the depth ends",
    "i_b * n + column]) : Acc(1)": "the same",
    "[SIDE + 3]": "a few more wavefronts, where tiles are written",
}
