"""Attention, by the kernels of cuda_src/attention."""

from dataclasses import dataclass
from functools import partial
from math import isfinite, prod
from types import SimpleNamespace

import numpy as np
from pycuda.gpuarray import GPUArray

from .. import sources
from . import hopper, tensor
from .arrays import check, element_strides, signature
from .elementwise import contiguous
from .launch import (
    Form,
    Kept,
    KernelCall,
    address,
    ceil_divide,
    context,
    cuda,
    most_shared,
    multiprocessors,
    power_of_two,
    workspace,
)
from .tuning import blocks_us, caches, quickest, sum_us

__all__ = ["attention", "attention_backward"]

CAUSAL = {False: None, True: "upper_left", "upper_left": "upper_left", "lower_right": "lower_right"}
LARGEST_HEAD = 256
MOST_BY_WARPS = 16  # queries: tiles of 64 rows by warpgroups would be mostly empty
TOGETHER_BYTES = 1 << 24  # of keys and values at a time, so that they stay in L2
LEAST_SHARE = 64  # keys, for a split to pay, times tiles of 16 queries, 2 at most
MOST_SPLITS = 128
LEAST_STEPS = 2  # of a split by warpgroups
GRADIENT_TILE = 32  # queries or keys
GRADIENT_STAGES = {32: 4, 64: 4, 96: 3, 128: 3}  # by head size, for warpgroups

prepared = Kept()
caches.append(prepared)


@dataclass(frozen=True)
class Tile:
    """The tile of a block in attention/tensor.cu: warps with 16 * row_tiles rows each, this many
    keys at a time; whether queries stay in registers; blocks per multiprocessor."""

    row_tiles: int
    warps: int
    keys: int
    keeps: int
    blocks: int

    @property
    def rows(self):
        return 16 * self.row_tiles * self.warps

    @property
    def choices(self):
        return {"ROW_TILES": self.row_tiles, "WARPS": self.warps, "KEYS": self.keys,
                "Q_KEPT": self.keeps, "BLOCKS": self.blocks}  # fmt: skip

    def shared_bytes(self, head):
        return (self.rows + 2 * self.keys) * _line_bytes(head)


@dataclass(frozen=True)
class GroupTile:
    """The tile of a block in attention/hopper.cu: 64 rows per warpgroup, this many keys at a
    time; pipeline stages for keys and for queries; an H200's times: for a step, and for what is
    before and after."""

    groups: int
    keys: int
    stages: int
    q_stages: int
    step_us: float
    rest_us: float

    @property
    def rows(self):
        return hopper.GROUP_ROWS * self.groups

    @property
    def threads(self):
        return hopper.GROUP * (self.groups + 1)

    @property
    def choices(self):
        return {"GROUPS": self.groups, "KEYS": self.keys, "STAGES": self.stages,
                "Q_STAGES": self.q_stages}  # fmt: skip

    def shared_bytes(self, head):
        return (self.q_stages * self.rows + 2 * self.stages * self.keys) * _line_bytes(head)


def _line_bytes(head):
    """Return the bytes of shared memory of a line of a head, in whole panels."""
    return ceil_divide(head * 2, tensor.LINE) * tensor.LINE


SHORT = Tile(2, 4, 64, 1, 2), Tile(1, 4, 64, 1, 3)
MEDIUM = Tile(2, 4, 64, 0, 2), Tile(1, 4, 64, 1, 3)
LONG = Tile(1, 8, 64, 0, 1), Tile(1, 4, 64, 0, 2), Tile(1, 1, 32, 0, 5)
TILES = {  # by head size: for many rows, for fewer, and for at most 16
    32: (*SHORT, Tile(1, 1, 64, 1, 11)),
    64: (*SHORT, Tile(1, 1, 64, 1, 8)),
    96: (*MEDIUM, Tile(1, 1, 64, 1, 6)),
    128: (*MEDIUM, Tile(1, 1, 32, 1, 10)),
    192: LONG,
    256: LONG,
}
SIZES_OF_FLOATS = 64, 128, 192, 256
GROUP_TILES = {  # by head size
    32: (GroupTile(3, 128, 3, 2, 1.4, 1.4), GroupTile(2, 128, 3, 2, 1.1, 1.0),
         GroupTile(1, 128, 3, 2, 0.8, 0.95)),
    64: (GroupTile(3, 128, 3, 2, 1.5, 1.4), GroupTile(2, 128, 3, 2, 1.25, 1.1),
         GroupTile(1, 128, 3, 2, 0.87, 0.95)),
    96: (GroupTile(2, 128, 2, 2, 1.3, 2.7), GroupTile(1, 128, 2, 2, 0.95, 1.8)),
    128: (GroupTile(2, 128, 2, 2, 1.45, 3.0), GroupTile(1, 128, 2, 2, 1.05, 2.0)),
    256: (GroupTile(2, 64, 2, 1, 1.6, 3.5), GroupTile(1, 64, 2, 1, 1.2, 2.5)),
}  # fmt: skip
GROUP_START_US = 1.5  # until the first tile has come
UNEVEN = 0.3  # of the longest tile: how far from evenly blocks share tiles of several lengths
PRODUCTS_PER_US, READ_BYTES_PER_US = 1.2e6, 3e4  # of a multiprocessor, by warps
ALONE_US, REST_US = 1.2, 2.0  # the least that a step takes, and what is before and after
JOIN_US = 1.5  # until the last block knows that it is the last
ROUND_US, AT_ONCE, MERGE_THREADS = 0.8, 8, 256  # a merge loads so many splits in a round
IN_FLOATS = {rows: Tile(1, rows // 16, 64, 0, 1) for rows in (16, 64)}


def attention(
    q, k, v, causal=False, scale=None, mask=None, stream=None, dtype=None, with_logs=False
):
    """Return softmax(scale * q kᵀ + mask) v for each head of q[..., heads, queries, size], k[...,
    kv_heads, keys, size], v[..., kv_heads, keys, value_size]. kv_heads must divide heads:
    consecutive query heads share one key head. Leading dimensions must be equal; sizes are at most
    256.

    scale: None is 1 / sqrt(size). causal: a query sees only keys up to its own position, counted
    from the first ("upper_left" or True, as PyTorch's is_causal) or from the last ("lower_right").
    mask: added to the scores, in q's type or float32; or bool, True where a key is seen; it is
    broadcast. A row that sees no key is 0. Keys hidden by causal are not read, so a NaN among them
    may have no effect. dtype="bfloat16" takes uint16 arrays that hold the bits of bfloat16 numbers.

    float16 and bfloat16 products use tensor cores if the GPU has them; probabilities are then
    rounded to v's type. with_logs: also return, in float32, the log of the sum of exponentials
    that each row was divided by, which attention_backward takes."""
    asked, arrays = _asked(_forward, (q, k, v), causal, scale, mask, stream, dtype)
    out, logs = asked(arrays, workspace(stream), stream)
    return (out, logs) if with_logs else out


def attention_backward(
    gradient, q, k, v, saved=None, causal=False, scale=None, mask=None, stream=None, dtype=None
):
    """Return the gradients by q, k and v, from the gradient by attention's result. saved: what
    attention returned with with_logs; computed again if None. The matrix of probabilities is not
    stored, and sums are added in a fixed order, in float32."""
    asked, arrays = _asked(_Backward, (q, k, v), causal, scale, mask, stream, dtype)
    rounded = (
        attention(q, k, v, causal, scale, mask, stream, dtype, True) if saved is None else saved
    )
    given = gradient, *rounded
    forms = (q.dtype, asked.shape), (q.dtype, asked.shape), (np.float32, asked.shape[:-1])
    for name, x, (kind, shape) in zip(("gradient", "saved[0]", "saved[1]"), given, forms):
        check(x, [np.dtype(kind).name], f"attention_backward: {name}")
        if x.shape != shape:
            raise ValueError(f"attention_backward: {name} has shape {x.shape}; expected {shape}")
    packed = [contiguous(x, stream) for x in given]
    return asked(arrays, packed, workspace(stream), stream)


def _asked(what, arrays, causal, scale, mask, stream, dtype):
    """Return what queues the operation, and its arrays in the layout it takes, with the mask if
    any."""
    q, k, v = arrays
    told, side = (q, k, v, *([] if mask is None else [mask])), _side(causal)
    key = what, context(), *map(signature, told), side, scale, dtype
    call = prepared.get(key)
    if call is None:
        kind = _kind(q, k, v, dtype)
        shape = _shape(q, k, v)
        if mask is not None:
            _check_mask(mask, q, (*q.shape[:-1], k.shape[-2]))
        lain = tuple(_laid_out(x, kind, stream) for x in arrays)
        if any(new is not old for new, old in zip(lain, arrays)):
            return _asked(what, lain, causal, scale, mask, stream, dtype)
        scale = q.shape[-1] ** -0.5 if scale is None else float(scale)
        if not isfinite(scale):
            raise ValueError(f"attention: scale is {scale}: expected a finite number")
        call = prepared[key] = what(_Problem(q, k, v, mask, shape, side, scale, kind))
    return call, told


def _kind(q, k, v, dtype):
    """Return the tensor.Kind of these arrays' product; None: no tensor cores for it."""
    if dtype not in (None, "bfloat16"):
        raise ValueError(f'attention: dtype {dtype!r}; expected "bfloat16" or None')
    types = ["uint16"] if dtype else ["float16", "float32"]
    for name, x in ("q", q), ("k", k), ("v", v):
        check(x, types, f"attention: {name}")
        if x.ndim < 2:
            raise ValueError(f"attention: {name} has shape {x.shape}: expected [..., heads, rows,"
                             " size]")  # fmt: skip
    if len({x.dtype for x in (q, k, v)}) > 1:
        raise TypeError(f"attention of {q.dtype}, {k.dtype} and {v.dtype}: all must have one type")
    by_tensor_cores = tensor.are_here(cuda.Context.get_device())
    if dtype and not by_tensor_cores:
        raise TypeError("attention of bfloat16: this GPU has no tensor cores for it; convert to"
                        " float32")  # fmt: skip
    return (
        tensor.KINDS[dtype or q.dtype.name] if by_tensor_cores and q.dtype.itemsize == 2 else None
    )


def _shape(q, k, v):
    """Return the result's shape."""
    shapes = f"attention of {q.shape}, {k.shape} and {v.shape}"
    if not q.ndim == k.ndim == v.ndim:
        raise ValueError(f"{shapes}: all must have as many dimensions")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{shapes}: heads of q have {q.shape[-1]} elements, of k {k.shape[-1]}")
    if k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"{shapes}: k and v must have equal shapes, except for the last dimension")
    if q.shape[:-3] != k.shape[:-3]:
        raise ValueError(f"{shapes}: dimensions before the heads must be equal")
    heads, shared = (x.shape[-3] if x.ndim > 2 else 1 for x in (q, k))
    if heads != shared and (not shared or heads % shared):
        raise ValueError(f"{shapes}: {heads} heads of q are not a multiple of {shared} heads of k")
    if max(q.shape[-1], v.shape[-1]) > LARGEST_HEAD:
        raise ValueError(f"{shapes}: heads have at most {LARGEST_HEAD} elements")
    if not q.shape[-1]:
        raise ValueError(f"{shapes}: heads have no elements")
    return (*q.shape[:-1], v.shape[-1])


def _side(causal):
    """Return the convention that `causal` names."""
    try:
        return CAUSAL[causal]
    except (KeyError, TypeError):
        raise ValueError(
            f'attention: causal {causal!r}; expected a bool, "upper_left" or "lower_right"'
        ) from None


def _check_mask(mask, q, scores):
    """Check that a mask's type goes with q's, and that its shape broadcasts to the scores'."""
    types = dict.fromkeys((q.dtype.name, "float32", "bool"))
    check(mask, list(types), "attention: mask")
    try:
        fits = np.broadcast_shapes(mask.shape, scores) == scores
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"attention: mask of shape {mask.shape} does not broadcast to {scores}")


def _merged(x):
    """Return the strides of batch, head and row, with all batch dimensions merged; None:
    impossible."""
    strides, sizes = element_strides(x), x.shape
    outer = [(n, s) for n, s in zip(sizes[:-3], strides[:-3]) if n != 1]
    for (_, step), (size, inner) in zip(outer, outer[1:]):
        if step != size * inner:
            return None
    head = strides[-3] if x.ndim > 2 else 0
    return (outer[-1][1] if outer else 0), head, strides[-2]


def _map_of_heads(x, place, lines):
    """Return a tensor map of an array of heads at this address, with boxes `lines` high."""
    shape = prod(x.shape[:-3]), x.shape[-3] if x.ndim > 2 else 1, *x.shape[-2:]
    return hopper.map_of(place, x.dtype, shape, _merged(x), (1, 1, lines, hopper.DEEP))


def _laid_out(x, kind, stream):
    """Return x, or a copy of it in a layout that the kernels take."""
    steps = _merged(x)
    lies = steps is not None and (x.shape[-1] == 1 or x.strides[-1] == x.dtype.itemsize)
    if kind is None:
        return x if lies else contiguous(x, stream)
    if lies and not any(place * x.dtype.itemsize % tensor.CHUNK for place in steps):
        if address(x) % tensor.CHUNK == 0:
            return x
    return tensor.padded(x, True, stream) if x.size else x


def _of_scores(mask, shape):
    """Return a mask's strides for batch, head, row and column of scores of this shape; 0 where
    it is broadcast."""
    added = len(shape) - mask.ndim
    strides = (0,) * added + element_strides(mask)
    strides = [0 if n == 1 else s for n, s in zip((1,) * added + mask.shape, strides)]
    outer = [(n, s) for n, s in zip(shape[:-3], strides[:-3]) if n != 1]
    if any(step != size * inner for (_, step), (size, inner) in zip(outer, outer[1:])):
        raise ValueError(f"attention: mask of shape {mask.shape} is repeated along some dimensions"
                         f" before the heads, or lies so: make it whole, {shape}")  # fmt: skip
    return (outer[-1][1] if outer else 0), (strides[-3] if len(shape) > 2 else 0), *strides[-2:]


@dataclass(frozen=True)
class _Problem:
    """The parameters of an attention."""

    q: GPUArray
    k: GPUArray
    v: GPUArray
    mask: GPUArray | None
    shape: tuple  # of the result
    side: str | None
    scale: float
    kind: tensor.Kind | None

    @property
    def heads(self):
        """Return the number of query heads."""
        return self.shape[-3] if len(self.shape) > 2 else 1

    @property
    def group(self):
        """Return how many query heads share one key head."""
        return self.heads // (self.k.shape[-3] if self.k.ndim > 2 else 1)

    @property
    def keys(self):
        return self.k.shape[-2]

    @property
    def diagonal(self):
        """Return how many keys a query sees, if causal, beyond those up to its own number."""
        return self.keys - self.shape[-2] if self.side == "lower_right" else 0

    @property
    def element(self):
        """Return the CUDA type of all arrays."""
        if self.q.dtype == np.uint16:
            return tensor.KINDS["bfloat16"].element
        return sources.C_NAMES[self.q.dtype.name]

    @property
    def places(self):
        """Return the strides of q, k, v and the mask."""
        steps = [step for x in (self.q, self.k, self.v) for step in _merged(x)]
        scores = *self.q.shape[:-1], self.keys
        return [*steps, *((0,) * 4 if self.mask is None else _of_scores(self.mask, scores))]

    def head(self, sizes):
        """Return which of these sizes of heads a kernel is compiled for."""
        return next(size for size in sizes if max(self.q.shape[-1], self.shape[-1]) <= size)

    @property
    def head_by_warps(self):
        """Return the size of heads of kernels by warps, or without tensor cores."""
        return self.head(TILES if self.kind else SIZES_OF_FLOATS)

    def pack(self):
        """Return the floats per load."""
        places = [x.shape[-1] for x in (self.q, self.k, self.v)] + self.places[:9]
        aligned = not any(address(x) % 16 for x in (self.q, self.k, self.v))
        return 4 if aligned and not any(place % 4 for place in places) else 1

    def fits_maps(self):
        """Whether tensor maps can describe q, k and v: positive strides, nothing broadcast."""
        return all(
            step > 0
            for x in (self.q, self.k, self.v)
            for size, step in zip(x.shape, x.strides)
            if size > 1
        )

    def words(self, units=1):
        """Return the struct Problem of problem.cuh."""
        *outer, queries, size = self.shape
        nbytes = self.keys * (self.q.shape[-1] + size) * self.q.dtype.itemsize
        together = max(1, min(units, TOGETHER_BYTES // max(nbytes, 1)))
        sizes = queries, self.keys, self.q.shape[-1], size, self.heads, self.group
        return np.array([*sizes, units, together, self.diagonal, *self.places], np.int64)

    def choices(self):
        """Return the choices common to all kernels."""
        told = {"T": self.element, "CAUSAL": int(self.side is not None)}
        if self.mask is None:
            return told | {"MASKED": 0}
        same = self.mask.dtype == self.q.dtype
        return told | {
            "MASKED": 1,
            "Mask": self.element if same else sources.C_NAMES[self.mask.dtype.name],
        }


def _forward(asked):
    """Return what queues an attention: call(arrays, workspace, stream)."""
    if not prod(asked.shape):
        return _Forward(asked, None)
    kind = asked.element, asked.side, asked.mask is not None, asked.scale > 0
    counts = prod(asked.shape[:-3]), asked.heads, asked.group, asked.shape[-2], asked.keys
    problem = "attention", *kind, *counts, asked.q.shape[-1], asked.shape[-1], asked.fits_maps()
    return quickest(problem, [*_by_groups(asked), *_by_warps(asked)], partial(_Forward, asked))


@dataclass(frozen=True)
class _Way:
    """How blocks divide an attention: the tile of each, their number, splits of the keys, how many
    query heads are folded into the rows of a tile, an estimate, and whether the last block of a
    tile merges its splits."""

    tile: Tile | GroupTile
    blocks: int
    splits: int
    fold: int
    us: float
    joins: bool = False

    @property
    def by_groups(self):
        return isinstance(self.tile, GroupTile)

    def out(self, asked):
        """Return the CUDA type that blocks write."""
        return asked.element if self.splits == 1 else "float"

    @property
    def name(self):
        """Return what is remembered of it."""
        kind = "warpgroups" if self.by_groups else "warps"
        folded = f", {self.fold} heads in turn" if self.fold > 1 else ""
        joined = ", joined" if self.joins else ""
        return f"{self.tile.rows} rows by {kind}{folded} / {self.splits}{joined}"


def _steps(asked, tile, fold=1):
    """Return the mean number of steps of a tile of queries, and the largest."""
    if not asked.side:
        return (ceil_divide(asked.keys, tile.keys),) * 2
    lines = asked.shape[-2] * fold
    ends = np.minimum(np.arange(tile.rows, lines + tile.rows, tile.rows), lines) - 1
    steps = -(-np.clip(ends // fold + asked.diagonal + 1, 0, asked.keys) // tile.keys)
    return float(steps.mean()), int(steps.max())


def _row_threads(asked):
    """Return how many threads load a split of a row, as attention/merge.cuh does."""
    return max(8, power_of_two(ceil_divide(asked.shape[-1], 4)))


def _row_us(asked, splits, threads):
    """Return the time in which so many threads merge the splits of a row."""
    each = _row_threads(asked)
    passes = ceil_divide(each, threads)
    return passes * ROUND_US * ceil_divide(splits, AT_ONCE * max(1, threads // each))


def _merging_us(asked, splits):
    """Return the time of a launch that merges the splits; 0 without splits."""
    row_us = _row_us(asked, splits, MERGE_THREADS)
    return sum_us(prod(asked.shape), splits) + row_us if splits > 1 else 0


def _by_groups(asked):
    """Yield the ways by warpgroups."""
    *outer, queries, size = asked.shape
    plain = asked.mask is None and asked.scale > 0 and queries > MOST_BY_WARPS and asked.keys
    if not (plain and hopper.has_kind(asked.kind) and asked.fits_maps()):
        return
    for tile in GROUP_TILES[asked.head(GROUP_TILES)]:
        blocks = ceil_divide(queries, tile.rows) * prod(outer)
        mean, longest = _steps(asked, tile)
        most = min(multiprocessors() // blocks, longest // LEAST_STEPS, MOST_SPLITS)
        for splits in {max(1, n) for n in (1, most // 2, most)}:
            us = _groups_us(tile, blocks * splits, mean / splits, ceil_divide(longest, splits))
            yield _Way(tile, blocks, splits, 1, us + _merging_us(asked, splits))


def _groups_us(tile, blocks, mean, longest):
    """Return the time of blocks' tiles that take so many steps."""
    us = longest * tile.step_us + tile.rest_us
    if mean > longest - 1:
        return GROUP_START_US + ceil_divide(blocks, multiprocessors()) * us
    even_us = blocks / multiprocessors() * (mean * tile.step_us + tile.rest_us)
    return GROUP_START_US + max(us, even_us + UNEVEN * us)


def _by_warps(asked):
    """Yield the ways by warps, or without tensor cores."""
    *outer, queries, _ = asked.shape
    for fold in {1, asked.group}:
        lines, units = queries * fold, prod(outer) // fold
        shares = ceil_divide(asked.keys, LEAST_SHARE * min(2, ceil_divide(lines, 16)))
        for tile in _tiles(asked, lines):
            blocks = ceil_divide(lines, tile.rows) * units
            most = max(1, multiprocessors() * tile.blocks // blocks)
            for splits in {max(1, min(n, shares, MOST_SPLITS)) for n in (1, most // 2, most)}:
                one_round = blocks * splits <= tile.blocks * multiprocessors()
                steps = _steps(asked, tile, fold)[one_round] / splits
                us = blocks_us(blocks * splits, max(1, steps), _timed(tile, asked))
                yield _Way(tile, blocks, splits, fold, us + _merging_us(asked, splits))
                if splits > 1 and asked.kind:
                    us += JOIN_US + min(tile.rows, lines) * _row_us(asked, splits, 32 * tile.warps)
                    yield _Way(tile, blocks, splits, fold, us, True)


def _tiles(asked, lines):
    """Return the tiles for this many lines of queries."""
    if asked.kind is None:
        return [IN_FLOATS[16 if lines <= 16 else 64]]
    head = asked.head_by_warps
    many, fewer, one = TILES[head]
    several = [many, fewer] if many.shared_bytes(head) <= most_shared() else [fewer]
    return [one] if lines <= 16 else several


def _timed(tile, asked):
    """Return the times of a tile for blocks_us: of its products, or of the keys' bytes."""
    products = tile.rows * tile.keys * asked.head_by_warps * 2 / PRODUCTS_PER_US
    line = (asked.q.shape[-1] + asked.shape[-1]) * asked.q.dtype.itemsize
    read = tile.keys * line / READ_BYTES_PER_US
    return SimpleNamespace(
        blocks=tile.blocks, alone_us=ALONE_US, each_us=max(products, read), rest_us=REST_US
    )


class _Forward:
    """Queues an attention, one way: call(arrays, workspace, stream) -> its result and
    logarithms."""

    def __init__(self, asked, way):
        *outer, queries, size = asked.shape
        self.form = Form(asked.shape, asked.q.dtype)
        self.logs = Form((*outer, queries), np.float32)
        self.rows = prod(outer) * queries
        self.launch = None
        if way is None:
            return
        self.by_groups, self.splits, self.tiles = way.by_groups, way.splits, way.blocks
        self.merge = None
        make = self._of_groups if way.by_groups else self._of_warps
        self.launch = make(asked, way)
        self.joins, self.takes_merged = way.joins, bool(asked.kind)
        if self.splits > 1 and not self.joins:
            sizes = self.rows, size, self.splits
            told = {"Out": asked.element}
            threads = min(_row_threads(asked) * ceil_divide(self.splits, AT_ONCE), MERGE_THREADS)
            block = (max(32, power_of_two(threads)),)
            self.merge = KernelCall("attention/merge.cu", told, (self.rows,), block, *sizes)

    @staticmethod
    def _of_groups(asked, way):
        """Prepare the kernel for warpgroups."""
        size, tile, head = asked.shape[-1], way.tile, asked.head(GROUP_TILES)
        pack = next(p for p in ((8, 4, 2, 1) if way.splits == 1 else (2, 1)) if size % p == 0)
        choices = {"T": asked.element, "CAUSAL": int(asked.side is not None), "HEAD": head,
                   "C_PACK": pack, "Out": way.out(asked)}  # fmt: skip

        def maps(*places):
            lines = tile.rows, tile.keys, tile.keys
            for x, place, high in zip((asked.q, asked.k, asked.v), places, lines):
                yield _map_of_heads(x, place, high)

        return hopper.BoxCall(
            maps, "attention/hopper.cu", choices | tile.choices,
            (min(way.blocks * way.splits, multiprocessors()),), (tile.threads,),
            asked.words(prod(asked.shape[:-2])), np.float32(asked.scale),
            np.int32(way.blocks * way.splits), np.int32(way.splits),
            shared=tile.shared_bytes(head),
        )  # fmt: skip

    @staticmethod
    def _of_warps(asked, way):
        """Prepare the kernel for warps, or that without tensor cores."""
        tile, head = way.tile, asked.head_by_warps
        choices = asked.choices() | {"HEAD": head, "KEYS": tile.keys, "FOLD": way.fold}
        choices["Out"] = way.out(asked)
        if asked.kind:
            scored = int(asked.mask is not None or asked.scale <= 0)
            choices |= tile.choices | {"SCORED": scored}
            file, block, shared = "attention/tensor.cu", 32 * tile.warps, tile.shared_bytes(head)
        else:
            shared = 4 * ((tile.rows + tile.keys) * (head + 4) + tile.rows * (tile.keys + 4))
            choices |= {"ROWS": tile.rows, "PACK": asked.pack()}
            file, block = "attention/running.cu", 256
        words = asked.words(prod(asked.shape[:-2]) // way.fold)
        return KernelCall(file, choices, (way.blocks, way.splits), (block,), words,
                          np.float32(asked.scale), shared=shared)  # fmt: skip

    def __call__(self, arrays, room, stream):
        out, logs = (form.new(arrays[0], room) for form in (self.form, self.logs))
        if self.launch is None:
            return out, logs
        q, k, v, *mask = map(address, arrays)
        made, sums = address(out), address(logs)
        merged = 0, 0, 0
        if self.splits > 1:
            each = 4 * self.splits * self.rows
            made, arrived = room.scratch(each * (out.shape[-1] + 1), self.tiles * self.joins)
            sums = made + each * out.shape[-1]
            merged = (address(out), address(logs), arrived) if self.joins else merged
        if self.by_groups:
            _, drawn = room.scratch(0, 1)
            self.launch(stream, (q, k, v, made), after=(sums, drawn))
        else:
            after = made, sums, *(mask or [0]), *(merged if self.takes_merged else ())
            self.launch(stream, (q, k, v), after=after)
        if self.merge:
            self.merge(stream, (made, sums, address(out)), after=(address(logs),))
        return out, logs


class _Backward:
    """Queues the gradients: call(arrays, given, workspace, stream) -> the gradients by q, k and
    v; given: the gradient by the result, the result, and its logarithms."""

    def __init__(self, asked):
        self.shape = asked.shape
        self.forms = [Form(x.shape, x.dtype) for x in (asked.q, asked.k, asked.v)]
        self.rows = prod(asked.shape[:-1])
        self.products: KernelCall | None = None
        if self.rows:
            grid, sizes = (ceil_divide(self.rows, 8),), (self.rows, asked.shape[-1])
            told = {"T": asked.element}
            self.products = KernelCall("attention/products.cu", told, grid, (256,), *sizes)
        self.by_groups = self._fits_groups(asked)
        made = self._by_groups if self.by_groups else self._in_floats
        calls = (made(asked, of_keys, x) for of_keys, x in ((0, asked.q), (1, asked.k)))
        self.by_q, self.by_keys = calls

    @staticmethod
    def _fits_groups(asked):
        """Whether warpgroups can compute them."""
        sizes = asked.q.shape[-1], asked.shape[-1]
        fits = asked.mask is None and max(sizes) <= max(GRADIENT_STAGES) and asked.keys
        fits = fits and not sizes[1] % 8 and prod(asked.shape)  # lines of the gradient, too
        return fits and hopper.has_kind(asked.kind) and asked.fits_maps()

    @staticmethod
    def _by_groups(asked, of_keys, x):
        """Prepare attention/hopper_gradient.cu."""
        size, value_size = asked.q.shape[-1], asked.shape[-1]
        head = asked.head(GRADIENT_STAGES)
        stages, rows, lines = GRADIENT_STAGES[head], 2 * hopper.GROUP_ROWS, hopper.GROUP_ROWS
        units = prod(x.shape[:-2])
        tiles = ceil_divide(x.shape[-2], rows) * units
        pack = next(p for p in (8, 4, 2, 1) if not size % p and not value_size % p)
        choices = {"T": asked.element, "CAUSAL": int(asked.side is not None), "HEAD": head,
                   "C_PACK": pack, "OF_KEYS": of_keys, "STAGES": stages}  # fmt: skip
        gradient = GPUArray(asked.shape, x.dtype, gpudata=0)
        sides = (asked.k, asked.v), (asked.q, gradient)

        def maps(*places):
            arrays = (*sides[not of_keys], *sides[of_keys])
            for array, place, high in zip(arrays, places, (rows, rows, lines, lines)):
                yield _map_of_heads(array, place, high)

        shared = (2 * rows + stages * lines) * 2 * _line_bytes(head)
        return hopper.BoxCall(
            maps, "attention/hopper_gradient.cu", choices, (min(tiles, multiprocessors()),),
            (3 * hopper.GROUP,), asked.words(units), np.float32(asked.scale), np.int32(tiles),
            shared=shared,
        )  # fmt: skip

    @staticmethod
    def _in_floats(asked, of_keys, x):
        """Prepare attention/gradient.cu; None: the result is empty."""
        head = asked.head(SIZES_OF_FLOATS)
        choices = asked.choices() | {"HEAD": head, "PACK": asked.pack(), "OF_KEYS": of_keys}
        shared = 4 * GRADIENT_TILE * (4 * (head + 4) + 2 * (GRADIENT_TILE + 1))
        blocks = ceil_divide(x.shape[-2], GRADIENT_TILE) * prod(x.shape[:-2])
        arguments = asked.words(), np.float32(asked.scale)
        return blocks and KernelCall("attention/gradient.cu", choices, (blocks,), (256,),
                                     *arguments, shared=shared)  # fmt: skip

    def __call__(self, arrays, given, room, stream):
        made = [form.new(arrays[0], room) for form in self.forms]
        q, k, v, *mask = map(address, arrays)
        gradient, result, logs = map(address, given)
        by_q, by_k, by_v = map(address, made)
        products, drawn = room.scratch(4 * self.rows, 1)
        if self.products:
            self.products(stream, (gradient, result, products))
        if self.by_groups:
            self.by_q(stream, (q, gradient, k, v, by_q), after=(logs, products, 0, drawn))
            self.by_keys(stream, (k, v, q, gradient, by_k), after=(logs, products, by_v, drawn))
            return tuple(made)
        for call, results in (self.by_q, (by_q, by_q)), (self.by_keys, (by_k, by_v)):
            if call:
                after = gradient, logs, products, *results, *(mask or [0])
                call(stream, (q, k, v), after=after)
        return tuple(made)
