"""Matrix instructions of a warp: multiply-accumulate (driver/run/tensor.c), loads and stores."""

from __future__ import annotations

from ... import contract
from ...ptx.matrices import BITS, Product, group_product_of, product_of, transfer_of
from ...ptx.program import Immediate, Vector, elements_of
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from .spaces import host_address, space_of

_TYPES = contract.values("MmaType", "MMA_")
_How = contract.flags("MmaHow", "MMA_")
_ROUNDINGS = contract.values("Rounding", "ROUND_")

_OF_INTEGERS = {
    **dict.fromkeys(("s8", "u8"), "bytes"),
    **dict.fromkeys(("s4", "u4"), "nibbles"),
    "b1": "bits",
}


def _how(item, product: Product) -> int:
    """Return the flags of enum MmaHow in driver/runtime.h."""
    how = _How.half_c if product.c == "f16" else 0
    how |= _How.half_d if product.d == "f16" else 0
    how |= _How.other_b if product.a[0] == "e" and product.a != product.b else 0
    how |= _How.signed_a if product.a[0] == "s" else 0
    how |= _How.signed_b if product.b[0] == "s" else 0
    how |= _How.saturates if "satfinite" in item.modifiers else 0
    how |= _How.xor if product.xor else 0
    how |= _How.sparse if product.sparse else 0
    return how


def _element(product: Product) -> str:
    return "double" if product.d == "f64" else "i32"


def _multiply(e: FunctionEmitter, item, product: Product, shape, given, metadata="ptr null"):
    """Emit one mma of a native shape; return d and its number of registers. given: a, b and c."""
    m, _, k = shape
    count = m // 4 // (2 if product.d == "f16" else 1)
    out = f"ptr {e.temporary(_element(product), count, 'fragment d')}"
    if product.d == "f64":
        rounding = next((m for m in item.modifiers if m in _ROUNDINGS), "rn")
        how = (f"i32 {n}" for n in (m, k, _ROUNDINGS[rounding]))
        e.call_void("sg_mma_f64", *how, *given, out)
    else:
        kind = _TYPES[_OF_INTEGERS.get(product.a, product.a)]
        selector = item.operands[-1].value if product.sparse else 0
        numbers = (f"i32 {n}" for n in (kind, m, k, _how(item, product), selector))
        e.call_void("sg_mma", *numbers, *given, metadata, out)
    return out, count


def _observe(e: FunctionEmitter, item, product: Product) -> None:
    pipe, count = product.machine
    if count:
        e.observer.product(e.site(item, "tensor"), pipe, count)


def _type_of(kind: str) -> str:
    """Return the PTX type of a fragment's registers."""
    return "f64" if kind == "f64" else "b32"


def _read_all(e: FunctionEmitter, operand, kind: str) -> list[Value]:
    return [e.read(register, _type_of(kind)) for register in elements_of(operand)]


def _spilled(e: FunctionEmitter, operand, kind: str, use: str) -> str:
    return e.spill_registers(elements_of(operand), _type_of(kind), f"fragment {use}")


@instruction("mma")
def _mma(e, item):
    product = product_of(item)
    with e.when_active():
        uses = zip(item.operands[1:4], (product.a, product.b, product.c), "abc")
        given = [_spilled(e, *use) for use in uses]
        _observe(e, item, product)
        if product.is_quads:
            out = _multiply_quads(e, item, product, given)
        elif product.sparse:
            metadata = f"ptr {e.spill(e.read(item.operands[4], 'b32'), 'metadata')}"
            out, _ = _multiply(e, item, product, product.shape, given, metadata)
        else:
            out, _ = _multiply(e, item, product, product.shape, given)
        e.unspill_registers(elements_of(item.operands[0]), out, _element(product))


def _multiply_quads(e: FunctionEmitter, item, product: Product, given) -> str:
    layouts = (product.layouts[0] == "col") | (product.layouts[1] == "row") << 1
    out = f"ptr {e.temporary('i32', product.registers()['d'], 'fragment d')}"
    e.call_void("sg_mma_quads", f"i32 {layouts}", f"i32 {_how(item, product)}", *given, out)
    return out


def _halves(product: Product, a: list, b: list):
    """Split a warp's product into two native ones; return their (a, b), in the order of the sums.

    For 32 columns the hardware multiplies transposed: b' a' is (a b)'."""
    m, n, k = product.shape
    if product.a == "f16":
        a, b = a[: m * k // 64], b[: n * k // 64]
    if m == 8 and n == 32:
        a, b = b, a
    if len(a) > len(b) * 2:
        return [(a[: len(a) // 2], b), (a[len(a) // 2 :], b)]
    return [(a, b[: len(b) // 2]), (a, b[len(b) // 2 :])]


def _multiply_values(e: FunctionEmitter, item, product: Product, shape, *parts) -> list[Value]:
    """Emit one mma on register values."""
    element = _element(product)
    uses = zip(parts, "abc")
    given = [e.spill_in_order(part, element, f"fragment {use}") for part, use in uses]
    out, count = _multiply(e, item, product, shape, given)
    return e.unspill_in_order(out, element, count)


def _in_warp(e: FunctionEmitter, item, product: Product, a, b, c) -> list[Value]:
    """Return the registers of d, computed by mma instructions of native shapes."""
    if product.shape[0] == product.shape[1] == 8:
        return _multiply_values(e, item, product, product.shape, a, b, c)
    results = []
    for half, (rows, columns) in enumerate(_halves(product, a, b)):
        sums = c[half * len(c) // 2 : (half + 1) * len(c) // 2]
        steps = [(rows, columns, product.shape[2])]
        if product.a == "tf32":  # in two steps of 4
            steps = [(rows[:2], columns[:1], 4), (rows[2:], columns[1:], 4)]
        for left, right, k in steps:
            sums = _multiply_values(e, item, product, (16, 8, k), left, right, sums)
        results += sums
    return results


@instruction("wmma")
def _wmma(e, item):
    with e.when_active():
        if "mma" in item.modifiers:
            _multiply_in_warp(e, item)
        elif "load" in item.modifiers:
            _load_fragment(e, item)
        else:
            _store_fragment(e, item)


def _multiply_in_warp(e: FunctionEmitter, item) -> None:
    product = product_of(item)
    kinds = product.a, product.b, product.c
    parts = [_read_all(e, o, kind) for o, kind in zip(item.operands[1:4], kinds)]
    _observe(e, item, product)
    results = _in_warp(e, item, product, *parts)
    for register, value in zip(elements_of(item.operands[0]), results, strict=True):
        e.write(register, value)


# --- warpgroups -----------------------------------------------------------------------------------

_CHUNK = 16
"""Bytes that wgmma reads at once."""


@instruction("wgmma")
def _wgmma(e, item):
    """wgmma: the warp computes its share at once, and waits for the others of its warpgroup."""
    kind = item.modifiers[0]
    if kind == "fence":
        e.observer.products_fence()
    elif kind == "commit_group":
        with e.when_active():
            e.call_void("sg_wgmma_commit", "ptr %w")
        e.observer.products_committed()
    elif kind == "wait_group":
        groups = item.operands[0].value
        with e.when_active():
            place = f"i32 {e.site(item, 'other')}", str(e.active)
            e.call_void("sg_wgmma_wait", "ptr %w", *place, f"i32 {groups}")
        e.observer.products_awaited(groups)
    elif kind == "mma_async":
        _multiply_in_group(e, item)


@instruction("setmaxnreg")
def _setmaxnreg(e, item):
    """setmaxnreg: ptxas ignores it where it cannot know how many registers a thread begins with."""
    if first := e.function.registers_at_entry:
        with e.when_active():
            place = f"i32 {e.site(item, 'other')}", str(e.active)
            more = item.operands[0].value - first
            e.call_void("sg_wgmma_registers", "ptr %w", *place, f"i32 {more}")


def _multiply_in_group(e: FunctionEmitter, item) -> None:
    product = group_product_of(item)
    _, sums, a, b, adds, *signs = item.operands
    with e.when_active():
        site = e.site(item, "tensor", "shared", _CHUNK)
        e.observer.product(site, product.machine[0], 1)
        kind = _TYPES[_OF_INTEGERS.get(product.a, product.a)]
        numbers = (f"i32 {n}" for n in (kind, product.shape[1], _group_how(item, product, signs)))
        fragment = where_a = "ptr null"
        if isinstance(a, Vector):
            fragment = _spilled(e, a, product.a, "a")
        else:
            where_a = f"ptr {e.spill(e.read(a, 'b64'), 'where a is')}"
        where_b = f"ptr {e.spill(e.read(b, 'b64'), 'where b is')}"
        out = _spilled(e, sums, product.d, "d")
        given = fragment, where_a, where_b, str(e.bits(e.read(adds, "pred"))), out
        e.call_checked("void", "wgmma", "ptr %w", f"i32 {site}", *numbers, *given)
        e.unspill_registers(sums.elements, out, "i32")


def _group_how(item, product: Product, signs) -> int:
    how = _how(item, product) | _How.group
    minus_a, minus_b, across_a, across_b = [s.value for s in (*signs, *[Immediate(0)] * 4)[:4]]
    if len(signs) == 3:  # a lies in registers
        across_a, across_b = 0, across_a
    how |= _How.minus_a if minus_a == -1 else 0
    how |= _How.minus_b if minus_b == -1 else 0
    how |= _How.across_a if across_a else 0
    return how | (_How.across_b if across_b else 0)


# --- fragments in memory --------------------------------------------------------------------------


_ROW = 16
"""Bytes in a row of ldmatrix; 8 rows make a matrix, of which each lane holds two halves."""


class _Pieces:
    """The memory layout of a wmma fragment: for each register, addresses and bytes of its pieces.

    Elements of a register that are consecutive in memory form one piece."""

    def __init__(self, e: FunctionEmitter, item, kind: str):
        self.e, self.transfer = e, transfer_of(item)
        place, *rest = (o for o in item.operands if not isinstance(o, Vector))
        space = space_of(item)
        rows, columns = self.transfer.size
        by_row = self.transfer.layout == "row"
        self.base = host_address(e, place, space)
        self.leading = e.constant(columns if by_row else rows, "i64")
        if rest:
            self.leading = e.resize(e.read(rest[0], "u32"), "i64")
        places = self.transfer.places()
        bits = BITS[self.transfer.kind]
        self.joined = (
            len(places[0]) > 1 and self._order(*places[0][0])[0] == self._order(*places[0][1])[0]
        )
        self.bytes = 4 if self.joined else bits // 8
        self.places = [one[:1] if self.joined else one for one in places]
        self.corners: list[tuple[int, int]] = []
        if bits == 16 and self.transfer.part in "ab":
            firsts = (self._order(*one[0]) for one in places)
            self.corners = [(lines[0], within[0]) for lines, within in firsts]
            self.bytes = _ROW if space == "shared" else 4
        self.site = f"i32 {e.site(item, kind, space, self.bytes)}"

    def _order(self, rows: list[int], columns: list[int]) -> tuple[list[int], list[int]]:
        """Return (line index, position within the line)."""
        return (rows, columns) if self.transfer.layout == "row" else (columns, rows)

    def access(self, kind: str, rows: list[int], columns: list[int], data: str) -> None:
        """Let the driver load or store one piece per lane."""
        self.access_lines(kind, *self._order(rows, columns), data, LANES)

    def access_lines(self, kind: str, lines, within, data: str, lanes: int) -> None:
        """Let the driver load or store a piece for each of the first `lanes` lanes, by line and
        position."""
        e = self.e
        starts = e.op("mul", e.lanes(lines, "i64"), self.leading)
        count = e.op("add", starts, e.lanes(within, "i64"))
        offset = e.op("lshr", e.op("mul", count, BITS[self.transfer.kind]), 3)
        where = f"ptr {e.spill(e.op('add', self.base, offset), 'addresses')}"
        active = e.op("and", e.active, (1 << lanes) - 1)
        e.call_checked("void", kind, "ptr %w", self.site, where, str(active), f"ptr {data}")


def _load_halves(e: FunctionEmitter, item, pieces: _Pieces) -> list[Value]:
    """Load registers of a or b, each 8 x 8 halves: from shared memory as ldmatrix does, else by
    words along the lines of memory, transposed if the fragment's layout crosses them."""
    size = 4 if space_of(item) == "shared" else 1
    data = e.temporary("i128" if size > 1 else "i32", 1, "data")
    values: list[Value] = []
    for start in range(0, len(pieces.corners), size):
        corners = pieces.corners[start : start + size]
        each = LANES // 4 if size > 1 else LANES
        lanes = [(corner, lane) for corner in corners for lane in range(each)]
        lanes += [(corners[0], 0)] * (LANES - len(lanes))
        step = 1 if size > 1 else 4
        lines = [line + lane // step for (line, _), lane in lanes]
        within = [first + lane % step * 2 for (_, first), lane in lanes]
        pieces.access_lines("load", lines, within, data, each * len(corners))
        values += e.unspill_in_order(f"ptr {data}", "i32", len(corners))
    turned = [e.lanewise("sg_transpose", v, element="i32") for v in values if not pieces.joined]
    return turned or values


def _load_fragment(e: FunctionEmitter, item) -> None:
    pieces = _Pieces(e, item, "load")
    if pieces.corners:
        values = _load_halves(e, item, pieces)
        for number, register in enumerate(elements_of(item.operands[0])):
            e.write(register, values[number % len(values)])
        return
    element = f"i{8 * pieces.bytes}"
    data = e.temporary(element, 1, "data")
    whole = "i64" if pieces.bytes == 8 else "i32"
    values = []
    for places in pieces.places:
        value = e.constant(0, whole, uniform=False)
        for number, place in enumerate(places):
            pieces.access("load", *place, data)
            part = e.resize(e.unspill(data, element), whole)
            value = e.op("or", value, e.op("shl", part, 8 * pieces.bytes * number))
        values.append(value)
    for number, register in enumerate(elements_of(item.operands[0])):
        e.write(register, values[number % len(values)])


def _store_fragment(e: FunctionEmitter, item) -> None:
    pieces = _Pieces(e, item, "store")
    element = f"i{8 * pieces.bytes}"
    for register, places in zip(elements_of(item.operands[1]), pieces.places, strict=True):
        whole = e.splat(e.integer(e.read(register, "b64" if pieces.bytes == 8 else "b32")))
        for number, place in enumerate(places):
            part = e.resize(e.op("lshr", whole, 8 * pieces.bytes * number), element)
            pieces.access("store", *place, e.spill(part, "data"))


def _rows(e: FunctionEmitter, item, kind: str, operand, count: int) -> tuple[str, ...]:
    """Return the driver's arguments for rows whose addresses the first lanes hold: warp to
    lanes."""
    address = host_address(e, operand, "shared" if space_of(item) == "shared" else "generic")
    site = e.site(item, kind, space_of(item), _ROW)
    lanes = e.op("and", e.active, (1 << 8 * count) - 1)
    where = e.spill(address, "addresses")
    return "ptr %w", f"i32 {site}", f"ptr {where}", str(lanes)


@instruction("ldmatrix")
def _ldmatrix(e, item):
    registers = elements_of(item.operands[0])
    with e.when_active():
        data = e.temporary("i128", 1, "data")
        rows = _rows(e, item, "load", item.operands[1], len(registers))
        e.call_checked("void", "load", *rows, f"ptr {data}")
        if "trans" not in item.modifiers:
            e.unspill_registers(registers, f"ptr {data}", "i32")
            return
        values = e.unspill_in_order(f"ptr {data}", "i32", len(registers))
        for register, value in zip(registers, values, strict=True):
            e.write(register, _turned(e, item, value))


@instruction("stmatrix")
def _stmatrix(e, item):
    registers = elements_of(item.operands[1])
    with e.when_active():
        data = e.temporary("i128", 1, "data")
        for number, register in enumerate(registers):
            value = _turned(e, item, e.splat(e.read(register, "b32")))
            at = e.assign(f"getelementptr <{LANES} x i32>, ptr {data}, i64 {number}")
            e.line(f"store {value}, ptr {at}, align 64")
        rows = _rows(e, item, "store", item.operands[0], len(registers))
        e.call_checked("void", "store", *rows, f"ptr {data}")


def _turned(e: FunctionEmitter, item, value: Value) -> Value:
    """Return a register of 8 x 8 halves; with .trans, of the transposed matrix."""
    if "trans" not in item.modifiers:
        return value
    return e.lanewise("sg_transpose", value, element="i32")


@instruction("movmatrix")
def _movmatrix(e, item):
    value = e.read(item.operands[1], "b32")
    with e.when_active():
        e.write(item.operands[0], e.lanewise("sg_transpose", e.splat(value), element="i32"))
