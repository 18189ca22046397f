"""Launches that the clock predicted before an H200 had run them: its error where nobody looked."""

from functools import partial
from math import ceil

import numpy as np

from .cases import SMS, Case, below, floats, power, zeros

__all__ = ["BLIND"]

F16, F64, I32, I64, U8, U32 = np.float16, float, np.int32, np.int64, np.uint8, np.uint32
HALF, FULL = 1 << 20, 1 << 24


def _case(kernel, n, job, grid, block, *arguments, shared=0):
    grid, block = (v if isinstance(v, tuple) else (v,) for v in (grid, block))
    name, job = f"{kernel} {power(n)}", f"{job} {power(n)}"
    return Case(name, "blind", job, kernel, "blind.cu", grid, block, list(arguments), shared)


def _elements(n):
    """One element at a time, and layouts."""
    f = floats
    yield _case("weighted", n, "weighted", 6 * SMS, 192, f(n, F64), f(n, F64), zeros(n, F64),
                np.float64(2), np.float64(3), I64(n))  # fmt: skip
    yield _case("clamp_halves", n, "clamp", ceil(n / 320), 320, f(n, F16), zeros(n, F16), I32(n))
    yield _case("gelu", n, "gelu", n // 4 // 96 + 1, 96, f(n), zeros(n), I32(n // 4))
    yield _case("options", n, "options", n // 128, 128, f(n), f(n), f(n), zeros(n), zeros(n),
                np.float32(0.02), np.float32(0.3), I32(n))  # fmt: skip
    m = n // 4
    yield _case("multiply_complex", m, "complex", m // 256, 256, f(2 * m, F64), f(2 * m, F64),
                zeros(2 * m, F64), I32(m))  # fmt: skip
    yield _case("unpack_bits", n, "bits", n // 512, 512, below(1 << 30, n // 32), zeros(n), I32(n))
    yield _case("steps_to_one", m, "steps", m // 256, 256, below(1 << 30, m), zeros(m, I32), I32(m))
    yield _case("common_divisor", m, "divisor", m // 128, 128, below(1 << 30, m),
                below(1 << 20, m), zeros(m, I32), I32(m))  # fmt: skip
    yield _case("cube_roots", m, "roots", m // 256, 256, f(m, F64), zeros(m, F64), I32(m))
    dt = np.float32(0.01)
    yield _case("move_bodies", m, "bodies", m // 256, 256, f(8 * m), dt, I32(m))
    yield _case("move_arrays", m, "bodies", m // 256, 256, f(3 * m), f(3 * m), zeros(m), dt, I32(m))
    yield _case("backwards", n, "backwards", n // 1024, 1024, f(n), zeros(n), I32(n))
    side = int(n**0.5) // 8
    yield _case("channels_last", n, "channels", (ceil(side / 32), ceil(side / 4), 4), (32, 4, 1),
                f(n), zeros(n), I32(16), I32(side), I32(side))  # fmt: skip
    yield _case("embed", n, "embed", n // 192, 64, below(5000, n // 192), f(5000 * 192),
                zeros(n), I32(192))  # fmt: skip
    yield _case("embed_back", n, "embed back", n // 192, 64, below(5000, n // 192), f(n),
                zeros(5000 * 192), I32(192))  # fmt: skip
    yield _case("follow", m, "follow", m // 256, 256, below(m, m), zeros(m, I32), I32(8), I32(m))


def _images(n):
    """Squares: turned, pooled, and with their neighbours."""
    side, f, bytes_ = int(n**0.5), floats, below(256, n, U8)
    yield _case("turn_left", n, "turn", (ceil(side / 96), side), 96, f(n), zeros(n), I32(side))
    tiles = (side // 16, side // 16), (16, 16)
    yield _case("turn_left_tiles", n, "turn", *tiles, f(n), zeros(n), I32(side), shared=16 * 17 * 4)
    yield _case("warp_image", n, "warp", (side // 32, side // 8), (32, 8), f(n), zeros(n),
                np.float32(0.8), np.float32(0.6), I32(side))  # fmt: skip
    yield _case(
        "pool", n, "pool", (side // 32, side // 32), (16, 16), f(n), zeros(n // 4), I32(side)
    )
    for kernel in ("edges", "edges_shared"):
        yield _case(kernel, n, "edges", *tiles, bytes_, zeros(n, U8), I32(side))
    yield _case("life", n, "life", (ceil(side / 192), side), 192, below(2, n, U8), zeros(n, U8),
                I32(side), I32(side))  # fmt: skip
    yield _case("median", n, "median", ceil(n / 224), 224, f(n), zeros(n), I32(n))
    yield _case("filter_constant", n, "filter", n // 128, 128, f(n), zeros(n), I32(n))
    yield _case("filter_shared", n, "filter", n // 256, 256, f(n), f(31), zeros(n), I32(n),
                shared=4 * 286)  # fmt: skip


def _together(n):
    """Sums, scans, counts and sorts."""
    f = floats
    for kernel, block in (("sum_squares", 192), ("sum_squares_lanes", 256)):
        yield _case(kernel, n, "squares", 3 * SMS, block, f(n, F64), zeros(1, F64), I32(n))
    yield _case("nearest_to_zero", n, "nearest to zero", n // 256, 256, f(n),
                partial(np.full, 1, 1 << 62, I64), I32(n))  # fmt: skip
    yield _case("count_positive", n, "count", n // 256, 256, f(n), zeros(1, I32), I32(n))
    rows = n // 512
    yield _case("spread", n, "spread", rows // 4, (32, 4), f(n), zeros(rows), zeros(rows), I32(512))
    yield _case("layer_norm", n, "layer norm", n // 768, 256, f(n, F16), f(768), f(768),
                zeros(n, F16), I32(768))  # fmt: skip
    yield _case("prefix_sums", n, "scan", n // 512, 256, f(n, F64), zeros(n, F64), shared=4096)
    yield _case("letters_by_warps", n, "letters", 2 * SMS, 384, below(256, n, U8), zeros(64, U32),
                I32(n), shared=12 * 256)  # fmt: skip
    yield _case("many_bins", n, "bins", n // 256, 256, below(1 << 30, n), zeros(1 << 16, U32),
                I32(1 << 16), I32(n))  # fmt: skip
    yield _case("digits", n, "digits", n // 1024, 256, below(1 << 30, n, U32),
                zeros(n // 64, U32), I32(8))  # fmt: skip
    yield _case("odd_even", n, "odd even", n // 512, 256, f(n), I32(1), I32(n))
    entries, m = n, n // 32
    yield _case("sparse_entries", n, "entries", n // 256, 256, partial(_rows, m, n), below(m, n),
                f(entries), f(m), zeros(m), I32(n))  # fmt: skip
    m = n // 4
    yield _case("five_diagonals", m, "diagonals", m // 256, 256, f(5 * m, F64), f(m, F64),
                zeros(m, F64), I32(m))  # fmt: skip
    yield _case("nearest_centre", m, "centres", m // 128, 128, f(2 * m), f(200), zeros(m, I32),
                I32(100), I32(m), shared=800)  # fmt: skip
    yield _case("small_products", n, "small products", n // 256, (8, 8, 4), f(n), f(n), zeros(n))
    yield _case(
        "tall_product", n, "tall product", n // 256, (32, 8), f(n), f(1024), zeros(n), I32(n // 32)
    )
    yield _case("butterflies", n, "butterflies", n // 512, 256, f(2 * n), I32(1024), I32(n))


def _squares():
    f = floats
    for side in (512, 1024):
        n = side * side
        yield _case("product_doubles", n, "product doubles", (side // 16,) * 2, (16, 16),
                    f(n, F64), f(n, F64), zeros(n, F64), I32(side))  # fmt: skip
        yield _case("product_halves", n, "product halves", (side // 64, side // 4), (32, 4),
                    f(n, F16), f(n, F16), zeros(n, F16), I32(side))  # fmt: skip
    for side in (1000, 4000):
        yield _case("shortest_paths", side * side, "paths", (ceil(side / 32), ceil(side / 8)),
                    (32, 8), below(1000, side * side), I32(7), I32(side))  # fmt: skip
    for side in (96, 256):
        grid = side // 32, side // 4, side // 2
        yield _case("sound", side**3, "sound", grid, (32, 4, 2), f(side**3, F64), f(side**3, F64),
                    zeros(side**3, F64), I32(side))  # fmt: skip
    for n in (1 << 14, 1 << 15):
        yield _case("rank", n, "rank", n // 128, 128, below(1 << 30, n), zeros(n, I32), I32(n))


def _rows(rows, entries):
    """The row of each entry of a sparse matrix, in order."""
    return np.sort(np.random.default_rng(rows).integers(0, rows, entries, I32))


BLIND = [
    case for n in (HALF, FULL) for part in (_elements, _images, _together) for case in part(n)
] + [*_squares()]
