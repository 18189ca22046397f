"""Matrix products by warpgroups, for compute capability 9.0: what gemm/hopper.cu needs, and how
its blocks divide a product."""

from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np
from pycuda.gpuarray import GPUArray

from .. import sources, tensormap
from . import tuning
from .launch import Kept, KernelCall, ceil_divide, cuda, multiprocessors
from .tensor import CHUNK, LINE, packed
from .tuning import MOST_JOINED, splits_to_try, sum_us

__all__ = ["BoxCall", "Tiling", "are_here", "beside", "fits", "has_kind", "launch", "map_of"]

CAPABILITY = 9, 0
KINDS = "half", "__nv_bfloat16", "float", "e4m3", "e5m2"
PATCH_BYTES, GROUP, GROUP_ROWS = 16 * 64 * 4, 128, 64  # as in gemm/pipeline.cuh
HIGH, LEAST_BYTES = 16, 16  # rows of a box of a result; of what its lines are multiples
DEEP = LINE // 2  # 16-bit elements of a line of a box
PANEL = DEEP  # columns of a box of lines across k
MOST_COORDINATE = 1 << 31
LINES_PER_US = 1040  # of 128 bytes that a multiprocessor gets from the L2: fitted to drawn shapes
TURNED = 1.18  # times as long where lines of b are read across k
MOST_SHARED, MOST_STAGES = 225 << 10, 14  # bytes of a narrow tile's patches and stages
ALONE_US = {1: 0.02, 2: 0.01}  # of a column of a tile that is stored one or two elements at a time
JOINED_US, JOINED_TILE_US = 1.4, 8e-5  # until a cluster has added splits, and of each element
SHARED, SHARED_US = 0.75, 1.0  # of the time of lines that two blocks share; until they begin
# Of products of 16-bit numbers: a step at least, by a tile's rows, and of each column; a step by
# its elements; what follows the steps, by its elements; more of that where rows become columns.
LEAST_US, AREA_US = {64: (0.165, 2e-4), 128: (0.235, 6e-4)}, 1.9e-5
STORED_US, ACROSS_US = {64: 4.7e-5, 128: 4e-5}, 1e-4
CLUSTERED, GPC = 6, 16  # so many groups of so many multiprocessors have room for clusters, at least


@cache
def are_here(device):
    """Whether a GPU has warpgroup instructions."""
    return device.compute_capability() == CAPABILITY


class BoxCall(KernelCall):
    """A KernelCall for a kernel that takes tensor maps of its first arrays, from
    maps(addresses), and perhaps one of the last array: result(address)."""

    def __init__(self, maps, *arguments, result=None, **options):
        super().__init__(*arguments, **options)
        self.maps, self.result, self.kept = maps, result, Kept()

    def __call__(self, stream, addresses, after=(), before=b""):
        *mapped, target = addresses
        key = tuple(mapped)
        maps = self.kept.get(key)
        if maps is None:
            maps = self.kept[key] = tensormap.packed(*self.maps(*mapped)).tobytes()
        if self.result:
            made = self.kept.get(target)
            if made is None:
                made = self.kept[target] = bytes(self.result(target))
            maps += made
        super().__call__(stream, (target,), after, before + maps)


@dataclass(frozen=True)
class Tile:
    """A block's tile. The times are an H200's. step_us: per 128 bytes along k; float8_us: the same
    for 8-bit floats, which are summed apart, or None if they don't use this tile; rest_us: for
    everything before and after; is_narrow: whether its rows are columns of a product of halves."""

    rows: int
    columns: int
    stages: int
    step_us: float = 0.0
    rest_us: float = 0.0
    float8_us: float | None = None
    is_narrow: bool = False

    @property
    def threads(self):
        return GROUP * (1 + self.rows // GROUP_ROWS)

    @property
    def shared_bytes(self):
        panel = 1 if self.is_narrow else PANEL  # its columns lie along k
        lines = self.rows + ceil_divide(self.columns, panel) * panel
        return self.stages * lines * LINE + self.rows // 16 * PATCH_BYTES


TILES = (
    Tile(128, 256, 4, 0.59, 1.2, 0.75),
    Tile(128, 128, 6, 0.33, 0.5, 0.40),
    Tile(128, 64, 8, 0.28, 0.15, 0.33),
    Tile(64, 256, 5, 0.41, 0.3, 0.52),
    Tile(64, 128, 8, 0.23, 0.15, 0.31),
    Tile(64, 64, 10, 0.166, 0.15, 0.22),
    Tile(128, 192, 4, 0.45, 0.9),
    Tile(128, 160, 4, 0.39, 0.7),
    Tile(128, 224, 4, 0.52, 1.05),
)


NARROW = (16, 32, 48, *range(64, 257, 32))  # columns of narrow tiles


@cache
def narrow(m):
    """Return the tiles whose columns are rows of a product that has m."""
    found = []
    for columns in NARROW[: 1 + sum(size < m for size in NARROW)]:
        for rows in LEAST_US:
            room = MOST_SHARED - rows // 16 * PATCH_BYTES
            stages = min(MOST_STAGES, room // ((rows + columns) * LINE))
            found.append(Tile(rows, columns, stages, is_narrow=True))
    return found


def _times(tile, kind, is_product):
    """Return the times of a tile's steps and of the rest, of a product or a convolution."""
    if not is_product or not kind.is_either_way:
        return tile.float8_us if kind.is_float8 else tile.step_us, tile.rest_us
    (least, each), area = LEAST_US[tile.rows], tile.rows * tile.columns
    rest_us = area * (STORED_US[tile.rows] + ACROSS_US * tile.is_narrow)
    return max(least + each * tile.columns, area * AREA_US), rest_us


@dataclass(frozen=True)
class Tiling(tuning.Tiling):
    """How blocks of warpgroups divide a product. steps: along k, of 128 bytes; beside: blocks of a
    cluster whose tiles lie one below the other, and share what they read of b."""

    steps: int = 0
    beside: int = 1

    BY = " by warpgroups"

    @property
    def name(self):
        """Return what is remembered of it."""
        return super().name + " turned" * self.tile.is_narrow + " shared" * (self.beside > 1)

    @classmethod
    def ways(cls, m, n, k, kind, batch=1, turned=False, joins=False, touched=(1, 1), pack=None,
             across=False):  # fmt: skip
        """Return all tilings. turned: whether a tile's rows are the product's columns; across:
        whether they may be; joins: whether a cluster of blocks adds the splits of a tile; touched:
        of how many lines of memory 128 bytes of a and of b are parts; pack: elements that are
        stored at once, if not as many as n allows."""
        steps, found = ceil_divide(k * np.dtype(kind.array).itemsize, LINE), []
        alone_us = 0 if turned else ALONE_US.get(pack or packed(n, "half"), 0)
        for tile in (*TILES, *(narrow(m) if across else ())):
            step_us, rest_us = _times(tile, kind, joins)
            if step_us is None or tile.columns % PANEL and not joins:
                continue  # convolutions store whole panels
            down, along, (of_a, of_b) = m, n, touched
            if turned or tile.is_narrow:
                down, along, (of_b, of_a) = n, m, touched
            step_us *= TURNED if turned else 1
            rest_us += tile.columns * alone_us
            step_us = max(step_us, (tile.rows * of_a + tile.columns * of_b) / LINES_PER_US)
            tiles = ceil_divide(down, tile.rows) * ceil_divide(along, tile.columns)
            most = max(1, min(2 * multiprocessors() // (tiles * batch), steps // 4))
            for splits in splits_to_try(min(most, MOST_JOINED) if joins else most):
                if (splits - 1) * ceil_divide(steps, splits) >= steps:
                    continue  # the last would have none
                joined = joins and splits > 1
                rounds = ceil_divide(tiles * batch * splits, room_for(splits if joined else 1))
                added = (JOINED_US + JOINED_TILE_US * tile.rows * tile.columns) * joined
                us = rounds * (ceil_divide(steps, splits) * step_us + rest_us + added)
                us += 0 if joined else sum_us(m * n * batch, splits)
                found.append(cls(tile, tiles, splits, us, joined, steps))
            if across and down > tile.rows and tile.columns >= PANEL:
                lines = (tile.rows * of_a + tile.columns * of_b * SHARED) / LINES_PER_US
                tiles = ceil_divide(down, 2 * tile.rows) * 2 * ceil_divide(along, tile.columns)
                us = steps * max(lines, _times(tile, kind, joins)[0]) + rest_us
                us = us * ceil_divide(tiles * batch, room_for(2)) + SHARED_US
                found.append(cls(tile, tiles, 1, us, False, steps, 2))
        return found

    def scratch(self, room, batch):
        """Return what the kernel is passed beside its arrays: if blocks are a cluster, the address
        of memory for the sums of each."""
        if not self.in_clusters:
            return []
        tile, blocks = self.tile, self.tiles * self.splits * batch * self.joined
        return room.scratch(4 * tile.rows * tile.columns * blocks, 0)[:1]

    @property
    def in_clusters(self):
        """Whether blocks are clusters."""
        return self.joined or self.beside > 1

    def call(self, maps, file, choices, kind, out, *arguments, batch=1, lines=None, parts=1):
        """Return the BoxCall for this tiling, with results of CUDA type `out`, `parts` of each
        product. lines: (how many, how long), if each is such a matrix."""
        tile = self.tile
        choices = choices | {"T": kind.element, "Acc": sources.C_NAMES[kind.sum], "Out": out}
        choices |= {"ROWS": tile.rows, "COLUMNS": tile.columns, "STAGES": tile.stages}
        blocks = self.tiles * self.splits * batch
        if not self.joined:
            blocks = min(blocks, multiprocessors() // self.beside * self.beside)
        dtype = np.dtype(np.float32 if out == "float" else np.uint16)
        result = None
        if lines and not lines[1] * dtype.itemsize % LEAST_BYTES:
            shape, box = (batch * parts, *lines), (1, HIGH, LINE // dtype.itemsize)
            choices["BOXED"] = 1

            def result(address):
                return map_of(address, dtype, shape, (prod(lines), lines[1]), box)

        return BoxCall(maps, file, choices, (blocks,), (tile.threads,), *arguments,
                       shared=tile.shared_bytes, result=result,
                       kernel="joined" if self.in_clusters else None)  # fmt: skip


def room_for(blocks):
    """Return how many blocks run at a time, in clusters of so many: on all multiprocessors, or as
    far as clusters fit into groups of these."""
    most = multiprocessors()
    return most if blocks < 3 else min(most, CLUSTERED * (GPC // blocks) * blocks)


def fits(kind, sizes, batch, ways):
    """Whether warpgroups can multiply matrices in this layout."""
    lie = all(way.batch >= 0 < way.line for way in ways)
    far = max(*sizes, batch * sizes[0] * sizes[1] // GROUP_ROWS**2)
    return (
        has_kind(kind) and kind.piece == CHUNK and lie and 0 < min(sizes) and far < MOST_COORDINATE
    )


def has_kind(kind):
    """Whether this GPU's warpgroups multiply arrays of this kind."""
    return bool(kind) and are_here(cuda.Context.get_device()) and kind.element in KINDS


def beside(tilings, by_groups):
    """Return the ways to choose from: tensor.Tilings, and Tilings of this module."""
    return [*tilings, *by_groups]


def map_of(address, dtype, shape, strides, box, tf32=False):
    """Return a tensor map of an array; strides: in elements, of all axes except the last."""
    size = np.dtype(dtype).itemsize
    lying = (*(step * size for step in strides), size)
    return tensormap.tiled(GPUArray(shape, dtype, gpudata=address, strides=lying), box, tf32=tf32)


def launch(tiling, sizes, batch, kind, out, lying):
    """Return the call of a product; arguments as in tensor.launch."""
    (m, n, k), (choices, strides), tile = sizes, lying, tiling.tile
    deep = LINE // np.dtype(kind.array).itemsize
    line_a, line_b, batch_a, batch_b = (int(step) for step in strides)
    operands = [(m, line_a, batch_a, choices["A_ALONG_K"])]
    operands.append((n, line_b, batch_b, choices["B_ALONG_K"]))
    held = kind.b_either_way and not choices["B_ALONG_K"]
    turned = held or tile.is_narrow
    if turned:
        operands.reverse()
    choices = {f"{x}_STEP": int(step > 0) for x, (_, _, step, _) in zip("AB", operands)}
    if not kind.is_float8:
        choices |= {f"{x}_ALONG_K": along for x, (*_, along) in zip("AB", operands)}
        choices["TURNED"] = int(turned)
    choices["C_PACK"] = min(2 if held or tiling.joined else 8, packed(n, out))
    choices["SPLITS"] = tiling.splits if tiling.joined else 1
    if not kind.is_float8:
        choices["BESIDE"] = tiling.beside

    def operand(address, lines, lying):
        size, line, step, along_k = lying
        shape = (batch if step else 1, *((size, k) if along_k else (k, size)))
        box = (1, lines, deep) if along_k else (1, deep, deep)
        return map_of(address, kind.array, shape, (step, line), box, kind.array == "float32")

    def maps(a, b):
        addresses, tiles = (b, a) if turned else (a, b), (tile.rows, tile.columns // tiling.beside)
        return list(map(operand, addresses, tiles, operands))

    file = "gemm/hopper_float8.cu" if kind.is_float8 else "gemm/hopper.cu"
    counts = map(np.int32, (tiling.steps, batch))
    rows = operands[0][0], operands[1][0]
    return tiling.call(maps, file, choices, kind, out, *rows, *counts, batch=batch,
                       lines=None if turned or tiling.joined else (m, n))  # fmt: skip
