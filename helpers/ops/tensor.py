"""Matrix products by tensor cores: what gemm/tensor.cu needs, and how its blocks divide a
product."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from pycuda.gpuarray import GPUArray

from .. import sources
from . import tuning
from .elementwise import COPY, run
from .launch import (
    Form,
    Kept,
    KernelCall,
    address,
    ceil_divide,
    context,
    most_shared,
    multiprocessors,
    workspace,
)
from .tuning import blocks_us, splits_to_try, sum_us

__all__ = [
    "CHUNK",
    "KINDS",
    "Kind",
    "Lines",
    "Tile",
    "Tiling",
    "are_here",
    "launch",
    "packed",
    "padded",
    "padded_to",
    "padded_together",
]

CHUNK, LINE = 16, 128  # bytes that move together, and of a tile along k
SHORT_LINE = 4 * LINE  # bytes
LEAST_CAPABILITY = (8, 0)
LANES, COPY_WARPS = 32, 8  # as in gemm/padded.cu

copying = Kept()


@dataclass(frozen=True)
class Kind:
    """A kind of tensor core product: the array type, the elements' CUDA type, the types of sums
    and results, the result's CUDA type, whether b may be contiguous across the summed dimension
    where a may not, and the bytes of which lines, strides and addresses are multiples."""

    array: str
    element: str
    sum: str
    result: str
    made: str
    b_either_way: bool = False
    piece: int = CHUNK

    def giving(self, result):
        """Return the same kind with another result type; "bfloat16" is uint16 to NumPy."""
        if result == "bfloat16":
            return replace(self, result="uint16", made="__nv_bfloat16")
        return replace(self, result=result, made=sources.C_NAMES[result])

    @property
    def is_float8(self):
        """Whether these are 8-bit floats, whose kernels take scales."""
        return self.array == "uint8"

    @property
    def is_either_way(self):
        """Whether an operand may be contiguous across the summed dimension."""
        return np.dtype(self.array).itemsize == 2

    def takes(self, way, of_a):
        """Whether kernels take an operand whose matrices lie so."""
        return self.is_either_way or way.by_rows == of_a or (self.b_either_way and not of_a)


KINDS = {
    "float16": Kind("float16", "half", "float32", "float16", "half"),
    "bfloat16": Kind("uint16", "__nv_bfloat16", "float32", "uint16", "__nv_bfloat16"),
    "tf32": Kind("float32", "float", "float32", "float32", "float"),
    "int8": Kind("int8", "signed char", "int32", "int32", "int"),
    "e4m3": Kind("uint8", "e4m3", "float32", "float16", "half"),
    "e5m2": Kind("uint8", "e5m2", "float32", "float16", "half"),
}
SHORT = "half", "__nv_bfloat16"  # of which 16 bytes hold 8


@cache
def are_here(device):
    """Whether a GPU has the instructions."""
    return device.compute_capability() >= LEAST_CAPABILITY


def padded_to(along, itemsize):
    """Return how many elements a padded line of so many has."""
    per_unit = (LINE if along * itemsize > SHORT_LINE else CHUNK) // itemsize
    return ceil_divide(along, per_unit) * per_unit


def _room(x, by_rows, stream):
    """Return an array like x in lines (rows or columns) that are padded to multiples of LINE bytes,
    or of CHUNK if they are short."""
    *outer, rows, columns = x.shape
    across, along = (rows, columns) if by_rows else (columns, rows)
    shape = *outer, across, padded_to(along, x.dtype.itemsize)
    whole = Form(shape, x.dtype).new(x, workspace(stream))
    strides = whole.strides if by_rows else (*whole.strides[:-2], *whole.strides[:-3:-1])
    return GPUArray(x.shape, x.dtype, base=whole, gpudata=whole.gpudata, strides=strides)


def padded(x, by_rows, stream):
    """Copy x to padded lines."""
    return run(COPY, x, x.dtype.type(0), _room(x, by_rows, stream), stream, "NCHW")


@dataclass(frozen=True)
class Lines:
    """How many lines an array has, from where to where the next begins, and their elements."""

    count: int
    stride: int
    length: int

    def padded(self, itemsize):
        """Return what gemm/padded.cu needs to know of them."""
        words = ceil_divide(self.length * itemsize, CHUNK)
        elements = (self.count - 1) * self.stride + self.length
        told = self.count, self.stride, elements, words, padded_to(self.length, itemsize)
        return told, self.count * ceil_divide(words, LANES - 1)


def padded_together(operands, lines, by_rows, stream):
    """Copy one or two arrays to padded lines, in one launch."""
    copies = [_room(x, rows, stream) for x, rows in zip(operands, by_rows)]
    size, pairs = operands[0].dtype.itemsize, list(zip(operands, copies))
    key = context(), size, *lines
    call = copying.get(key)
    if call is None:
        told, warps = zip(*(of.padded(size) for of in lines))
        blocks = ceil_divide(sum(warps), COPY_WARPS)
        words = np.array([[0] * 5, *told][-2:], np.int64)
        kind = {2: "half", 4: "float"}[size]
        block = (COPY_WARPS * LANES,)
        call = copying[key] = KernelCall("gemm/padded.cu", {"T": kind}, (blocks,), block, words)
    call(stream, [address(x) for pair in (pairs * 2)[-2:] for x in pair])
    return copies


@dataclass(frozen=True)
class Tile:
    """A block's tile and how it is computed: a warp's part, tiles that are buffered, blocks per
    multiprocessor. The times are an H200's, per 128 bytes along k: one block's, at least
    alone_us, and what each further block on the multiprocessor adds; rest_us: before and after
    that."""

    rows: int
    columns: int
    warp_rows: int
    warp_columns: int
    stages: int
    blocks: int
    alone_us: float
    each_us: float
    rest_us: float

    @property
    def threads(self):
        return 32 * (self.rows // self.warp_rows) * (self.columns // self.warp_columns)

    @property
    def shared_bytes(self):
        return self.stages * (self.rows + self.columns) * LINE


TILES = (
    Tile(128, 256, 64, 64, 4, 1, 0.12, 1.09, 3.9),
    Tile(256, 128, 64, 64, 4, 1, 0.16, 1.12, 4.1),
    Tile(128, 64, 64, 32, 4, 2, 0.12, 0.44, 2.1),
    Tile(64, 64, 32, 32, 4, 3, 0.09, 0.25, 1.7),
    Tile(16, 128, 16, 32, 5, 2, 0.17, 0.21, 1.4),
)
PIECES = {16: 1, 8: 1.5, 4: 2.2}  # times as long where so many bytes are copied at once
LEAST_PANEL = 64  # rows of a tile whose lines lie across what is summed over


class Tiling(tuning.Tiling):
    """How blocks of warps divide a product."""

    BY = " by warps"

    @classmethod
    def ways(cls, m, n, k, kind, along_k, batch=1, tiles_at_hand=None):
        """Return all tilings. along_k: whether a's lines run along k."""
        deep, found = ceil_divide(k * np.dtype(kind.array).itemsize, LINE), []
        deep *= 2 if kind.is_float8 else 1  # they are multiplied as halves
        for tile in tiles_at_hand or TILES:
            if tile.rows < LEAST_PANEL and not along_k or tile.shared_bytes > most_shared():
                continue
            tiles = ceil_divide(m, tile.rows) * ceil_divide(n, tile.columns)
            most = max(1, min(2 * multiprocessors() * tile.blocks // (tiles * batch), deep // 2))
            for splits in splits_to_try(most):
                us = PIECES[kind.piece] * blocks_us(
                    tiles * batch * splits, ceil_divide(deep, splits), tile
                )
                us += sum_us(m * n * batch, splits)
                found.append(cls(tile, tiles, splits, us))
        return found

    def call(self, file, choices, kind, out, *arguments, batch=1):
        """Return the KernelCall for this tiling, with results of CUDA type `out`."""
        choices = choices | {"T": kind.element, "Acc": sources.C_NAMES[kind.sum], "Out": out}
        for name in "rows", "columns", "warp_rows", "warp_columns", "stages", "blocks":
            choices[name.upper()] = getattr(self.tile, name)
        grid, block = (self.tiles, self.splits, batch), (self.tile.threads,)
        return KernelCall(file, choices, grid, block, *arguments, shared=self.tile.shared_bytes)


def launch(tiling, sizes, batch, kind, out, lying):
    """Return the KernelCall of a product, for addresses of a, b and c, with CUDA type `out`.
    sizes: m, n, k; lying: the choices and the argument that describe the layouts of a and b."""
    (m, n, k), (choices, strides), tile = sizes, lying, tiling.tile
    file = "gemm/tensor_float8.cu" if kind.is_float8 else "gemm/tensor.cu"
    if kind.is_float8:
        choices = {}
    else:
        deep = LINE // np.dtype(kind.array).itemsize
        whole = kind.piece == CHUNK and not (m % tile.rows or n % tile.columns or k % deep)
        choices = choices | {"WHOLE": int(whole), "BYTES": kind.piece}
    choices["C_PACK"] = packed(n, out)
    return tiling.call(file, choices, kind, out, m, n, k, strides, batch=batch)


def packed(n, out):
    """Return how many elements of a row of n are stored at once, for CUDA type `out`."""
    return next(pack for pack in (8 if out in SHORT else 4, 4, 2, 1) if n % pack == 0)
