"""What an instruction on matrices is: shapes, types, and how many registers its fragments have."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .program import Instruction, Unsupported, Vector

__all__ = [
    "BITS",
    "Product",
    "Transfer",
    "group_product_of",
    "matrix_problem",
    "product_of",
    "transfer_of",
]

BITS = {
    **dict.fromkeys(("f16", "bf16"), 16),
    **dict.fromkeys(("tf32", "f32", "s32"), 32),
    **dict.fromkeys(("s8", "u8", "e4m3", "e5m2"), 8),
    **dict.fromkeys(("s4", "u4"), 4),
    "f64": 64,
    "b1": 1,
}
"""The types of elements."""

_FP8 = ("e4m3", "e5m2")
_DEPTHS = {
    "f16": {(16, 8), (16, 16), (8, 4)},
    "bf16": {(16, 8), (16, 16)},
    "tf32": {(16, 4), (16, 8)},
    "f64": {(8, 4), (16, 4), (16, 8), (16, 16)},
    "8": {(8, 16), (16, 16), (16, 32)},
    "4": {(8, 32), (16, 32), (16, 64)},
    "b1": {(8, 128), (16, 128), (16, 256)},
    "fp8": {(16, 16), (16, 32)},
}
"""(m, k) of mma by the type of a and b; n is 8."""
_SPARSE_DEPTHS = {
    "f16": {16, 32},
    "bf16": {16, 32},
    "tf32": {8, 16},
    "8": {32, 64},
    "4": {64, 128},
    "fp8": {64},
}
_WARP_SHAPES = {
    **dict.fromkeys(("f16", "bf16", "8"), {(16, 16, 16), (32, 8, 16), (8, 32, 16)}),
    "tf32": {(16, 16, 8)},
    "f64": {(8, 8, 4)},
    "4": {(8, 8, 32)},
    "b1": {(8, 8, 128)},
}
"""Shapes of wmma."""


def _family(kind: str) -> str:
    """The types that have the same shapes."""
    return "fp8" if kind in _FP8 else kind[1:] if kind[0] in "su" else kind


def _shape(modifiers: tuple[str, ...]) -> tuple[int, int, int]:
    found = [re.fullmatch(r"m(\d+)n(\d+)k(\d+)", modifier) for modifier in modifiers]
    shapes = [match for match in found if match]
    if len(shapes) != 1:
        raise Unsupported("it has no shape that is known here")
    m, n, k = map(int, shapes[0].groups())
    return m, n, k


def _types(modifiers: tuple[str, ...]) -> list[str]:
    return [modifier for modifier in modifiers if modifier in BITS]


@dataclass(frozen=True)
class Product:
    """d = a b + c of matrices; types and layouts as PTX spells them."""

    shape: tuple[int, int, int]
    d: str
    a: str
    b: str
    c: str
    layouts: tuple[str, str]
    by_warp: bool  # wmma
    sparse: bool
    xor: bool  # of bits: a and not b, then b and not a

    def registers(self) -> dict[str, int]:
        """How many registers of a lane each fragment has."""
        m, n, k = self.shape
        if self.is_quads:
            return {"d": 8 * BITS[self.d] // 32, "a": 2, "b": 2, "c": 8 * BITS[self.c] // 32}
        parts = {"d": m * n, "a": m * k // (1 + self.sparse), "b": k * n, "c": m * n}
        return {part: _registers(getattr(self, part), count) for part, count in parts.items()} | (
            {"a": 8, "b": 8} if self.by_warp and self.a == "f16" else {}
        )

    @property
    def machine(self) -> tuple[str, int]:
        """The pipe that multiplies, and how many machine instructions that takes."""
        if self.is_quads:
            return "hmma", 0
        family = _family(self.a)
        pipe = {"f64": "dmma", "8": "imma", "4": "imma", "b1": "imma"}.get(family, "hmma")
        halves = 2 if self.by_warp and self.shape[0] * self.shape[1] == 256 else 1
        twice = family in ("fp8", "4") or self.xor or (self.by_warp and family == "tf32")
        return pipe, halves * (1 + twice)

    @property
    def is_quads(self) -> bool:
        """Whether each 8 lanes have a product of their own."""
        return self.shape == (8, 8, 4) and self.a == "f16"


def _registers(kind: str, elements: int) -> int:
    return elements * BITS[kind] // (32 * max(BITS[kind], 32))


def product_of(item: Instruction) -> Product:
    """What an mma or wmma.mma multiplies; raises Unsupported for what no sm_90 does."""
    types = _types(item.modifiers)
    by_warp = item.opcode == "wmma"
    if by_warp and len(types) == 2:
        types[1:1] = ["f16", "f16"]
    if len(types) != 4:
        raise Unsupported("it names no types that are known here")
    d, a, b, c = types
    layouts = tuple(m for m in item.modifiers if m in ("row", "col"))
    if len(layouts) != 2:
        raise Unsupported("it names no two layouts")
    sparse = any(m.split("::")[0] == "sp" for m in item.modifiers)
    product = Product(
        _shape(item.modifiers), d, a, b, c, layouts, by_warp, sparse, "xor" in item.modifiers
    )
    problem = _shape_problem(product) or _sums_problem(product)
    if problem:
        raise Unsupported(problem)
    return product


_GROUP_BYTES = 32
"""Of k, of one wgmma."""
_GROUP_SUMS = {
    "f16": ("f16", "f32"),
    "fp8": ("f16", "f32"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "8": ("s32",),
    "b1": ("s32",),
}


def group_product_of(item: Instruction) -> Product:
    """What a warpgroup multiplies, d = a b + d; raises Unsupported for what no sm_90a does."""
    types = _types(item.modifiers)
    if len(types) != 3:
        raise Unsupported("it names no types that are known here")
    if any(m.split("::")[0] == "sp" for m in item.modifiers):
        raise Unsupported("a is sparse")
    d, a, b = types
    product = Product(_shape(item.modifiers), d, a, b, d, ("row", "col"), False, False, False)
    m, n, k = product.shape
    family = _family(a)
    columns = set(range(8, 257, 8))
    if family in ("8", "b1"):
        columns -= {*range(40, 257, 16)}
    if m != 64 or n not in columns or k * BITS[a] != 8 * _GROUP_BYTES:
        raise Unsupported(_no_shape(product))
    if family != _family(b) or (a != b and family not in ("8", "fp8")):
        raise Unsupported(_no_pair(product))
    if d not in _GROUP_SUMS.get(family, ()):
        raise Unsupported(f"{a} has no sums of {d}")
    return product


def _no_shape(product: Product) -> str:
    m, n, k = product.shape
    return f"{product.a} has no shape m{m}n{n}k{k}"


def _no_pair(product: Product) -> str:
    return f"{product.a} is not multiplied by {product.b}"


def _shape_problem(product: Product) -> str:
    m, n, k = product.shape
    family = _family(product.a)
    if family != _family(product.b) or (product.a != product.b and family not in ("8", "4", "fp8")):
        return _no_pair(product)
    if product.by_warp:
        known = product.shape in _WARP_SHAPES.get(family, ())
    elif product.sparse:
        known = m == 16 and n == 8 and k in _SPARSE_DEPTHS.get(family, ())
    else:
        known = n == 8 and (m, k) in _DEPTHS.get(family, ())
    return "" if known else _no_shape(product)


def _sums_problem(product: Product) -> str:
    sums = product.d, product.c
    mixed = product.is_quads or product.by_warp
    fits = {
        "f16": set(sums) <= {"f16", "f32"} and (mixed or product.d == product.c),
        "fp8": product.d == product.c and product.d in ("f16", "f32"),
        "bf16": sums == ("f32", "f32"),
        "tf32": sums == ("f32", "f32"),
        "f64": sums == ("f64", "f64"),
    }.get(_family(product.a), sums == ("s32", "s32"))
    return "" if fits else f"{product.a} has no sums of {' and '.join(dict.fromkeys(sums))}"


@dataclass(frozen=True)
class Transfer:
    """A fragment that wmma.load or wmma.store moves: `part` is a, b, c or d."""

    part: str
    shape: tuple[int, int, int]
    kind: str
    layout: str

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        m, n, k = self.shape
        return {"a": (m, k), "b": (k, n)}.get(self.part, (m, n))

    @property
    def registers(self) -> int:
        """How many registers of a lane it has."""
        if self.kind == "f16" and self.part in "ab":
            return 8
        rows, columns = self.size
        return _registers(self.kind, rows * columns)

    def places(self) -> list[list[Places]]:
        """For each register, and each element in it, its row and column in each lane.

        Registers of halves that are there twice are left out."""
        m, n, k = self.shape
        turned = n == 32  # the machine multiplies the other way round
        if self.part in "cd":
            rows, columns = (n, m) if turned else (m, n)
            found = _places_of_sums(rows, columns, BITS[self.kind])
        else:
            outer = m if self.part == "a" else n
            strip = 16 if (outer == 32 or (outer == 16 and self.part == "a")) else 8
            found = _places_along(outer, strip, k, BITS[self.kind])
            turned = self.part == "b"
        return [[place[::-1] if turned else place for place in one] for one in found]


Places = tuple[list[int], list[int]]


def _places_along(outer: int, strip: int, depth: int, bits: int) -> list[list[Places]]:
    """Of a, or b turned: strips of 16 or 8 rows, in which elements follow each other along k."""
    each = max(32 // bits, 1)
    return [
        [
            (
                [first + high + lane // 4 for lane in range(32)],
                [start + lane % 4 * each + part for lane in range(32)],
            )
            for part in range(each)
        ]
        for first in range(0, outer, strip)
        for start in range(0, depth, 4 * each)
        for high in range(0, strip, 8)
    ]


def _places_of_sums(rows: int, columns: int, bits: int) -> list[list[Places]]:
    """Of c: pairs of neighbours, in two registers or halves of one."""
    pairs = [
        [
            (
                [row + lane // 4 for lane in range(32)],
                [column + lane % 4 * 2 + part for lane in range(32)],
            )
            for part in range(2)
        ]
        for column in range(0, columns, 8)
        for row in range(0, rows, 8)
    ]
    return pairs if bits == 16 else [[place] for pair in pairs for place in pair]


def transfer_of(item: Instruction) -> Transfer:
    """What a wmma.load or wmma.store moves."""
    part = next(m for m in item.modifiers if m in ("a", "b", "c", "d"))
    types = _types(item.modifiers)
    layouts = [m for m in item.modifiers if m in ("row", "col")]
    if len(types) != 1 or len(layouts) != 1:
        raise Unsupported("it names no type, or no layout")
    kind, shape = types[0], _shape(item.modifiers)
    sums = part in "cd"
    families = [f for f, shapes in _WARP_SHAPES.items() if shape in shapes]
    of_sums = {"f16": ("f16", "f32"), "8": ("s32",), "4": ("s32",), "b1": ("s32",)}
    known = [
        kind in of_sums.get(f, ("f64",) if f == "f64" else ("f32",)) if sums else f == _family(kind)
        for f in families
    ]
    if not any(known):
        raise Unsupported(f"{kind} has no such shape in {part}")
    return Transfer(part, shape, kind, layouts[0])


def _expected_of_group(item: Instruction) -> tuple[int, ...]:
    """The registers of d, twice, and of a unless it is in shared memory."""
    if item.modifiers[0] != "mma_async":
        return ()
    product = group_product_of(item)
    sums = _registers(product.d, 16 * product.shape[1])
    a = 4 if isinstance(item.operands[2], Vector) else 1
    return sums, sums, a


def _counts(item: Instruction) -> tuple[int, ...]:
    return tuple(len(o.elements) if isinstance(o, Vector) else 1 for o in item.operands)


def matrix_problem(item: Instruction) -> str:
    """What keeps an instruction on matrices from being one; "" if nothing does."""
    try:
        expected = _expected(item)
    except Unsupported as why:
        return str(why)
    given = _counts(item)[: len(expected)]
    return "" if given == expected else f"{given} registers, where it has {expected}"


def _expected(item: Instruction) -> tuple[int, ...]:
    """How many registers the operands in front have."""
    if item.opcode == "wgmma":
        return _expected_of_group(item)
    if item.opcode == "mma" or "mma" in item.modifiers:
        counts = product_of(item).registers()
        return tuple(counts[part] for part in "dabc")
    if item.opcode == "wmma":
        count = transfer_of(item).registers
        return (count,) if "load" in item.modifiers else (1, count)
    count = next((int(m[1:]) for m in item.modifiers if m in ("x1", "x2", "x4")), 1)
    return {"ldmatrix": (count,), "stmatrix": (1, count)}.get(item.opcode, (1, 1))
