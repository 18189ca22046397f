"""Attention, by the kernels of cuda_src/attention."""

from dataclasses import dataclass
from math import isfinite, prod

import numpy as np

from .. import sources
from . import tensor
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

__all__ = ["attention"]

CAUSAL = {False: None, True: "upper_left", "upper_left": "upper_left", "lower_right": "lower_right"}
LARGEST_HEAD = 256
MOST_FOLDED = 16  # heads that share keys, in the rows of one tile
TOGETHER_BYTES = 1 << 24  # of keys and values, which stay in L2
LEAST_SHARE = 256  # keys, for a split to pay
MOST_SPLITS = 128

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


TILES = {  # by the size of heads: for many rows, for fewer, and for those of one warp
    32: (Tile(2, 4, 64, 1, 2), Tile(1, 4, 64, 1, 3), Tile(1, 1, 64, 1, 8)),
    64: (Tile(2, 4, 64, 1, 2), Tile(1, 4, 64, 1, 3), Tile(1, 1, 64, 1, 8)),
    96: (Tile(2, 4, 64, 0, 2), Tile(1, 4, 64, 1, 3), Tile(1, 1, 64, 1, 5)),
    128: (Tile(2, 4, 64, 0, 2), Tile(1, 4, 64, 1, 3), Tile(1, 1, 64, 1, 5)),
    192: (Tile(1, 8, 64, 0, 1), Tile(1, 4, 64, 0, 2), Tile(1, 1, 32, 0, 5)),
    256: (Tile(1, 8, 64, 0, 1), Tile(1, 4, 64, 0, 2), Tile(1, 1, 32, 0, 5)),
}
IN_FLOATS = {rows: Tile(1, rows // 16, 64, 0, 1) for rows in (16, 64)}


def attention(q, k, v, causal=False, scale=None, mask=None, stream=None, dtype=None):
    """softmax(scale * q kᵀ + mask) v of each head: q[..., heads, queries, size],
    k[..., kv_heads, keys, size], v[..., kv_heads, keys, value_size]; kv_heads divides heads, and
    neighbouring heads of queries share one. Leading dimensions are equal; sizes are 256 at most.

    scale: 1 / sqrt(size) if None. causal: a query sees only keys up to its own place, counted from
    the first ("upper_left", as PyTorch's is_causal and True) or from the last ("lower_right").
    mask: added to scores, of q's type or float32, or bool, True where a key is seen; broadcast.
    A row that sees nothing is 0. Keys that causal hides are not looked at, so a NaN among them
    need not show. dtype="bfloat16" takes arrays of uint16 for the bits of such numbers.

    float16 and bfloat16 are multiplied by tensor cores where the GPU has them; probabilities are
    rounded to the type of v."""
    return _attend(q, k, v, causal, scale, mask, stream, dtype)[0]


def _attend(q, k, v, causal, scale, mask, stream, dtype):
    """The result of attention, and the logarithms of its rows' sums."""
    arrays, side = (q, k, v, *([] if mask is None else [mask])), _side(causal)
    key = context(), *map(signature, arrays), side, scale, dtype
    call = prepared.get(key)
    if call is None:
        kind = _kind(q, k, v, dtype)
        shape = _shape(q, k, v)
        if mask is not None:
            _check_mask(mask, q, (*q.shape[:-1], k.shape[-2]))
        lain = [_laid_out(x, kind, stream) for x in (q, k, v)]
        lain.append(None if mask is None else _stepping(mask, len(q.shape), stream))
        if any(new is not old for new, old in zip(lain, (q, k, v, mask))):
            q, k, v, mask = lain
            return _attend(q, k, v, causal, scale, mask, stream, dtype)
        scale = q.shape[-1] ** -0.5 if scale is None else float(scale)
        if not isfinite(scale):
            raise ValueError(f"attention: scale is {scale}: expected a finite number")
        call = prepared[key] = _Prepared(q, k, v, mask, shape, side, scale, kind)
    return call(arrays, workspace(stream), stream)


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
        raise ValueError(f"{shapes}: k and v must have equal shapes but for the last dimension")
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
    """A mask has a type that q goes with, and a shape that broadcasts to that of the scores."""
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


def _stepping(mask, ndim, stream):
    """A mask, or a copy of it whose batches' dimensions have one stride."""
    whole = _of_scores(mask, ndim)
    return mask if whole is not None else contiguous(mask, stream)


def _of_scores(mask, ndim):
    """A mask's strides for batch, head, row and column, 0 where it is repeated; None: they lie
    otherwise."""
    sizes = (1,) * (ndim - mask.ndim) + mask.shape
    strides = (0,) * (ndim - mask.ndim) + element_strides(mask)
    strides = [0 if size == 1 else step for size, step in zip(sizes, strides)]
    outer = list(zip(sizes[:-3], strides[:-3]))
    for (_, step), (size, inner) in zip(outer, outer[1:]):
        if step != size * inner:
            return None
    return (outer[-1][1] if outer else 0), (strides[-3] if ndim > 2 else 0), *strides[-2:]


class _Prepared:
    """What queues an attention: call(arrays, workspace, stream) -> its result and logarithms."""

    def __init__(self, q, k, v, mask, shape, side, scale, kind):
        *outer, queries, size = shape
        self.form = Form(shape, q.dtype)
        self.logs = Form((*outer, queries), np.float32)
        self.rows, keys = prod(outer) * queries, k.shape[-2]
        self.launch = None
        if not self.rows * size:
            return
        heads = outer[-1] if outer else 1
        group = heads // (k.shape[-3] if k.ndim > 2 else 1)
        fold = group if group > 1 and group * queries <= MOST_FOLDED else 1
        lines, units = queries * fold, prod(outer) // fold
        head = next(s for s in TILES if max(q.shape[-1], size) <= s and (kind or s % 64 == 0))
        tile = self._tile(head, lines, units, kind)
        blocks = ceil_divide(lines, tile.rows) * units
        self.splits = self._splits(blocks, tile, keys)
        nbytes = keys * (q.shape[-1] + size) * q.dtype.itemsize
        together = max(1, min(units, TOGETHER_BYTES // max(nbytes, 1)))
        diagonal = keys - queries if side == "lower_right" else 0
        steps = [*_merged(q), *_merged(k), *_merged(v)]
        steps += (0,) * 4 if mask is None else _of_scores(mask, q.ndim)
        words = queries, keys, q.shape[-1], size, heads, group, units, together, diagonal, *steps
        made = kind.element if kind else sources.C_NAMES[q.dtype.name]
        choices = {"T": made, "Out": made if self.splits == 1 else "float", "HEAD": head}
        choices |= {"CAUSAL": int(side is not None), "MASKED": int(mask is not None), "FOLD": fold}
        if mask is not None:
            same = kind and mask.dtype == q.dtype
            choices["Mask"] = kind.element if same else sources.C_NAMES[mask.dtype.name]
        self.launch = self._call(tile, head, choices, (q, k, v), steps, kind, scale, mask)(
            (blocks, self.splits), np.array(words, np.int64), np.float32(scale)
        )
        if self.splits > 1:
            sizes = self.rows, size, self.splits
            self.merge = KernelCall(
                "attention/merge.cu", {"Out": made}, (self.rows,), (64,), *sizes
            )

    @staticmethod
    def _tile(head, lines, units, kind):
        if kind is None:
            return IN_FLOATS[16 if lines <= 16 else 64]
        many, fewer, one = TILES[head]
        if lines <= 16:
            return one
        return many if ceil_divide(lines, many.rows) * units >= multiprocessors() else fewer

    @staticmethod
    def _splits(blocks, tile, keys):
        most = multiprocessors() * tile.blocks // blocks
        return max(1, min(most, ceil_divide(keys, LEAST_SHARE), MOST_SPLITS))

    @staticmethod
    def _call(tile, head, choices, arrays, steps, kind, scale, mask):
        """A function that makes the KernelCall of a grid, from its arguments."""
        if kind:
            choices = choices | tile.choices | {"SCORED": int(mask is not None or scale <= 0)}
            shared, block, file = tile.shared_bytes(head), 32 * tile.warps, "attention/tensor.cu"
        else:
            places = [x.shape[-1] for x in arrays] + steps[:9]
            aligned = not any(address(x) % 16 for x in arrays)
            pack = 4 if aligned and not any(place % 4 for place in places) else 1
            choices = choices | {"ROWS": tile.rows, "KEYS": tile.keys, "PACK": pack}
            shared = 4 * ((tile.rows + tile.keys) * (head + 4) + tile.rows * (tile.keys + 4))
            block, file = 256, "attention/running.cu"
        return lambda grid, *args: KernelCall(file, choices, grid, (block,), *args, shared=shared)

    def __call__(self, arrays, room, stream):
        out, logs = (form.new(arrays[0], room.pool) for form in (self.form, self.logs))
        if self.launch is None:
            return out, logs
        q, k, v, *mask = map(address, arrays)
        made, sums = address(out), address(logs)
        if self.splits > 1:
            each = 4 * self.splits * self.rows
            made, _ = room.scratch(each * (out.shape[-1] + 1), 0)
            sums = made + each * out.shape[-1]
        self.launch(stream, (q, k, v), after=(made, sums, *(mask or [0])))
        if self.splits > 1:
            self.merge(stream, (made, sums, address(out)), after=(address(logs),))
        return out, logs
