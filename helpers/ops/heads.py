"""Attention, by the kernels of cuda_src/attention."""

from dataclasses import dataclass
from math import isfinite, prod

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
    multiprocessors,
    workspace,
)

__all__ = ["attention", "attention_backward"]

CAUSAL = {False: None, True: "upper_left", "upper_left": "upper_left", "lower_right": "lower_right"}
LARGEST_HEAD = 256
MOST_FOLDED = 16  # heads that share keys, in the rows of one tile
TOGETHER_BYTES = 1 << 24  # of keys and values, which stay in L2
LEAST_SHARE = 128  # keys, for a split to pay, times tiles of 16 queries, 2 at most
MOST_SPLITS = 128
GRADIENT_TILE = 32  # queries or keys
GRADIENT_STAGES = {64: 4, 128: 3}  # by the size of heads, where warpgroups make them

prepared = Kept()


@dataclass(frozen=True)
class Tile:
    """What a block of attention/tensor.cu makes: warps of 16 * row_tiles rows each, from so many
    keys at a time; whether queries stay in registers; blocks on a multiprocessor."""

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
        return (self.rows + 2 * self.keys) * ceil_divide(head * 2, tensor.LINE) * tensor.LINE


@dataclass(frozen=True)
class GroupTile:
    """What a block of attention/hopper.cu makes: 64 rows by each of its warpgroups, from so many
    keys at a time; stages of these, and of queries."""

    groups: int
    keys: int
    stages: int
    q_stages: int

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
        return (self.q_stages * self.rows + 2 * self.stages * self.keys) * head * 2


TILES = {  # by the size of heads: for many rows, for fewer, and for 16 at most
    32: (Tile(2, 4, 64, 1, 2), Tile(1, 4, 64, 1, 3), Tile(1, 1, 64, 1, 8)),
    64: (Tile(2, 4, 64, 1, 2), Tile(1, 4, 64, 1, 3), Tile(1, 1, 64, 1, 8)),
    96: (Tile(2, 4, 64, 0, 2), Tile(1, 4, 64, 1, 3), Tile(1, 2, 64, 1, 4)),
    128: (Tile(2, 4, 64, 0, 2), Tile(1, 4, 64, 1, 3), Tile(1, 2, 64, 1, 4)),
    192: (Tile(1, 8, 64, 0, 1), Tile(1, 4, 64, 0, 2), Tile(1, 1, 32, 0, 5)),
    256: (Tile(1, 8, 64, 0, 1), Tile(1, 4, 64, 0, 2), Tile(1, 1, 32, 0, 5)),
}
GROUP_TILES = {  # by the size of heads
    64: GroupTile(3, 128, 3, 2),
    128: GroupTile(2, 128, 2, 2),
    256: GroupTile(2, 64, 2, 1),
}
LEAST_BUSY = 0.5  # of the multiprocessors, for warpgroups to pay
IN_FLOATS = {rows: Tile(1, rows // 16, 64, 0, 1) for rows in (16, 64)}


def attention(
    q, k, v, causal=False, scale=None, mask=None, stream=None, dtype=None, with_logs=False
):
    """softmax(scale * q kᵀ + mask) v of each head: q[..., heads, queries, size],
    k[..., kv_heads, keys, size], v[..., kv_heads, keys, value_size]; kv_heads divides heads, and
    neighbouring heads of queries share one. Leading dimensions are equal; sizes are 256 at most.

    scale: 1 / sqrt(size) if None. causal: a query sees only keys up to its own place, counted from
    the first ("upper_left", as PyTorch's is_causal and True) or from the last ("lower_right").
    mask: added to scores, of q's type or float32, or bool, True where a key is seen; broadcast.
    A row that sees nothing is 0. Keys that causal hides are not looked at, so a NaN among them
    need not show. dtype="bfloat16" takes arrays of uint16 for the bits of such numbers.

    float16 and bfloat16 are multiplied by tensor cores where the GPU has them; probabilities are
    rounded to the type of v. with_logs: the result, and the logarithms of the sums of exponentials
    that its rows were divided by, float32, which attention_backward takes."""
    asked, arrays = _asked(_Forward, (q, k, v), causal, scale, mask, stream, dtype)
    out, logs = asked(arrays, workspace(stream), stream)
    return (out, logs) if with_logs else out


def attention_backward(
    gradient, q, k, v, saved=None, causal=False, scale=None, mask=None, stream=None, dtype=None
):
    """The gradients by q, k and v of what has this gradient by the result of attention. saved: what
    attention gave, with_logs; made again if None. No matrix of probabilities is stored, and the
    sums are made in one order, in float32."""
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
    """What queues it, and the arrays as it takes them, the mask among them if there is one."""
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
    """The tensor.Kind of these arrays' product; None: none for tensor cores."""
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
    """The shape of the result."""
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
        raise ValueError(f"{shapes}: {heads} heads of q are no multiple of {shared} heads of k")
    if max(q.shape[-1], v.shape[-1]) > LARGEST_HEAD:
        raise ValueError(f"{shapes}: heads have at most {LARGEST_HEAD} elements")
    if not q.shape[-1]:
        raise ValueError(f"{shapes}: heads have no elements")
    return (*q.shape[:-1], v.shape[-1])


def _side(causal):
    """The convention that `causal` names."""
    try:
        return CAUSAL[causal]
    except (KeyError, TypeError):
        raise ValueError(
            f'attention: causal {causal!r}; expected a bool, "upper_left" or "lower_right"'
        ) from None


def _check_mask(mask, q, scores):
    """A mask has a type that q goes with, and a shape that broadcasts to the scores'."""
    types = dict.fromkeys((q.dtype.name, "float32", "bool"))
    check(mask, list(types), "attention: mask")
    try:
        fits = np.broadcast_shapes(mask.shape, scores) == scores
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"attention: mask of shape {mask.shape} does not broadcast to {scores}")


def _merged(x):
    """The strides of batch, head and row: batches' dimensions as one; None: they lie otherwise."""
    strides, sizes = element_strides(x), x.shape
    outer = [(n, s) for n, s in zip(sizes[:-3], strides[:-3]) if n != 1]
    for (_, step), (size, inner) in zip(outer, outer[1:]):
        if step != size * inner:
            return None
    head = strides[-3] if x.ndim > 2 else 0
    return (outer[-1][1] if outer else 0), head, strides[-2]


def _map_of_heads(x, place, lines):
    """The map of an array of heads that lies there, whose boxes are so many lines high."""
    shape = prod(x.shape[:-3]), x.shape[-3] if x.ndim > 2 else 1, *x.shape[-2:]
    return hopper.map_of(place, x.dtype, shape, _merged(x), (1, 1, lines, hopper.DEEP))


def _laid_out(x, kind, stream):
    """x, or a copy of it that lies as the kernels take it."""
    steps = _merged(x)
    lies = steps is not None and (x.shape[-1] == 1 or x.strides[-1] == x.dtype.itemsize)
    if kind is None:
        return x if lies else contiguous(x, stream)
    if lies and not any(place * x.dtype.itemsize % tensor.CHUNK for place in steps):
        if address(x) % tensor.CHUNK == 0:
            return x
    return tensor.padded(x, True, stream) if x.size else x


def _of_scores(mask, shape):
    """A mask's strides for batch, head, row and column of scores of this shape, 0 where it is
    repeated."""
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
    """What attention is asked for."""

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
        """Of queries."""
        return self.shape[-3] if len(self.shape) > 2 else 1

    @property
    def group(self):
        """Heads of queries that share one of keys."""
        return self.heads // (self.k.shape[-3] if self.k.ndim > 2 else 1)

    @property
    def keys(self):
        return self.k.shape[-2]

    @property
    def element(self):
        """The type of all arrays in CUDA."""
        if self.q.dtype == np.uint16:
            return tensor.KINDS["bfloat16"].element
        return sources.C_NAMES[self.q.dtype.name]

    @property
    def places(self):
        """The strides of q, k, v and the mask."""
        steps = [step for x in (self.q, self.k, self.v) for step in _merged(x)]
        scores = *self.q.shape[:-1], self.keys
        return [*steps, *((0,) * 4 if self.mask is None else _of_scores(self.mask, scores))]

    def head(self, by_tensor_cores):
        """The size of heads that a kernel is made for."""
        size = max(self.q.shape[-1], self.shape[-1])
        return next(s for s in TILES if size <= s and (by_tensor_cores or s % 64 == 0))

    def pack(self):
        """Floats to a load."""
        places = [x.shape[-1] for x in (self.q, self.k, self.v)] + self.places[:9]
        aligned = not any(address(x) % 16 for x in (self.q, self.k, self.v))
        return 4 if aligned and not any(place % 4 for place in places) else 1

    def fits_maps(self):
        """Whether q, k and v are boxes' arrays: forwards, and nothing is repeated."""
        return all(
            step > 0
            for x in (self.q, self.k, self.v)
            for size, step in zip(x.shape, x.strides)
            if size > 1
        )

    def words(self, units=1):
        """A Problem of problem.cuh."""
        *outer, queries, size = self.shape
        nbytes = self.keys * (self.q.shape[-1] + size) * self.q.dtype.itemsize
        together = max(1, min(units, TOGETHER_BYTES // max(nbytes, 1)))
        diagonal = self.keys - queries if self.side == "lower_right" else 0
        sizes = queries, self.keys, self.q.shape[-1], size, self.heads, self.group
        return np.array([*sizes, units, together, diagonal, *self.places], np.int64)

    def choices(self):
        """What all kernels are told."""
        told = {"T": self.element, "CAUSAL": int(self.side is not None)}
        if self.mask is None:
            return told | {"MASKED": 0}
        same = self.mask.dtype == self.q.dtype
        return told | {
            "MASKED": 1,
            "Mask": self.element if same else sources.C_NAMES[self.mask.dtype.name],
        }


class _Forward:
    """What queues an attention: call(arrays, workspace, stream) -> its result and logarithms."""

    def __init__(self, asked):
        *outer, queries, size = asked.shape
        self.form = Form(asked.shape, asked.q.dtype)
        self.logs = Form((*outer, queries), np.float32)
        self.rows = prod(outer) * queries
        self.launch = None
        if not self.rows * size:
            return
        self.launch = self._by_groups(asked)
        self.by_groups, self.splits = bool(self.launch), 1
        if self.by_groups:
            return
        group = asked.group
        fold = group if group > 1 and group * queries <= MOST_FOLDED else 1
        lines, units = queries * fold, prod(outer) // fold
        tile = self._tile(asked, lines, units)
        blocks = ceil_divide(lines, tile.rows) * units
        least = LEAST_SHARE * min(2, ceil_divide(lines, 16))
        self.splits = self._splits(blocks, tile, ceil_divide(asked.keys, least))
        file, choices, block, shared = self._kernel(asked, tile)
        choices["Out"] = asked.element if self.splits == 1 else "float"
        self.launch = KernelCall(
            file, choices | {"FOLD": fold}, (blocks, self.splits), (block,),
            asked.words(units), np.float32(asked.scale), shared=shared,
        )  # fmt: skip
        if self.splits > 1:
            sizes = self.rows, size, self.splits
            told = {"Out": asked.element}
            self.merge = KernelCall("attention/merge.cu", told, (self.rows,), (64,), *sizes)

    @staticmethod
    def _by_groups(asked):
        """What queues it where warpgroups make it."""
        *outer, queries, size = asked.shape
        plain = asked.mask is None and asked.scale > 0 and queries > MOST_FOLDED and asked.keys
        if not (plain and hopper.has_kind(asked.kind) and asked.fits_maps()):
            return None
        head = next(n for n in GROUP_TILES if max(asked.q.shape[-1], size) <= n)
        tile, units = GROUP_TILES[head], prod(outer)
        tiles = ceil_divide(queries, tile.rows) * units
        if tiles < LEAST_BUSY * multiprocessors():
            return None
        pack = next(pack for pack in (8, 4, 2, 1) if size % pack == 0)
        choices = {"T": asked.element, "CAUSAL": int(asked.side is not None), "HEAD": head,
                   "C_PACK": pack}  # fmt: skip

        def maps(*places):
            lines = tile.rows, tile.keys, tile.keys
            for x, place, high in zip((asked.q, asked.k, asked.v), places, lines):
                yield _map_of_heads(x, place, high)

        return hopper.BoxCall(
            maps, "attention/hopper.cu", choices | tile.choices,
            (min(tiles, multiprocessors()),), (tile.threads,), asked.words(units),
            np.float32(asked.scale), np.int32(tiles), shared=tile.shared_bytes(head),
        )  # fmt: skip

    @staticmethod
    def _tile(asked, lines, units):
        if asked.kind is None:
            return IN_FLOATS[16 if lines <= 16 else 64]
        many, fewer, one = TILES[asked.head(True)]
        if lines <= 16:
            return one
        return many if ceil_divide(lines, many.rows) * units >= multiprocessors() else fewer

    @staticmethod
    def _splits(blocks, tile, shares):
        most = multiprocessors() * tile.blocks // blocks
        return max(1, min(most, shares, MOST_SPLITS))

    @staticmethod
    def _kernel(asked, tile):
        """The file, its choices, threads of a block, and bytes of shared memory."""
        head = asked.head(asked.kind)
        choices = asked.choices() | {"HEAD": head, "KEYS": tile.keys}
        if asked.kind:
            scored = int(asked.mask is not None or asked.scale <= 0)
            choices |= tile.choices | {"SCORED": scored}
            return "attention/tensor.cu", choices, 32 * tile.warps, tile.shared_bytes(head)
        floats = (tile.rows + tile.keys) * (head + 4) + tile.rows * (tile.keys + 4)
        choices |= {"ROWS": tile.rows, "PACK": asked.pack()}
        return "attention/running.cu", choices, 256, 4 * floats

    def __call__(self, arrays, room, stream):
        out, logs = (form.new(arrays[0], room) for form in (self.form, self.logs))
        if self.launch is None:
            return out, logs
        q, k, v, *mask = map(address, arrays)
        made, sums = address(out), address(logs)
        if self.splits > 1:
            each = 4 * self.splits * self.rows
            made, _ = room.scratch(each * (out.shape[-1] + 1), 0)
            sums = made + each * out.shape[-1]
        if self.by_groups:
            _, drawn = room.scratch(0, 1)
            self.launch(stream, (q, k, v, made), after=(sums, drawn))
        else:
            self.launch(stream, (q, k, v), after=(made, sums, *(mask or [0])))
        if self.splits > 1:
            self.merge(stream, (made, sums, address(out)), after=(address(logs),))
        return out, logs


class _Backward:
    """What queues the gradients: call(arrays, given, workspace, stream) -> those by q, k and v;
    given: the gradient by the result, the result, and its logarithms."""

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
        """Whether warpgroups make them."""
        sizes = asked.q.shape[-1], asked.shape[-1]
        fits = asked.mask is None and max(sizes) <= max(GRADIENT_STAGES) and asked.keys
        fits = fits and not sizes[1] % 8 and prod(asked.shape)  # lines of the gradient, too
        return fits and hopper.has_kind(asked.kind) and asked.fits_maps()

    @staticmethod
    def _by_groups(asked, of_keys, x):
        """What queues attention/hopper_gradient.cu."""
        size, value_size = asked.q.shape[-1], asked.shape[-1]
        head = next(n for n in GRADIENT_STAGES if max(size, value_size) <= n)
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

        shared = (2 * rows + stages * lines) * 2 * head * 2
        return hopper.BoxCall(
            maps, "attention/hopper_gradient.cu", choices, (min(tiles, multiprocessors()),),
            (3 * hopper.GROUP,), asked.words(units), np.float32(asked.scale), np.int32(tiles),
            shared=shared,
        )  # fmt: skip

    @staticmethod
    def _in_floats(asked, of_keys, x):
        """What queues attention/gradient.cu; None: nothing is to be made."""
        head = asked.head(False)
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
