"""Launches by tensor cores: some that the clock was made with, and others that it predicted before
an H200 had run them."""

from math import ceil

import numpy as np

from helpers.ops.tensor import KINDS, TILES

from .cases import SMS, Case, below, floats, zeros

__all__ = ["TENSOR"]

F16, F64, I8, I32, I64, U16, U32 = (
    np.float16, np.float64, np.int8, np.int32, np.int64, np.uint16, np.uint32
)  # fmt: skip
SEEN, BLIND = "tensor", "tensor, blind"


def _case(set_, kernel, told, grid, block, *arguments):
    grid, block = (v if isinstance(v, tuple) else (v,) for v in (grid, block))
    name = f"{kernel} {told}"
    return Case(name, set_, name, kernel, "tensor.cu", grid, block, list(arguments))


def _words(n):
    return below(1 << 30, n, U32)


def _step(set_, name, m, n, k, tile, **choices):
    """A step of the ladder of halves, or of bfloats."""
    of = choices.get("T", "half")
    told = "".join(f" {key.lower()}={value}" for key, value in choices.items())
    numbers = [floats(size, F16) for size in (m * k, k * n)]
    return Case(
        f"gemm/{name} {m}x{n}x{k}{told}", set_, f"{of} {m}x{n}x{k}", name, f"gemm/{name}.cu",
        (ceil(n / tile[1]), ceil(m / tile[0])), (128,),
        [*numbers, zeros(m * n, F16), I64(m), I64(n), I64(k)], 0, {"Acc": "float"} | choices,
    )  # fmt: skip


def _tensor(set_, kind, m, n, k, tile):
    """The best step, with one of its tiles."""
    kind, tile = KINDS[kind], TILES[tile]
    of = np.dtype(kind.array)
    grid = ceil(m / tile.rows) * ceil(n / tile.columns), 1, 1
    numbers = floats if of.kind == "f" else lambda size, of: below(100, size, of)
    choices = {
        "T": kind.element, "Acc": {"int32": "int"}.get(kind.sum, "float"), "Out": kind.made,
        "A_ALONG_K": 1, "B_ALONG_K": int(not kind.is_either_way), "C_PACK": 4,
        "ROWS": tile.rows, "COLUMNS": tile.columns, "WARP_ROWS": tile.warp_rows,
        "WARP_COLUMNS": tile.warp_columns, "STAGES": tile.stages, "BLOCKS": tile.blocks,
    }  # fmt: skip
    strides = np.array([k, n if kind.is_either_way else k, m * k, k * n], I64)
    return Case(
        f"gemm/tensor {kind.element} {m}x{n}x{k} {tile.rows}x{tile.columns}", set_,
        f"{kind.element} {m}x{n}x{k}", "tensor", "gemm/tensor.cu", grid, (tile.threads,),
        [numbers(m * k, of), numbers(k * n, of), zeros(m * n, np.dtype(kind.result)),
         I64(m), I64(n), I64(k), strides], tile.shared_bytes, choices,
    )  # fmt: skip


def _iterated(set_, kernel, blocks, threads, turns, kind=U32):
    told, many = f"{blocks} of {threads}, {turns} turns", blocks * threads
    read, out = (floats(64, F64), zeros(many, F64)) if kind is F64 else (_words(192), zeros(many))
    return _case(set_, kernel, told, blocks, threads, read, out, I32(turns))


def _by_words(set_, kernel, m, n, words, threads):
    out = zeros(m * n, np.float32 if "eighths" in kernel else I32)
    blocks = m // 16 * (n // 32) // (threads // 32)
    return _case(set_, kernel, f"{m}x{n}x{words}", blocks, threads,
                 _words(m * words), _words(n * words), out, I32(n), I32(words))  # fmt: skip


def _seen():
    fragments, tiles = (64, 16), (64, 64)
    yield _step(SEEN, "fragments", 512, 512, 512, fragments)
    yield _step(SEEN, "fragments_shared", 512, 512, 512, tiles)
    yield _step(SEEN, "fragments_shared", 1024, 512, 768, tiles)
    yield _step(SEEN, "mma", 512, 512, 512, tiles)
    yield _step(SEEN, "mma", 768, 768, 768, tiles, SWIZZLED=1)
    yield _tensor(SEEN, "float16", 512, 512, 512, 3)
    yield _tensor(SEEN, "float16", 1024, 1024, 1024, 2)
    yield _tensor(SEEN, "float16", 2048, 2048, 1024, 0)
    yield _iterated(SEEN, "chains_of_halves", SMS, 256, 200)
    yield _iterated(SEEN, "chains_of_halves", SMS, 64, 200)
    yield _by_words(SEEN, "product_of_bytes", 512, 512, 64, 64)
    m = 512
    yield _case(SEEN, "product_in_turns", m, (m // 64, m // 64), 128,
                floats(m * m, F16), floats(m * m, F16), zeros(m * m), I32(m))  # fmt: skip


def _steps():
    fragments, tiles = (64, 16), (64, 64)
    yield _step(BLIND, "fragments", 640, 640, 640, fragments)
    yield _step(BLIND, "fragments_shared", 1000, 500, 700, tiles, T="__nv_bfloat16")
    yield _step(BLIND, "mma", 1024, 768, 512, tiles)
    yield _step(BLIND, "mma", 768, 1024, 640, tiles, T="__nv_bfloat16", PADDING=16)
    yield _tensor(BLIND, "float16", 1024, 1024, 1024, 3)
    yield _tensor(BLIND, "bfloat16", 1024, 1280, 768, 2)
    yield _tensor(BLIND, "float16", 2816, 3072, 768, 1)
    yield _tensor(BLIND, "int8", 2048, 2048, 2048, 0)
    yield _tensor(BLIND, "tf32", 1024, 1024, 768, 3)


def _blind():
    yield from _steps()
    yield _iterated(BLIND, "chain_of_halves", SMS, 32, 1000)
    yield _iterated(BLIND, "pairs_of_bfloats", 2 * SMS, 128, 150)
    yield _iterated(BLIND, "chains_cut", SMS, 512, 100)
    yield _iterated(BLIND, "chains_of_doubles", SMS, 256, 300, F64)
    n = 768
    yield _case(BLIND, "gram_halves", f"{n}x384", n // 32 * n // 32 // 4, 128,
                floats(n * 384, F16), zeros(n * n, F16), I32(n), I32(384))  # fmt: skip
    yield _by_words(BLIND, "product_of_bytes", 1024, 1024, 128, 256)
    yield _by_words(BLIND, "common_bits", 1024, 2048, 128, 128)
    yield _by_words(BLIND, "product_of_eighths", 512, 768, 128, 64)
    side = 512
    yield _case(BLIND, "convolve_channels", side, side * side // 16 // 4, 128,
                _words((side + 2) ** 2 * 8), _words(9 * 16 * 8), zeros(side * side * 16),
                I32(side))  # fmt: skip
    for kernel, m, kind, tile, threads in (
        ("product_cut", 512, np.float32, 32, 128), ("product_of_doubles", 384, F64, 32, 128),
        ("product_in_turns", 832, F16, 64, 128),
    ):  # fmt: skip
        out = zeros(m * m, F64 if kind is F64 else np.float32)
        yield _case(BLIND, kernel, m, (m // tile, m // tile), threads,
                    floats(m * m, kind), floats(m * m, kind), out, I32(m))  # fmt: skip
    rows = 1 << 16
    yield _case(BLIND, "rows_projected", rows, rows // 128, 256, below(20000, rows),
                floats(20000 * 64, F16), floats(64 * 64, F16), zeros(rows * 64))  # fmt: skip
    queries, keys = 64 * 2 * SMS, 384
    yield _case(BLIND, "attention", f"{queries} of {keys}", queries // 64, 128,
                floats(queries * 64, F16), floats(keys * 64, F16), floats(keys * 64, F16),
                zeros(queries * 64), I32(keys))  # fmt: skip


TENSOR = [*_seen(), *_blind()]
assert len(TENSOR) == len({case.name for case in TENSOR})
