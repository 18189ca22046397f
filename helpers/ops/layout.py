"""Chooses the kernel of cuda_src/elementwise for operands of any strides, and its arguments."""

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from .. import shapes
from .launch import power_of_two

__all__ = ["BLOCK", "Operand", "choose"]

BLOCK = 256
EACH = 2  # packs of a thread, once there are many
NARROW = (1 << 31) - 64  # places that an int counts, and the few that a thread may look beyond
SMALL = 1 << 20  # bytes of a result that is there before tiles, or long packs, pay
SECTOR = 32  # bytes that are read along, from which on tiles pay


@dataclass(frozen=True)
class Operand:
    """An array as a kernel traverses it, or a number."""

    strides: tuple  # in elements
    itemsize: int
    address: int | None = None  # modulo 16; None: a number

    @property
    def kind(self):
        """Return how elements that are adjacent in the result are laid out: a Kind of
        operands.cuh."""
        if self.address is None:
            return "NUMBER"
        inner = self.strides[-1] if self.strides else 0
        return {0: "REPEATED", 1: "PACKED"}.get(inner, "SPACED")

    def allows(self, pack, along=-1):
        """Whether packs of this many elements along a dimension are contiguous and aligned."""
        others = [step for i, step in enumerate(self.strides) if i != along % len(self.strides)]
        return not any(step % pack for step in others) and not self.address % (pack * self.itemsize)

    def along(self, shape):
        """Return the operand flattened to one dimension: SPACED unless its layout is the
        result's, or it has one element."""
        strides = (0,) if not any(self.strides) else (2,)
        if shape and self.strides == shapes.contiguous_strides(shape):
            strides = (1,)
        return replace(self, strides=strides)

    def extent(self, shape):
        """Return the largest distance between its elements."""
        return sum(abs(step) * (size - 1) for step, size in zip(self.strides, shape))

    def dense(self, shape):
        """Return the number of elements, if they follow each other without gaps; else 0."""
        extent = self.extent(shape) if min(self.strides) > 0 else -1
        return extent + 1 if extent + 1 == prod(shape) else 0

    def beside(self, out, pack):
        """Return the Kind where packs begin wherever out's do."""
        if self.kind != "PACKED":
            return self.kind
        starts = [((x.address or 0) // x.itemsize, *x.strides[:-1]) for x in (self, out)]
        return "SPACED" if any((s - t) % pack for s, t in zip(*starts)) else "PACKED"


def choose(shape, a, b, out, choices, op, many):
    """Return the launch for out = op(a, b) of this shape: a file, its choices, grid, block, and the
    arguments after the addresses, the last of which is op, the operator's numbers.

    many: the number of packs from which on a thread handles several, as there are enough for all
    threads."""
    shape, *strides = shapes.merge(*shapes.permute(shape, out.strides, a.strides, b.strides))
    if len(shape) > shapes.MOST_DIMENSIONS:
        raise ValueError(
            f"{len(shape)} dimensions, merged as far as the arrays' strides allow, of which at"
            f" most {shapes.MOST_DIMENSIONS} are possible: copy one to be contiguous first"
        )
    if not shape:
        shape, strides = (1,), [(1,)] * 3
    out, a, b = (replace(x, strides=s) for x, s in zip((out, a, b), strides))
    choices = choices | {"A": a.kind, "B": b.kind}
    extents = [x.extent(shape) for x in (a, b, out)]
    index = np.dtype(np.int32 if max(*extents, prod(shape)) < NARROW else np.int64)
    choices["Index"] = index
    crossing, most = _crossing(shape, a, b, out), 16
    small = prod(shape) * out.itemsize <= SMALL
    if crossing is not None:
        tile, thin = _tile(shape, crossing, a, b), shape[crossing] * a.itemsize < SECTOR
        if not (small or thin) and 2 * shape[-1] >= tile[0]:
            return _transposed(shape, crossing, tile, a, b, out, choices, op)
        if small or thin:
            most = 1  # neighbouring threads read what lies closest across
    flat = [x.along(shape) for x in (a, b, out)]
    wide = _pack(shape[-1], (a, b, out), most) if len(shape) > 1 else 0
    if small and "SPACED" in (flat[0].kind, flat[1].kind):
        longest = min(4, most)  # elements: each has its place to find, which is much code
    else:
        longest = most
    if flat[2].kind == "PACKED" and _pack(0, flat, longest) > wide:
        return _flat(shape, flat, (a, b, out), choices, op, longest)
    return _rows(shape, a, b, out, choices, op, many, most)


def _pack(size, operands, most=16):
    """Return the longest pack that all PACKED operands allow for a last dimension of this size."""
    packed = [x for x in operands if x.kind == "PACKED"]
    pack = min(most, 16 // max(x.itemsize for x in operands)) if packed else 1
    while size % pack or not all(x.allows(pack) for x in packed):
        pack //= 2
    return pack


def _flat(shape, flat, operands, choices, op, most):
    """Return the launch for operands flattened to one dimension."""
    pack, size = _pack(0, flat, most), prod(shape)
    sizes = shape[::-1] if "SPACED" in (flat[0].kind, flat[1].kind) else ()
    strides = list(zip(*(x.strides[::-1] for x in operands)))
    layout = _layout(sizes or (1,), strides, choices)
    choices |= {"A": flat[0].kind, "B": flat[1].kind, "PACK": pack}
    grid = (-(-size // (BLOCK * pack)),)
    return "elementwise/flat.cu", choices, grid, (BLOCK,), np.int64(size), layout, op


def _layout(sizes, strides, choices):
    """Return a Layout of layout.cuh, and add its DIMENSIONS to the choices. Sizes are from the
    innermost dimension outwards, with the strides of a, b and out."""
    words, choices["DIMENSIONS"] = [prod(sizes)], len(sizes)
    for size, places in zip(sizes, strides):
        words += [size, *shapes.magic(size, 8 * choices["Index"].itemsize), *places]
    return _words(words, choices["Index"])


def _words(values, index):
    """Return numbers as a kernel's struct of Index; from 2^(bits-1) on they are unsigned there."""
    limit = 1 << 8 * index.itemsize
    return np.array([v - limit if v >= limit // 2 else v for v in values], index)


def _rows(shape, a, b, out, choices, op, many, most):
    operands = a, b, out
    pack = _pack(shape[-1], operands, most)
    sizes = [*shape[:-1], shape[-1] // pack]
    strides = list(zip(*(x.strides for x in operands)))
    neighbours = strides[-1]
    strides[-1] = tuple(pack * step for step in neighbours)
    stepped = _stepped(shape, a, b)
    rows = EACH if prod(sizes) >= many and sizes[stepped] >= EACH else 1
    limit, step = sizes[stepped], -(-sizes[stepped] // rows)
    sizes[stepped] = step
    apart = [step * s for s in strides[stepped]]
    stays = [int(x.kind != "NUMBER" and x.strides[stepped] == 0) for x in (a, b)]
    choices = choices | {"RESULT": out.kind, "PACK": pack, "ROWS": rows}
    choices |= {"A_STAYS": stays[0], "B_STAYS": stays[1]}
    index = choices["Index"]
    steps = _words([len(sizes) - 1 - stepped, step, limit, *apart, *neighbours], index)
    layout = _layout(sizes[::-1], strides[::-1], choices)
    grid = (-(-prod(sizes) // BLOCK),)
    return "elementwise/rows.cu", choices, grid, (BLOCK,), layout, steps, op


def _stepped(shape, a, b):
    """Return the dimension that a thread loops over: the longest one that lets it reuse an
    operand it has read, or else the longest that is not part of a pack."""
    outer = range(len(shape) - 1) if len(shape) > 1 else [0]
    spared = [
        d
        for d in outer
        if any(x.kind in ("PACKED", "SPACED") and x.strides[d] == 0 for x in (a, b))
    ]
    return max(spared or outer, key=lambda d: shape[d])


def _crossing(shape, a, b, out):
    """Return the dimension in which operands are contiguous but the result is not; None if there
    is none, or if another operand fits neither way."""
    across = [x for x in (a, b) if x.kind == "SPACED"]
    if not across or out.kind != "PACKED":
        return None
    found = {x.strides[:-1].index(1) if 1 in x.strides[:-1] else None for x in across}
    if len(found) > 1 or None in found:
        return None
    return found.pop()


def _tile(shape, crossing, a, b):
    """Return the columns and rows of a tile: 128 bytes of what is read along, or fewer, and as much
    of the result as there is room for."""
    pack, arrays = 16 // a.itemsize, (a.kind, b.kind).count("SPACED")
    rows = pack * min(8, power_of_two(-(-shape[crossing] // pack)))
    return min(512, 1024 * pack // rows) // arrays, rows


def _transposed(shape, crossing, tile, a, b, out, choices, op):
    (columns, rows), pack, index = tile, 16 // a.itemsize, choices["Index"]
    stretch = shape[-1] <= columns and _is_stretch(shape, a, b, out)
    over = 0 if stretch or out.allows(pack) else pack - 1
    order = [len(shape) - 1, crossing]
    order += [d for d in reversed(range(len(shape))) if d not in order]
    sides = [columns, rows] + [1] * (len(shape) - 2)
    tiles = [-(-(shape[d] + o) // side) for d, side, o in zip(order, sides, [over] + [0] * 7)]
    strides = [[x.strides[d] for x in (a, b, out)] for d in order]
    steps = [[side * s for s in step] for side, step in zip(sides, strides)]
    dense = [x.dense(shape) for x in (a, b, out)]
    ends = _words([shape[-1], shape[crossing], *strides[0], *strides[1], *dense], index)
    kinds = [{"SPACED": "CROSSWISE"}.get(x.kind, x.beside(out, pack)) for x in (a, b)]
    choices = choices | {"A": kinds[0], "B": kinds[1], "COLUMNS": columns, "ROWS": rows}
    turned = tiles[1] < tiles[0]  # so that all neighbours of a tile are at work when it is
    for x in (tiles, steps) if turned else ():
        x[:2] = x[1::-1]
    gaps = not all(x.allows(pack, crossing) for x in (a, b) if x.kind == "SPACED")
    told = {"OVER": over, "TURNED": turned, "STRETCH": stretch, "GAPS": gaps}
    choices |= {name: int(value) for name, value in told.items()}
    layout, grid = _layout(tiles, steps, choices), (prod(tiles),)
    return "elementwise/transposed.cu", choices, grid, (BLOCK,), layout, ends, op


def _is_stretch(shape, a, b, out):
    """Whether rows of the result, and of what lies as it does, follow each other without gaps."""
    beside = [x for x in (a, b, out) if x.kind == "PACKED"]
    alike = all(x.strides == shapes.contiguous_strides(shape) and not x.address for x in beside)
    return alike and len(shape) == 2 and "REPEATED" not in (a.kind, b.kind)
