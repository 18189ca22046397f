"""Products of a few rows, or columns, and a matrix: what gemm/thin.cu needs, for lines along the
summed dimension, and gemm/thin_across.cu, for lines across it."""

from dataclasses import dataclass

import numpy as np

from .launch import KernelCall, ceil_divide, multiprocessors, power_of_two
from .tuning import splits_to_try
from .windows import NARROW

__all__ = ["MOST_ROWS", "Problem", "Tiling"]

MOST_ROWS = 4
BLOCK, COLUMNS, RESIDENT = 256, 4, 3  # as in gemm/thin.cu; blocks of a multiprocessor
WARP, WARPS = 32, BLOCK // 32
PACK_BYTES = 16, 8, 4, 2  # of an access
# An H200's: a block, a round of its loads, of each element of one, and until the last block of a
# tile has added its splits, and each.
REST_US, ROUND_US, EACH_US, LAST_US, SPLIT_US = 1.0, 0.3, 0.0048, 2.0, 0.1
MOST_SPLITS = 16
UNROLLED = 8  # loads of a thread that are under way in gemm/thin_across.cu


@dataclass(frozen=True)
class Tiling:
    """How blocks divide such a product: their number, the splits along k, and the elements of an
    access."""

    tiles: int
    splits: int
    us: float
    pack: int
    sums: int  # of a tile

    @property
    def name(self):
        """Return what is remembered of it."""
        return f"few rows / {self.splits}"

    def scratch(self, room, batch):
        """Return the addresses of a workspace's memory and counters with which blocks add splits;
        zeros if there are none."""
        tiles = self.tiles * batch
        sums = tiles * self.splits * self.sums
        return room.scratch(4 * sums, tiles) if self.splits > 1 else (0, 0)


@dataclass(frozen=True)
class Problem:
    """Such a product: c = a b, or the transpose of one with few columns. pack: elements of an
    access; along_k: whether the matrix's lines are; strides: what the kernel calls so."""

    rows: int
    columns: int
    k: int
    pack: int
    along_k: bool
    turned: bool
    strides: tuple

    @classmethod
    def of(cls, sizes, ways, itemsize, places):
        """Return the problem of a product of these sizes; None if it is no such product. ways: the
        layouts of a and b; places: addresses."""
        (m, n, k), (of_a, of_b) = sizes, ways
        few, many = (m, of_a, of_a.by_rows), (n, of_b, not of_b.by_rows)
        turned = n < m
        if turned:
            few, many = (n, of_b, not of_b.by_rows), (m, of_a, of_a.by_rows)
        (rows, a, a_along_k), (columns, b, along_k) = few, many
        far = a_along_k and (rows - 1) * a.line >= NARROW  # the kernel counts with int
        if rows > MOST_ROWS or far:
            return None
        lines = [b.line, b.batch, places[not turned] // itemsize]
        lines += [k, a.line, a.batch, places[turned] // itemsize] if along_k else [columns]
        packs = (size // itemsize for size in PACK_BYTES if size >= itemsize)
        pack = next(pack for pack in packs if not any(line % pack for line in lines))
        pack = 1 if along_k and not a_along_k else pack
        steps = (a.line, 1) if a_along_k else (1, a.line)
        c = (1, n) if turned else (n, 1)
        strides = (*steps, b.line, a.batch, b.batch, *c)
        return cls(rows, columns, k, pack, along_k, turned, strides)

    def ways(self, batch=1):
        """Return all tilings."""
        if self.along_k:
            wide, deep, each = COLUMNS, BLOCK * self.pack, COLUMNS * self.pack
        else:
            wide, deep, each = WARP * self.pack, WARPS * UNROLLED, UNROLLED * self.pack
        tiles, rows = ceil_divide(self.columns, wide), power_of_two(self.rows)
        room, found = RESIDENT * multiprocessors(), []
        most = max(1, min(MOST_SPLITS, room // (tiles * batch), self.k // deep))
        round_us = ROUND_US + EACH_US * rows * each
        for splits in splits_to_try(most):
            waves = max(1, tiles * batch * splits / room)
            us = waves * (ceil_divide(ceil_divide(self.k, splits), deep) * round_us + REST_US)
            us += LAST_US + SPLIT_US * splits if splits > 1 else 0
            found.append(Tiling(tiles, splits, us, self.pack, rows * wide))
        return found

    def launch(self, tiling, batch, types):
        """Return the call, for addresses of a, b and c, then of scratch and counters. types: of the
        operands and of the result, in CUDA."""
        choices = {"T": types[0], "Out": types[1], "PACK": self.pack,
                   "ROWS": power_of_two(self.rows)}  # fmt: skip
        sizes = self.rows, self.columns, self.k, np.array(self.strides, np.int64)
        grid = tiling.tiles, tiling.splits, batch
        file = "gemm/thin.cu" if self.along_k else "gemm/thin_across.cu"
        call = KernelCall(file, choices, grid, (BLOCK,), *sizes)
        if not self.turned:
            return call

        def turned(stream, addresses, after):
            a, b, c = addresses
            call(stream, (b, a, c), after)

        return turned
