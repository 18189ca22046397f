"""Matrix products, by the kernels of cuda_src/gemm."""

from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from .. import sources
from . import hopper, tensor
from .arrays import check, element_strides, signature
from .elementwise import FLOATS, contiguous
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
from .reduce import WIDE, folding

__all__ = ["matmul"]

MOST_BATCHES = 65535  # of a grid
WAVES = 4  # blocks for each multiprocessor, where there are splits
LEAST_SHARE = 128  # elements along k per split, for splitting to pay
BY_WARPS = {"ROWS": 256, "COLUMNS": 128, "DEEP": 16}  # the tile of gemm/warps.cu
FULL, WASTE = 0.75, 1.05  # for these to pay: multiprocessors with a block, and what is past edges
FLOATS8 = "e4m3", "e5m2"
DTYPES = None, "bfloat16", "tf32", *FLOATS8
RESULTS = None, "float16", "bfloat16", "float32"  # of 8-bit floats
UNSCALED = None, None

prepared = Kept()


def matmul(a, b, stream=None, dtype=None, scales=None, result=None):
    """Multiply matrices, a[..., m, k] times b[..., k, n]: pair by pair, or one matrix of either
    with each of the other. Transposed views are read in place.

    float16 and int8, whose products are int32, use tensor cores if the GPU has them. dtype:
    "bfloat16" takes uint16 arrays that hold the bits of bfloat16 numbers, which NumPy lacks; "tf32"
    multiplies float32 by tensor cores, which read 10 bits of each fraction and drop the other 13,
    so some 3 decimal digits are left; "e4m3" and "e5m2" take uint8 arrays that hold the bits of
    8-bit floats, from helpers.float8.

    For 8-bit floats only: `scales`, two arrays of one float32 each, or None for 1, multiply a
    and b; `result` is "float16" (the default), "bfloat16" (as uint16) or "float32". An operand
    whose contiguous dimension is not k (rows of a, columns of b) is copied first."""
    if scales is not None or result is not None:
        _check_told(dtype, scales, result)
    key = context(), signature(a), signature(b), dtype, result
    call = prepared.get(key)
    if call is None:
        kind, shape = _kind(a, b, dtype), _shape(a, b)
        kind = kind.giving(result) if result else kind
        (of_a, *a_way), (of_b, *b_way) = (
            _laid_out(x, is_a, kind, stream) for x, is_a in ((a, True), (b, False))
        )
        if of_a is not a or of_b is not b:
            return matmul(of_a, of_b, stream, dtype, scales, result)
        call = prepared[key] = prepare(a, b, shape, kind, (*a_way, *b_way))
    return call(a, b, workspace(stream), stream, scales or UNSCALED)


def _check_told(dtype, scales, result):
    """Check the arguments that only 8-bit floats take."""
    if dtype not in FLOATS8:
        raise ValueError(f"matmul: scales and result are for dtype {' and '.join(FLOATS8)}")
    if result not in RESULTS:
        raise ValueError(f"matmul: result {result!r}; expected one of {', '.join(RESULTS[1:])}")
    if scales is not None and len(scales) != 2:
        raise ValueError(f"matmul: {len(scales)} scales; expected one for a and one for b")
    for name, scale in zip("ab", scales or ()):
        if scale is None:
            continue
        check(scale, ["float32"], f"matmul: {name}'s scale")
        if scale.size != 1:
            raise ValueError(f"matmul: {name}'s scale has shape {scale.shape}; expected one number")


def _kind(a, b, dtype):
    """Check types; return the tensor.Kind of the product; None: no tensor cores for it."""
    if dtype not in DTYPES:
        raise ValueError(f"matmul: dtype {dtype!r}; expected None, {', '.join(DTYPES[1:])}")
    types = [tensor.KINDS[dtype].array] if dtype else (*FLOATS, "int8")
    for name, x in ("a", a), ("b", b):
        check(x, types, f"matmul: {name}")
        if x.ndim < 2:
            raise ValueError(f"matmul: {name} has shape {x.shape}: expected at least a row and a"
                             " column; .reshape(1, -1) makes a vector a row")  # fmt: skip
    if a.dtype != b.dtype:
        raise TypeError(f"matmul of {a.dtype} and {b.dtype}: both must have one type")
    name = dtype or a.dtype.name
    if tensor.are_here(cuda.Context.get_device()):
        return tensor.KINDS.get(name)
    if name not in FLOATS:
        raise TypeError(
            f"matmul of {name}: this GPU has no tensor cores for it; convert to float32"
        )
    return None


def _shape(a, b):
    """Return the product's shape."""
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"matmul of {a.shape} and {b.shape}: rows of a have {a.shape[-1]} elements"
                         f", columns of b {b.shape[-2]}")  # fmt: skip
    batches = [x.shape[:-2] for x in (a, b) if x.ndim > 2]
    if len(set(batches)) > 1:
        raise ValueError(f"matmul of {a.shape} and {b.shape}: as many matrices of each are needed,"
                         " in equal shapes, or a single one of either")  # fmt: skip
    return (*(batches[0] if batches else ()), a.shape[-2], b.shape[-1])


@dataclass(frozen=True)
class Matrices:
    """The layout of an array's matrices: the stride between matrices, the stride between lines,
    and whether rows (rather than columns) are the contiguous lines."""

    batch: int
    line: int
    by_rows: bool


def _ways(x):
    """Yield the possible layouts of an array's matrices: by rows, by columns, both or neither."""
    *outer, rows, columns = element_strides(x)
    batch = outer[-1] if outer else 0
    for size, inner, step in zip(x.shape[1:-2], outer[1:], outer):
        if step != size * inner:
            return
    if columns == 1 or x.shape[-1] == 1:
        yield Matrices(batch, rows, True)
    if rows == 1 or x.shape[-2] == 1:
        yield Matrices(batch, columns, False)


def _laid_out(x, of_a, kind, stream):
    """Return x, or a copy in a layout that kernels of this kind take, and that layout."""
    ways = list(_ways(x))
    if kind is None:
        return (x, ways[0]) if ways else _laid_out(contiguous(x, stream), of_a, kind, stream)
    if not kind.is_either_way:
        ways = [way for way in ways if way.by_rows == of_a]
    for way in ways:
        steps = way.line * x.dtype.itemsize, way.batch * x.dtype.itemsize
        if not any(place % tensor.CHUNK for place in (*steps, address(x))):
            return x, way
    by_rows = ways[0].by_rows if ways else of_a
    return _laid_out(tensor.padded(x, by_rows, stream), of_a, kind, stream)


def most_packed(wide):
    """Return the elements per load: 16 bytes' worth, once widened."""
    return 16 // np.dtype(wide).itemsize


def pack_of(most, itemsize, place, *sizes):
    """Return the elements per access: `most` if these sizes and the array's address allow it,
    else one, so that few kernels are compiled."""
    fits = not any(size % most for size in sizes) and not place % (most * itemsize)
    return most if fits else 1


@dataclass(frozen=True)
class Tiling:
    """How blocks divide a product: the tile's size, its depth, and the number of splits along k."""

    rows: int
    columns: int
    deep: int
    tiles: int
    splits: int

    @classmethod
    def of(cls, m, n, k, wide, batch=1):
        """Choose large tiles, which need the fewest loads; if that gives too few blocks, split
        along k."""
        rows, columns = (128 if size > 64 else 64 for size in (m, n))
        tiles = ceil_divide(m, rows) * ceil_divide(n, columns)
        blocks, splits = tiles * batch, 1
        if blocks < multiprocessors():
            splits = max(1, min(WAVES * multiprocessors() // blocks, k // LEAST_SHARE))
        deep = 16 if min(rows, columns) == 64 and np.dtype(wide).itemsize == 4 else 8
        return cls(rows, columns, deep, tiles, splits)

    @property
    def choices(self):
        return {"ROWS": self.rows, "COLUMNS": self.columns, "DEEP": self.deep}


class Parts:
    """A result computed in `splits` parts that are then added: [outer, splits, inner] in the
    accumulator type. narrow: a single part may have the result's type; made: its CUDA type, if
    NumPy has no name for it."""

    def __init__(self, outer, splits, inner, form, wide, narrow=True, made=None):
        self.form, self.made = form, made or form.attributes["dtype"]
        self.whole = splits == 1 and (narrow or form.attributes["dtype"] == wide)
        if not self.whole:
            self.parts = Form((outer, splits, inner), wide)
            sizes = outer, splits, inner
            self.sum = folding("Sum", sizes, np.dtype(wide), wide, form, (), self.made)

    @property
    def dtype(self):
        """Return the type that the launches write."""
        return (self.form if self.whole else self.parts).attributes["dtype"]

    @property
    def c_type(self):
        """Return the CUDA type that the launches write."""
        return self.made if self.whole else sources.C_NAMES[self.dtype.name]

    def new(self, like, room):
        """Create the array that the launches write."""
        return (self.form if self.whole else self.parts).new(like, room)

    def finish(self, made, room, stream):
        """Return the result, adding the parts if necessary."""
        return made if self.whole else self.sum(made, room, stream)


def _lying(ways):
    """Return the choices and the argument that describe the layouts of a and b."""
    of_a, of_b = ways
    choices = {"A_ALONG_K": int(of_a.by_rows), "B_ALONG_K": int(not of_b.by_rows)}
    return choices, np.array([of_a.line, of_b.line, of_a.batch, of_b.batch], np.int64)


def launch(tiling, sizes, batch, types, ways, places=(0, 0)):
    """Return the KernelCall of a product, for addresses of a, b and c. sizes: m, n, k; types: of
    a and b, of the sums, of c; ways: layouts of a and b; places: their addresses."""
    (m, n, k), (dtype, wide, out), (lie, strides) = sizes, types, _lying(ways)
    most = most_packed(wide)
    choices = lie | {"T": dtype, "Acc": wide, "Out": out, "C_PACK": pack_of(4, 1, 0, n)}
    packs = {}
    for name, way, shape, place in zip("AB", ways, ((m, k), (k, n)), places):
        lines = shape[way.by_rows], way.line, way.batch
        packs[f"{name}_PACK"] = pack_of(most, dtype.itemsize, place, *lines)
    told = m, n, k, strides
    tiles = ceil_divide(m, BY_WARPS["ROWS"]) * ceil_divide(n, BY_WARPS["COLUMNS"])
    pays = tiles * batch >= FULL * multiprocessors() and 2 * tiles <= WASTE * tiling.tiles
    if dtype == "float32" and set(packs.values()) == {most} and tiling.splits == 1 and pays:
        shared = 2 * BY_WARPS["DEEP"] * (BY_WARPS["ROWS"] + BY_WARPS["COLUMNS"] + 8) * 4
        return KernelCall("gemm/warps.cu", choices, (tiles, 1, batch), (256,), *told, shared=shared)
    grid = tiling.tiles, tiling.splits, batch
    return KernelCall("gemm/packed.cu", choices | tiling.choices | packs, grid, (256,), *told)


def prepare(a, b, shape, kind, ways, form=None):
    """Prepare a product: call(a, b, workspace, stream) -> array, perhaps of another form. ways:
    the layouts of a and b, of which only shapes and types are used."""
    *batches, m, n = shape
    sizes, batch = (m, n, a.shape[-1]), prod(batches)
    form = form or Form(shape, kind.result if kind else a.dtype)
    if not prod(shape):
        return lambda a, b, room, stream, scales=UNSCALED: form.new(a, room)
    if kind:
        way, tiling = tensor.launch, tensor.Tiling.of(*sizes, kind, ways[0].by_rows, batch)
        if hopper.fits(kind, sizes, batch, ways):
            tiling = hopper.quicker(tiling, hopper.Tiling.of(*sizes, kind, batch))
            way = hopper.launch if isinstance(tiling, hopper.Tiling) else way
        parts = Parts(batch, tiling.splits, m * n, form, kind.sum, made=kind.made)
        make = partial(way, tiling, sizes, kind=kind, out=parts.c_type, lying=_lying(ways))
    else:
        wide = WIDE[a.dtype.name]
        tiling = Tiling.of(*sizes, wide, batch)
        parts = Parts(batch, tiling.splits, m * n, form, wide)
        types, places = (a.dtype, wide, parts.dtype), (address(a), address(b))
        make = partial(launch, tiling, sizes, types=types, ways=ways, places=places)
    steps = [way.batch * a.dtype.itemsize for way in ways]
    steps.append(tiling.splits * m * n * parts.dtype.itemsize)
    launches = []
    for start in range(0, batch, MOST_BATCHES):
        one = make(min(batch - start, MOST_BATCHES))
        launches.append((one, [start * step for step in steps]))

    def call(a, b, room, stream, scales=UNSCALED):
        made, after = parts.new(a, room), []
        if kind and kind.is_float8:
            after = [0 if scale is None else address(scale) for scale in scales]
        for one, offsets in launches:
            addresses = (address(x) + offset for x, offset in zip((a, b, made), offsets))
            one(stream, tuple(addresses), after)
        return parts.finish(made, room, stream)

    return call
