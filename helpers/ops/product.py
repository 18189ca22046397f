"""Matrix products, by the kernels of cuda_src/gemm."""

from dataclasses import dataclass, replace
from functools import partial
from math import hypot, prod

import numpy as np

from .. import sources
from . import hopper, tensor, thin, tuning
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
    most_shared,
    multiprocessors,
    workspace,
)
from .reduce import WIDE, folding
from .tuning import MOST_JOINED, blocks_us, caches, quickest, splits_to_try, sum_us

__all__ = ["copy_us", "matmul", "product_us", "whole"]

MOST_BATCHES = 65535  # of a grid
WAVES = 2  # at most, where there are splits
LEAST_SHARE = 128  # elements along k per split, for splitting to pay
COPY_US, COPY_BYTES_PER_US = 2.5, 3e6
SECTOR = 32  # bytes
BYTES_PER_US = 3.2e6  # that a product reads and writes
UNPACKED = 1.34  # times as long where elements are loaded one by one
FLOATS8 = "e4m3", "e5m2"
DTYPES = None, "bfloat16", "tf32", *FLOATS8
RESULTS = None, "float16", "bfloat16", "float32"  # of 8-bit floats
UNSCALED = None, None

prepared = Kept()
decisions = Kept()  # also of products whose operands are copied, which estimates would hold up
caches.append(prepared)


def matmul(a, b, stream=None, dtype=None, scales=None, result=None):
    """Multiply matrices, a[..., m, k] times b[..., k, n]: pair by pair, or one matrix of either
    with each of the other. Transposed views are read in place.

    float16 and int8, whose products are int32, use tensor cores if the GPU has them. dtype:
    "bfloat16" takes uint16 arrays that hold the bits of bfloat16 numbers, which NumPy lacks; "tf32"
    multiplies float32 by tensor cores, with 10 bits of each fraction, so some 3 decimal digits are
    left: warpgroups (compute capability 9.0) round to them, warps, which take lines that are not
    aligned, drop the other 13 bits, and small products may keep all; "e4m3"
    and "e5m2" take uint8 arrays that hold the bits of 8-bit floats, from helpers.float8.

    For 8-bit floats only: `scales`, two arrays of one float32 each, or None for 1, multiply a
    and b; `result` is "float16" (the default), "bfloat16" (as uint16) or "float32". An operand
    whose contiguous dimension is not k (rows of a, columns of b) is copied first."""
    if scales is not None or result is not None:
        _check_told(dtype, scales, result)
    key = context(), signature(a), signature(b), dtype, result
    call = prepared.get(key)
    if call is None:
        if key not in decisions:
            decisions[key] = _decided(a, b, dtype, result)
        kind, shape = decisions[key]
        ways = [_way(a, True, kind), _way(b, False, kind)]
        if None in ways and a.size * b.size:
            of_a, of_b = _laid_out((a, b), ways, kind, stream)
            return matmul(of_a, of_b, stream, dtype, scales, result)
        told = zip((a, b), (True, False), ways)
        ways = [way or _padded(x, is_a, kind) for x, is_a, way in told]
        call = prepared[key] = prepare(a, b, shape, kind, ways)
    return call(a, b, workspace(stream), stream, scales or UNSCALED)


def _decided(a, b, dtype, result):
    """Check the arrays; return the Kind of the product (None: no tensor cores), and its shape."""
    kind, shape = _kind(a, b, dtype), _shape(a, b)
    kind = _by_warpgroups(a, b, shape, kind.giving(result) if result else kind)
    return _without_copies(a, b, shape, kind), shape


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


def _way(x, of_a, kind):
    """Return the layout in which kernels of this kind take x as it is; None: there is none."""
    ways, size = list(_ways(x)), x.dtype.itemsize
    if kind is None:
        return ways[0] if ways else None
    for way in ways:
        if kind.takes(way, of_a) and not any(
            n % kind.piece for n in (way.line * size, way.batch * size, address(x))
        ):
            return way
    return None


def _laid_out(operands, ways, kind, stream):
    """Return a and b, or copies in layouts that kernels of this kind take."""
    found, together = list(operands), []
    for place, (x, way) in enumerate(zip(operands, ways)):
        if way:
            continue
        if not kind:
            found[place] = contiguous(x, stream)
            continue
        by_rows = _padded(x, not place, kind).by_rows
        if lines := _even_lines(x, by_rows):
            together.append((place, x, lines, by_rows))
        else:
            found[place] = tensor.padded(x, by_rows, stream)
    if together:
        places, wanted, lines, by_rows = zip(*together)
        for place, copy in zip(places, tensor.padded_together(wanted, lines, by_rows, stream)):
            found[place] = copy
    return found


def _even_lines(x, by_rows):
    """Return the tensor.Lines of an array of 2 or 4 bytes whose lines follow each other evenly."""
    across, along = x.shape[-2:] if by_rows else x.shape[:-3:-1]
    ways = [way for way in _ways(x) if way.by_rows == by_rows]
    if x.dtype.itemsize > 1 and ways and ways[0].line >= along:
        if x.ndim == 2 or ways[0].batch == across * ways[0].line:
            return tensor.Lines(x.size // along, ways[0].line, along)
    return None


def _padded(x, of_a, kind):
    """Return the layout of a copy in padded lines."""
    lines = [way for way in _ways(x) if not kind or kind.takes(way, of_a)]
    by_rows = lines[0].by_rows if lines else of_a
    rows, columns = x.shape[-2:]
    line = tensor.padded_to(columns if by_rows else rows, x.dtype.itemsize)
    return Matrices(line * (rows if by_rows else columns) if x.ndim > 2 else 0, line, by_rows)


def copy_us(nbytes):
    """Return the estimated time to copy so many bytes."""
    return COPY_US + 2 * nbytes / COPY_BYTES_PER_US


def _without_copies(a, b, shape, kind):
    """Return kind, or one that takes operands as they lie, in smaller pieces or without tensor
    cores (None), if copies of them would take longer than that."""
    if not kind or kind.is_float8 or not a.size * b.size:
        return kind
    operands = (a, True), (b, False)
    ways = [_way(x, is_a, kind) for x, is_a in operands]
    if None not in ways:
        return kind
    *batches, m, n = shape
    told = (m, n, a.shape[-1]), prod(batches)
    laid_out = [way or _padded(*operand, kind) for way, operand in zip(ways, operands)]
    copied = copy_us(sum(x.nbytes for x, way in zip((a, b), ways) if way is None))
    least = copied + min(way.us for way in _tilings(*told, kind, a.dtype, laid_out, (0, 0)))
    kinds = [replace(kind, piece=piece, b_either_way=False) for piece in (8, 4)]
    for other in (*kinds, None) if kind.array == a.dtype.name in FLOATS else kinds:
        ways = [_way(x, is_a, other) for x, is_a in operands]
        if None in ways:
            continue
        tilings = _tilings(*told, other, a.dtype, ways, (address(a), address(b)))
        if (us := min(way.us for way in tilings)) < least:
            kind, least = other, us
    return kind


def _by_warpgroups(a, b, shape, kind):
    """Return kind, or one that takes b as it lies, if warpgroups multiply floats."""
    if kind is not tensor.KINDS["tf32"] or _way(b, False, kind):
        return kind
    *batches, m, n = shape
    kind_of_b = replace(kind, b_either_way=True)
    ways = [way for x, is_a in ((a, True), (b, False)) if (way := _way(x, is_a, kind_of_b))]
    return kind_of_b if hopper.fits(kind, (m, n, a.shape[-1]), prod(batches), ways) else kind


def most_packed(wide):
    """Return the elements per load: 16 bytes' worth, once widened."""
    return 16 // np.dtype(wide).itemsize


def pack_of(most, itemsize, place, *sizes):
    """Return the elements per access: `most` if these sizes and the array's address allow it,
    else one, so that few kernels are compiled."""
    fits = not any(size % most for size in sizes) and not place % (most * itemsize)
    return most if fits else 1


@dataclass(frozen=True)
class Tile:
    """A block's tile of a product without tensor cores, and a warp's part of it, if tiles come in
    stages. The times are an H200's with floats, for 8 elements along k: as of tensor.Tile;
    singly_us: what a block takes longer if all is copied float by float."""

    rows: int
    columns: int
    deep: int
    blocks: int
    alone_us: float
    each_us: float
    rest_us: float
    warp: tuple = ()
    singly_us: float = 0.0

    @property
    def threads(self):
        return 32 * self.rows * self.columns // prod(self.warp) if self.warp else 256

    @property
    def keeps(self):
        """Whether lines along k stay so in shared memory, if four elements are copied at once: a
        thread holds four steps of them, for which larger tiles lack registers."""
        return 0 < prod(self.warp) <= MOST_KEPT

    def copied_singly(self, along_k, pack):
        """Whether an operand is copied element by element."""
        return pack == 1 or along_k and not self.keeps

    def stages(self, singly=False):
        """Return how many tiles have room: as many as fit if the tile is small, so that blocks that
        are few wait less for memory. singly: whether all is copied element by element, for which
        the L1 cache needs room."""
        if singly or not self.keeps:
            return LEAST_STAGES
        room = most_shared() // self.blocks - RESERVED_BYTES
        return max(LEAST_STAGES, min(MOST_STAGES, room // self.stage_bytes))

    @property
    def stage_bytes(self):
        return 4 * self.deep * (self.rows + self.columns + 8)

    def shared_bytes(self, joined, singly=False):
        """Return the shared memory for stages, which is also that for the sums that a cluster
        adds."""
        stages = self.stages(singly) * self.stage_bytes
        return max(stages, 4 * self.rows * self.columns * joined)


TILES = (
    Tile(128, 128, 8, 2, 0.91, 0.78, 1.5),
    Tile(128, 64, 16, 2, 0.54, 0.43, 0.3),
    Tile(64, 128, 16, 2, 0.57, 0.46, 0.3),
    Tile(64, 64, 16, 2, 0.31, 0.26, 0.25),
    Tile(32, 256, 16, 2, 0.72, 0.51, 0.3),
    Tile(16, 256, 16, 2, 0.47, 0.34, 0.6),
)
STAGED = (  # of gemm/staged.cu
    Tile(256, 128, 16, 1, 1.25, 1.25, 4.8, (64, 64), 0.17),
    Tile(128, 128, 16, 2, 1.05, 0.584, 1.4, (32, 64), 0.18),
    Tile(128, 64, 16, 3, 0.66, 0.45, 0.6, (32, 64), 0.08),
    Tile(64, 128, 16, 3, 0.79, 0.306, 1.6, (32, 64), 0.11),
    Tile(64, 64, 16, 4, 0.24, 0.197, 2.2, (32, 32), 0.026),
    Tile(32, 128, 16, 4, 0.49, 0.21, 0.36, (32, 32), 0.055),
    Tile(32, 64, 16, 6, 0.48, 0.133, 0.8, (32, 32), 0.034),
    Tile(32, 32, 16, 8, 0.16, 0.101, 1.3, (16, 32), 0.013),
    Tile(16, 256, 16, 2, 0.40, 0.38, 0.6, (16, 32), 0.1),
    Tile(16, 128, 16, 4, 0.25, 0.16, 0.34, (16, 32), 0.055),
)
DEEP = 8
LEAST_STAGES, MOST_STAGES, RESERVED_BYTES = 3, 6, 1024  # of shared memory, for each block
MOST_KEPT = 32 * 32  # elements of a warp's part of a tile
JOINED_US, JOINED_TILE_US = 0.3, 5e-4  # until a cluster has added splits, and of each element
ROOMY, CROWDED = {2: 0.95, 3: 0.87}, 0.38  # of the room for blocks that clusters of so many fill
EVEN, UNEVEN = {2: 1, 3: 0.87}, 0.75  # of the multiprocessors that they fill alike
GATHER_US = 0.0017  # of a column whose elements are found in a list, for 8 elements along k
BROAD = 1.2  # times as long: tiles of more than 128 such columns


def has_clusters():
    """Whether this GPU's blocks may be clusters."""
    return cuda.Context.get_device().compute_capability() >= (9, 0)


class Tiling(tuning.Tiling):
    """How blocks divide a product without tensor cores."""

    @property
    def parts(self):
        """Return how many results a further launch must add."""
        return 1 if self.joined else self.splits

    @classmethod
    def ways(cls, m, n, k, wide, batch=1, staged=False, gathered=False, packed=True,
             loads=()):  # fmt: skip
        """Return all tilings. staged: whether tiles come in stages, whose splits clusters may add;
        gathered: whether each element of b has to be found; packed: whether several elements are
        loaded at once; loads: of a and b, whether lines are along k, and the elements of a load."""
        found, deep = [], ceil_divide(k, DEEP)
        for tile in STAGED if staged else TILES:
            more, broad = GATHER_US * tile.columns * gathered, gathered and tile.columns > 128
            sides = zip((tile.rows, tile.columns), loads)
            lines = sum(side for side, load in sides if tile.copied_singly(*load))
            more += tile.singly_us * lines / (tile.rows + tile.columns)
            times = 1 if packed else UNPACKED
            alone, each = (times * us + more for us in (tile.alone_us, tile.each_us))
            timed = replace(tile, alone_us=alone, each_us=each)
            tiles = ceil_divide(m, tile.rows) * ceil_divide(n, tile.columns)
            waves = WAVES * multiprocessors() * tile.blocks // (tiles * batch)
            for splits in splits_to_try(max(1, min(waves, k // LEAST_SHARE))):
                blocks = tiles * batch * splits
                room = multiprocessors() * tile.blocks * ROOMY.get(splits, CROWDED)
                joined = staged and has_clusters() and 1 < splits <= MOST_JOINED and blocks <= room
                joined &= tile.shared_bytes(True) <= most_shared()
                even = EVEN.get(splits, UNEVEN) if joined else 1
                us = blocks_us(int(blocks / even), ceil_divide(deep, splits), timed)
                added = JOINED_US + JOINED_TILE_US * tile.rows * tile.columns
                us += added if joined else sum_us(m * n * batch, splits)
                found.append(cls(tile, tiles, splits, us * (BROAD if broad else 1), joined))
        return found

    def choices(self, wide):
        """Return a kernel's choices, with sums of this type."""
        deep = self.tile.deep if np.dtype(wide).itemsize == 4 else DEEP
        return {"ROWS": self.tile.rows, "COLUMNS": self.tile.columns, "DEEP": deep}


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

    def made_by(self, launch):
        """Return call(a, b, workspace, stream) -> array, of a launch that writes the parts; or,
        if it also takes a bias, call(a, b, bias, workspace, stream)."""

        def call(a, b, *told):
            *bias, room, stream = told
            made, after = self.new(a, room), [0 if x is None else address(x) for x in bias]
            launch(stream, (address(a), address(b), address(made)), after)
            return self.finish(made, room, stream)

        return call


def _lying(ways):
    """Return the choices and the argument that describe the layouts of a and b."""
    of_a, of_b = ways
    choices = {"A_ALONG_K": int(of_a.by_rows), "B_ALONG_K": int(not of_b.by_rows)}
    return choices, np.array([of_a.line, of_b.line, of_a.batch, of_b.batch], np.int64)


def packs(sizes, types, ways, places=(0, 0)):
    """Return how many elements of a and of b kernels load at once."""
    (m, n, k), (dtype, wide, *_) = sizes, types
    most, found = most_packed(wide), []
    for way, shape, place in zip(ways, ((m, k), (k, n)), places):
        lines = shape[way.by_rows], way.line, way.batch
        found.append(pack_of(most, dtype.itemsize, place, *lines))
    return found


def launch(tiling, sizes, batch, types, ways, packs):
    """Return the KernelCall of a product, for addresses of a, b and c. sizes: m, n, k; types: of
    a and b, of the sums, of c; ways: layouts of a and b; packs: elements of each load."""
    (dtype, wide, out), (choices, strides), tile = types, _lying(ways), tiling.tile
    choices |= {"C_PACK": pack_of(4, 1, 0, sizes[1])}
    if tile.warp:
        choices |= {"ROWS": tile.rows, "COLUMNS": tile.columns, "BLOCKS": tile.blocks}
        choices |= dict(zip(("WARP_ROWS", "WARP_COLUMNS"), tile.warp))
        singly = [tile.copied_singly(choices[f"{name}_ALONG_K"], pack)
                  for name, pack in zip("AB", packs)]  # fmt: skip
        choices |= {f"{name}_PIECE": 4 if alone else 16 for name, alone in zip("AB", singly)}
        choices |= {"DEEP": tile.deep, "STAGES": tile.stages(all(singly))}
        file, shared = "gemm/staged.cu", tile.shared_bytes(tiling.joined, all(singly))
        if tiling.joined:
            file, choices = "gemm/joined.cu", choices | {"SPLITS": tiling.splits}
    else:
        file, shared = "gemm/packed.cu", 0
        choices |= {"T": dtype, "Acc": wide, "Out": out} | tiling.choices(wide)
        choices |= dict(zip(("A_PACK", "B_PACK"), packs))
    grid, block = (tiling.tiles, tiling.splits, batch), (tile.threads,)
    return KernelCall(file, choices, grid, block, *sizes, strides, shared=shared)


def prepare(a, b, shape, kind, ways, form=None):
    """Prepare a product: call(a, b, workspace, stream) -> array, perhaps of another form. ways:
    the layouts of a and b, of which only shapes and types are used."""
    *batches, m, n = shape
    sizes, batch = (m, n, a.shape[-1]), prod(batches)
    form = form or Form(shape, kind.result if kind else a.dtype)
    if not prod(shape):
        return lambda a, b, room, stream, scales=UNSCALED: form.new(a, room)
    problem = "matmul", kind.element if kind else a.dtype, *sizes, batch, *_lying(ways)[0].values()
    places = address(a), address(b)
    tilings = _tilings(sizes, batch, kind, a.dtype, ways, places)
    if kind:
        problem += kind.piece, *_touched(ways, a.dtype)
    else:
        problem += tuple(packs(sizes, (a.dtype, WIDE[a.dtype.name]), ways, places))
    problem += tuple(way.pack for way in tilings if isinstance(way, thin.Tiling))[:1]

    def made(tiling):
        if isinstance(tiling, thin.Tiling):
            return _thin(sizes, batch, kind, ways, form, a.dtype, places, tiling)
        if isinstance(tiling, Tiling):
            return _by_threads(sizes, batch, ways, form, a.dtype, places, tiling)
        return _by_tensor_cores(sizes, batch, kind, ways, form, a.dtype, tiling)

    return quickest(problem, tilings, made)


def whole(sizes, by_rows):
    """Return the layouts of the contiguous operands of a product of these sizes. by_rows: whether
    their rows are their lines."""
    m, n, k = sizes
    shapes = ((m, k), by_rows[0]), ((k, n), by_rows[1])
    return [Matrices(prod(shape), shape[rows], rows) for shape, rows in shapes]


def product_us(sizes, batch, kind, dtype, by_rows):
    """Return the estimated time of a product of operands as from whole."""
    ways = whole(sizes, by_rows)
    return min(tiling.us for tiling in _tilings(sizes, batch, kind, dtype, ways, (0, 0)))


def _tilings(sizes, batch, kind, dtype, ways, places):
    """Return all tilings of a product of operands that lie so, at these addresses."""
    (m, n, k), tilings = sizes, []
    if kind:
        if not kind.b_either_way:
            tilings = tensor.Tiling.ways(m, n, k, kind, ways[0].by_rows, batch)
        if hopper.fits(kind, sizes, batch, ways):
            turned = kind.b_either_way and ways[1].by_rows
            told = {"turned": turned, "joins": True, "touched": _touched(ways, dtype)}
            told["across"] = kind.is_either_way and ways[0].by_rows
            by_groups = hopper.Tiling.ways(m, n, k, kind, batch, **told)
            tilings = hopper.beside(tilings, by_groups)
    if not kind or kind.array == "float32":
        wide = WIDE[dtype.name]
        loads = packs(sizes, (dtype, wide), ways, places)
        staged = dtype == "float32" and tensor.are_here(cuda.Context.get_device())
        packed = staged or set(loads) == {most_packed(wide)}
        along_k = ways[0].by_rows, not ways[1].by_rows
        told = {"staged": staged, "packed": packed, "loads": list(zip(along_k, loads))}
        tilings = [*tilings, *Tiling.ways(m, n, k, wide, batch, **told)]
    if dtype.itemsize > 1 and (kind.sum if kind else WIDE[dtype.name]) == "float32":
        few = thin.Problem.of(sizes, ways, dtype.itemsize, places)
        tilings = [*tilings, *(few.ways(batch) if few else ())]
    nbytes = batch * dtype.itemsize * (m * k + k * n + m * n)
    return [replace(way, us=hypot(way.us, nbytes / BYTES_PER_US)) for way in tilings]


def _touched(ways, dtype):
    """Return as how many lines of memory 128 bytes of a and of b count, which may be parts of two,
    or of five sectors of 32 bytes."""
    strides = [way.line * dtype.itemsize for way in ways]
    return [1 if not step % tensor.LINE else 2.2 if step % SECTOR else 1.2 for step in strides]


def _thin(sizes, batch, kind, ways, form, dtype, places, tiling):
    """Prepare a product of few rows or columns, so tiled."""
    problem = thin.Problem.of(sizes, ways, dtype.itemsize, places)
    parts = Parts(batch, 1, prod(sizes[:2]), form, "float32", made=kind and kind.made)
    types = kind.element if kind else dtype, parts.c_type
    make = partial(problem.launch, tiling, types=types)
    scratch = partial(tiling.scratch, batch=min(batch, MOST_BATCHES))
    return _in_batches(make, sizes, batch, 1, ways, dtype, parts, scratch=scratch)


def _by_tensor_cores(sizes, batch, kind, ways, form, dtype, tiling):
    """Prepare a product by tensor cores, so tiled."""
    by_groups = isinstance(tiling, hopper.Tiling)
    way, count = (hopper.launch, 1) if by_groups else (tensor.launch, tiling.splits)
    parts = Parts(batch, count, prod(sizes[:2]), form, kind.sum, made=kind.made)
    make = partial(way, tiling, sizes, kind=kind, out=parts.c_type, lying=_lying(ways))
    scratch = by_groups and partial(tiling.scratch, batch=min(batch, MOST_BATCHES))
    return _in_batches(make, sizes, batch, count, ways, dtype, parts, kind.is_float8, scratch)


def _by_threads(sizes, batch, ways, form, dtype, places, tiling):
    """Prepare a product without tensor cores, so tiled."""
    wide = WIDE[dtype.name]
    loads = packs(sizes, (dtype, wide), ways, places)
    parts = Parts(batch, tiling.parts, prod(sizes[:2]), form, wide)
    types = dtype, wide, parts.dtype
    make = partial(launch, tiling, sizes, types=types, ways=ways, packs=loads)
    return _in_batches(make, sizes, batch, tiling.parts, ways, dtype, parts)


def _in_batches(make, sizes, batch, splits, ways, dtype, parts, scaled=False, scratch=None):
    """Prepare launches, make(batch), of as many products each as a grid may have. scratch(room):
    what they are passed to add splits themselves."""
    steps = [way.batch * dtype.itemsize for way in ways]
    steps.append(splits * prod(sizes[:2]) * parts.dtype.itemsize)
    launches = []
    for start in range(0, batch, MOST_BATCHES):
        one = make(min(batch - start, MOST_BATCHES))
        launches.append((one, [start * step for step in steps]))

    def call(a, b, room, stream, scales=UNSCALED):
        made, after = parts.new(a, room), list(scratch(room)) if scratch else []
        if scaled:
            after += [0 if scale is None else address(scale) for scale in scales]
        for one, offsets in launches:
            addresses = (address(x) + offset for x, offset in zip((a, b, made), offsets))
            one(stream, tuple(addresses), after)
        return parts.finish(made, room, stream)

    return call
