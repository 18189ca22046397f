"""Launches of kernels such as public programs have, predicted before a GPU had run them."""

from functools import partial

import numpy as np

from .cases import SMS, below, cases_of, floats, zeros

__all__ = ["PUBLIC"]

F16, F32, I8, I32, U8, U32 = np.float16, np.float32, np.int8, np.int32, np.uint8, np.uint32
_case = cases_of("public, blind", "public.cu")


def _near(n, many, away=500):
    """For each of n places, `many` others that are not far from it."""
    return (np.arange(n) + np.random.default_rng(n).integers(-away, away, (many, n))).astype(
        I32
    ) % n


def _begins(n, each):
    """Where n lists begin whose lengths are from 0 to twice `each`."""
    lengths = np.random.default_rng(n).integers(0, 2 * each + 1, n)
    return np.concatenate([[0], lengths.cumsum()]).astype(I32)


def _tree(depth):
    """Keys and children of a tree of 128 to a node."""
    keys, children, first = [], [], 0
    for level in range(depth):
        nodes, width = 128**level, 128 ** (depth - level)
        first += nodes
        places = np.arange(nodes)[:, None]
        keys.append(places * width + np.arange(129) * (width // 128))
        children.append(first + places * 128 + np.arange(129))
    return [
        np.concatenate([part.ravel() for part in parts]).astype(I32) for parts in (keys, children)
    ]


def _language():
    """What a language model's programs have."""
    n = 1 << 21
    yield _case("adamw", "2^21", n // 512, 512, floats(n), floats(n), zeros(n), zeros(n),
                F32(1e-3), F32(0.1), F32(0.001), I32(n))  # fmt: skip
    rows, width = 4096, 768
    n = rows * width
    yield _case("add_and_normalise", f"{rows} rows of {width}", rows // 4, 128, floats(n),
                floats(n), floats(width), zeros(n), zeros(n), I32(width), I32(rows))  # fmt: skip
    yield _case("bias_gradient", "4096 rows of 1024", 32, (32, 8), floats(1 << 22), zeros(1024),
                I32(4096), I32(1024))  # fmt: skip
    n = 1 << 21
    yield _case("rotate_pairs", "2^21", n // 256, 256, floats(2 * n), zeros(2 * n), I32(64),
                I32(1024))  # fmt: skip
    n = 4 * 12 * 1024 * 64
    yield _case("split_heads", "4x12x1024x64", n // 256, 256, floats(3 * n), zeros(n), zeros(n),
                zeros(n), I32(1024), I32(12), I32(64))  # fmt: skip
    n = 1 << 21
    yield _case("gated", "2^21", n // 256, 256, floats(2 * n, F16), floats(2 * n, F16),
                zeros(2 * n, F16), I32(n))  # fmt: skip
    yield _case("cross_entropy", "256 rows of 32000", 256, 1024, floats(256 * 32000),
                below(32000, 256), zeros(256), I32(32000))  # fmt: skip
    yield _case("quantise_rows", "2048 rows of 1024", 2048, 128, floats(1 << 21),
                zeros(1 << 21, I8), zeros(2048), I32(256))  # fmt: skip


def _grids():
    """Images, fields, meshes and transforms."""
    side, n = 1024, 1 << 20
    tiles = (-(-side // 14),) * 2, (16, 16)
    yield _case("hotspot", "2^20", *tiles, floats(n), floats(n), zeros(n), I32(side))
    before, after = (
        partial(np.clip, np.arange(side, dtype=I32) + step, 0, side - 1) for step in (-1, 1)
    )
    yield _case("diffusion", "2^20", n // 256, 256, before, after, before, after, floats(n),
                zeros(n), I32(side), I32(side), F32(0.5))  # fmt: skip
    yield _case("filter_columns", "2^22", (128, 16), (16, 8), floats(1 << 22), floats(17),
                zeros(1 << 22), I32(2048), I32(2048))  # fmt: skip
    yield _case("walsh", "2^22", (1 << 20) // 256, 256, floats(1 << 22), I32(1 << 12))
    yield _case("haar", "2^20", n // 512, 256, floats(n), zeros(n), zeros(n // 512))
    cells = 264 * 264 * 64
    yield _case("march", "264x264x64", (8, 32), (32, 8), floats(cells), zeros(cells), I32(264),
                I32(264), I32(64))  # fmt: skip
    yield _case("sums_of_rows", "2^20", side // 64, 64, floats(n), zeros(n), I32(side), I32(8))
    yield _case("to_colours", "2^21", (2048 // 32, 1024 // 8), (32, 8), below(256, 1 << 21, U8),
                below(256, 1 << 20, U8), zeros(1 << 23, U8), I32(2048))  # fmt: skip
    yield _case("eliminate", "2^22", (2048 // 32, 2048 // 8), (32, 8), floats(1 << 22),
                floats(1 << 22), I32(2048), I32(16))  # fmt: skip
    m = 1 << 19
    yield _case("fluxes", "2^19", m // 192 + 1, 192, partial(_near, m, 4), floats(5 * m),
                zeros(5 * m), I32(m))  # fmt: skip


def _latency():
    """Chains of steps, barriers, uneven work."""
    width = 1 << 18
    yield _case("pathfinder", "2^18", -(-width // 216), 256, below(10, 20 * width),
                below(99, width), zeros(width, I32), I32(width), I32(20))  # fmt: skip
    cells = 2049 * 2049
    yield _case("align", "2048", 128, 16, below(20, cells), zeros(cells, I32), I32(2049), I32(10),
                I32(128))  # fmt: skip
    yield _case("factor", "32", 1, 32, floats(1 << 20), I32(1024), I32(0))
    n = 1 << 18
    yield _case("widen", "2^18", n // 512, 512, partial(_begins, n, 8), below(n, 16 * n),
                below(2, n, U8), zeros(n, U8), below(2, n + 1, U8), zeros(n, I32),
                I32(n))  # fmt: skip
    keys, children = (partial(lambda part: _tree(3)[part], part) for part in (0, 1))
    yield _case("find_keys", "4096", 4096, 128, keys, children, below(128**3, 4096),
                zeros(4096, I32), I32(3))  # fmt: skip
    yield _case("binomial", "512", 512, 256, floats(512), floats(512), zeros(512), I32(256))
    yield _case("simulate", "128 of 2^16", 128, 256, floats(128), floats(1 << 16), zeros(128),
                I32(1 << 16))  # fmt: skip
    runs = partial(lambda n: np.sort(below(1 << 30, n)().reshape(-1, 512)).ravel(), 1 << 20)
    yield _case("merge_runs", "2^20", 1024, 512, runs, zeros(1 << 20, I32))
    yield _case("resample", "2048", 16, 128, partial(np.arange, 2048, dtype=F32), floats(2048),
                zeros(2048, I32), I32(2048))  # fmt: skip
    yield _case("suppress", "4096", (64, 64), 64, floats(4 * 4096), zeros(4096 * 64, np.uint64),
                I32(4096))  # fmt: skip


def _atomics():
    """Sums, tables and lists that many threads change."""
    n = 1 << 20
    yield _case("assign", "2^20", n // 256, 256, floats(4 * n), floats(64), zeros(64),
                zeros(16, I32), zeros(n, I32), I32(n))  # fmt: skip
    yield _case("bins_by_warp", "2^20", 2 * SMS, 192, below(1 << 31, n, U32), zeros(256, U32),
                I32(n))  # fmt: skip
    yield _case("degrees", "2^20", n // 256, 256, below(1 << 16, n), below(1 << 16, n + 1),
                zeros(1 << 16, I32), zeros(1 << 16, I32), I32(n))  # fmt: skip
    yield _case("insert_keys", "2^20", n // 256, 256, below(1 << 31, n, U32), zeros(1 << 22, U32),
                U32((1 << 22) - 1), I32(n))  # fmt: skip
    yield _case("deposit", "2^20", n // 128, 128, floats(2 * n), zeros(n + 2), I32(1024), I32(n))
    m = 1 << 22
    yield _case("append", "2^22", m // 256, 256, below(1 << 30, m), zeros(m, I32), zeros(1, I32),
                I32(m))  # fmt: skip
    yield _case("nearest_cells", "2^20", n // 256, 256, floats(n), below(1 << 14, n),
                partial(np.full, 1 << 14, 1 << 62, np.uint64), I32(n))  # fmt: skip


def _arithmetic():
    """What the pipes limit, tensor cores among them."""
    side, n = 1024, 1 << 20
    yield _case("sliced_8x8", "2^10", (8, 8), 256, floats(n), floats(n), zeros(n), I32(side))
    squares = (side // 32, side // 8), (32, 8)
    yield _case("smooth", "2^20", *squares, floats(n), zeros(n), I32(side))
    yield _case("sobol", "2^22", (1 << 22) // 128, 128, below(1 << 31, 32, U32), zeros(1 << 22),
                I32(1 << 22))  # fmt: skip
    boxes = 264
    yield _case("forces", "264", boxes, 128, floats(4 * 128 * boxes), floats(128 * boxes),
                below(boxes, 9 * boxes), zeros(4 * 128 * boxes))  # fmt: skip
    yield _case("noise", "2^20", *squares, below(256, 256, U8), zeros(n), I32(side))
    yield _case("halves_ahead", "2^10", (16, 16), 128, floats(n, F16), floats(n, F16),
                zeros(n, F16), I32(side))  # fmt: skip
    m = 1 << 18
    yield _case("plain_wmma", "2^9", (16, 16), 128, floats(m, F16), floats(m, F16), zeros(m),
                I32(512))  # fmt: skip
    yield _case("bytes_wmma", "2^10", (16, 16), 128, below(100, n, I8), below(100, n, I8),
                zeros(n, I32), I32(side))  # fmt: skip
    yield _case("dense_gelu", "4096x1024", (16, 256), 128, floats(n, F16), floats(m, F16),
                floats(side), zeros(4096 * side, F16), I32(side))  # fmt: skip


PUBLIC = [*_language(), *_grids(), *_latency(), *_atomics(), *_arithmetic()]
