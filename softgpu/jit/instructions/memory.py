"""Loads and stores.

An access takes the inline fast path if the active lanes' addresses are consecutive, aligned, and
within the allocation that this instruction hit the last time. Otherwise driver/run/access.c
performs it lane by lane, checks every lane and reports errors.

Terms: inline caching (Deutsch, Schiffman 1984; docs/terms.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...ptx.program import Address, Immediate, Register, elements_of
from ..emit.addresses import operand_sum
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from ..facts.opcodes import ORDERED
from ..facts.processor import LOADS_IN_ORDER
from ..facts.types import bits_of, element_of, is_signed, vector_size
from .parameters import load_param, store_param
from .spaces import own_address, pointer_value, space_of, to_host

_ONE_PIECE = 16
"""Bytes that the hardware reads and writes at once, if aligned and accessed by one lane."""


class Access:
    """Common to ld and st: the site, the addresses, the tests for the fast paths."""

    def __init__(self, e: FunctionEmitter, item, kind: str, operand: Address):
        self.e = e
        self.space = space_of(item)
        ptx_type = item.modifiers[-1]
        self.signed = is_signed(ptx_type)
        self.count = vector_size(item)
        self.element = element_of(ptx_type)
        self.element_bytes = bits_of(ptx_type) // 8
        self.bytes = self.element_bytes * self.count
        self.order = self._order(kind, set(item.modifiers))
        self.site = e.site(item, kind, self.space, self.bytes, self.count)
        self.site_text = str(self.site)  # in a routine, the name of a value
        self.address = own_address(e, operand, self.space)
        self.operand: Address | None = operand  # None: in a routine, which gets only addresses

    def _order(self, kind: str, modifiers: set[str]) -> str:
        """Return the LLVM atomic ordering that keeps a lane's access from tearing.

        Empty: no other thread can see it, or LLVM does not split it in any case."""
        if self.space not in ("global", "generic") or "nc" in modifiers:
            return ""
        if ORDERED & modifiers:
            return "monotonic"
        return "" if kind == "load" and self.bytes == self.element_bytes <= 8 else "unordered"

    @property
    def untorn(self) -> str:
        """Return the LLVM qualifier that keeps each lane's part of a row access from tearing.

        Without it LLVM may load a part twice, and take a lane's elements from both loads."""
        return "volatile " if self.order else ""

    def pieces(self, pointer: str):
        """Yield (pointer, elements) for each piece that one lane accesses at once."""
        count = min(self.count, max(_ONE_PIECE // self.element_bytes, 1)) if self.order else 1
        for first in range(0, self.count, count):
            offset = first * self.element_bytes
            yield self.e.assign(f"getelementptr i8, ptr {pointer}, i64 {offset}"), count

    @property
    def with_driver(self) -> bool:
        """Whether the driver always performs it: LLVM splits vectors of 128-bit numbers."""
        return self.e.mode.by_driver or (self.element == "i128" and not self.address.uniform)

    @property
    def moves_rows(self) -> bool:
        """Whether registers are copied to or from the driver's buffer for a vector's lanes."""
        return self.with_driver and self.count > 1 and not self.address.uniform

    def move_row(self, helper: str) -> str:
        """Leave the access to the driver; return the lanes' buffer as an argument of a call."""

        def moved(e, access, room: Value) -> list[Value]:
            access.slow(helper, room.text)
            return []

        room = self.e.temporary(self.element, self.count, "data")
        self.run(f"{helper}.row", moved, Value(room, "ptr", True))
        return f"ptr {room}"

    @property
    def group(self) -> int:
        """How many lanes are stored together, as in driver/run/access.c: within each group, the
        lowest lane's value wins."""
        return min(max(128 // self.bytes, 8), LANES)

    def observe(self) -> None:
        """Show the access to instrumented builds."""
        if self.e.mode.instrumented:
            self.e.observer.access(self.site, to_host(self.e, self.address, self.space))

    def _inside(self, first: Value, past: Value) -> Value:
        """Whether [first, past) (i64) is allowed on the fast path, and first is aligned."""
        return self.e.op("and", self.aligned(first), self.within(first, past))

    def aligned(self, address: Value) -> Value:
        e = self.e
        low = e.op("and", address, self.bytes - 1)
        return e.compare("icmp eq", low, 0)

    def within(self, first: Value, past: Value) -> Value:
        """Whether [first, past) (i64) is memory that this site may access without the driver."""
        e = self.e
        if self.space == "shared":  # as unsigned numbers, negative offsets are far above the end
            end = e.resize(e.warp_value("shared_bytes", "i32"), "i64")
            enough = e.compare("icmp ule", first, end)
            return e.op("and", enough, e.compare("icmp ule", past, end))
        begin, end = self.reachable()
        enough = e.compare("icmp uge", first, begin)
        return e.op("and", enough, e.compare("icmp ule", past, end))

    def reachable(self) -> tuple[Value, Value]:
        """Return (begin, end) of the allocation that this site last hit."""
        e = self.e
        table = e.warp_value("sites", "ptr")
        ends = []
        for field in (0, 1):
            place = e.assign(f"getelementptr [2 x i64], {table}, i32 {self.site_text}, i32 {field}")
            ends.append(Value(e.assign(f"load i64, ptr {place}"), "i64", True))
        return ends[0], ends[1]

    def one_place(self) -> tuple[Value, Value]:
        """Return (fast path possible, host address) if all lanes share one address."""
        e = self.e
        first = e.resize(self.address, "i64")
        past = e.op("add", first, self.bytes)
        return self._inside(first, past), to_host(e, self.address, self.space)

    def sum(self) -> tuple[Value, Value]:
        """Return the addresses as (base, offsets); in most loops only the base changes."""
        e = self.e
        if self.address.uniform:
            return self.address, e.constant(0, self.address.element)
        if self.space in ("local", "cluster") or self.operand is None:
            return e.constant(0, self.address.element), self.address
        if self.space != "shared":
            return operand_sum(e, self.operand, "i64")
        base, offsets = operand_sum(e, self.operand, "i32")
        return e.op("sub", base, e.warp_value("window", "i32")), offsets

    def in_a_row(self) -> tuple[Value, Value]:
        """Return (fast path possible, host address of lane 0's element, as if it were active)."""
        e = self.e
        base, offsets = self.sum()
        steps = e.lanes((self.bytes * lane for lane in range(LANES)), offsets.element)
        start = e.op("sub", offsets, steps)
        active = e.active
        lowest = e.intrinsic("cttz", active, tail="i1 true")
        first = self._start_of_lowest(start, active, lowest)
        apart = e.bits(e.compare("icmp ne", start, first))
        together = e.compare("icmp eq", e.op("and", apart, active), 0)
        if self.count > 1:  # whole vectors are only moved for whole warps
            full = e.compare("icmp eq", active, -1)
            together = e.op("and", together, full)
        size = e.constant(self.bytes, "i64")
        highest = e.op("sub", LANES, e.intrinsic("ctlz", active, tail="i1 true"))
        whole = self.widened(e.op("add", base, first))
        begin = e.op("add", whole, e.op("mul", e.resize(lowest, "i64"), size))
        past = e.op("add", whole, e.op("mul", e.resize(highest, "i64"), size))
        return e.op("and", together, self._inside(begin, past)), self.host(whole)

    def anywhere(self) -> Value:
        """Whether all active lanes are aligned and inside shared memory."""
        e = self.e
        room = e.warp_value("shared_bytes", "i32")
        last = e.op("sub", room, self.bytes)
        low = e.op("and", self.address, self.bytes - 1)
        bad = e.compare("icmp ugt", self.address, last)
        bad = e.op("or", bad, e.compare("icmp ne", low, 0))
        bad = e.op("and", e.bits(bad), e.active)
        enough = e.compare("icmp uge", room, self.bytes)
        return e.op("and", enough, e.compare("icmp eq", bad, 0))

    def widened(self, address: Value) -> Value:
        """Return an address as an i64; in shared memory, an inactive lane 0 may be below zero."""
        return self.e.resize(address, "i64", self.space == "shared")

    def host(self, address: Value) -> Value:
        """Convert a widened address to a host address."""
        shared = self.space == "shared"
        return self.e.op("add", address, pointer_value(self.e, "shared")) if shared else address

    def _start_of_lowest(self, start: Value, active: Value, lowest: Value) -> Value:
        """Return start[lowest] or, if all lanes have computed their addresses, the equivalent
        start[0]."""
        e = self.e
        protected = e.found.protected[e.index]
        if self.operand is not None and getattr(self.operand.base, "name", "") not in protected:
            return e.extract(start, "0")
        has_zero = e.op("and", active, 1)
        direct, detour, done = e.label(), e.label(), e.label()
        known = e.known()
        condition = e.compare("icmp ne", has_zero, 0)
        e.line(f"br {condition}, label %{direct}, label %{detour}")
        e.start(direct, known)
        of_zero = e.extract(start, "0")
        e.line(f"br label %{done}")
        e.start(detour, known)
        of_lowest = e.extract(start, lowest.text)
        e.line(f"br label %{done}")
        e.start(done, known)
        kind = start.element
        text = e.assign(f"phi {kind} [{of_zero.text}, %{direct}], [{of_lowest.text}, %{detour}]")
        return Value(text, kind, True)

    def run(self, name: str, body, *values: Value) -> list[Value]:
        """Return `body(e, self, *values)`, outlined in code-size mode for all accesses alike."""

        def apart(site: Value, address: Value, *values: Value) -> list[Value]:
            self.site_text, self.address, self.operand = site.text, address, None
            return body(self.e, self, *values)

        if not self.e.mode.has_routines:
            return body(self.e, self, *values)
        name = f"{name}.{self.space}.{self.element}x{self.count}.{self.order}"
        site = self.e.constant(self.site, "i32")
        return self.e.routine(name, apart, site, self.address, *values)

    def slow(self, helper: str, data: str) -> None:
        """Leave the access to the driver, lane by lane."""
        e = self.e
        where = e.spill(to_host(e, self.address, self.space), "addresses")
        given = f"i32 {self.site_text}", f"ptr {where}", str(e.active), f"ptr {data}"
        e.call_checked("void", helper, "ptr %w", *given)


@instruction("ld", "ldu")
def _load(e, item):
    space = space_of(item)
    operand = item.operands[1]
    if space == "param" and load_param(e, item, operand):
        return
    with e.when_active():
        access = Access(e, item, "load", operand)
        access.observe()
        _load_into(e, access, elements_of(item.operands[0]))
        if (
            access.order == "monotonic" and not LOADS_IN_ORDER
        ):  # later loads must not see older values
            e.line("fence acquire")


def _load_into(e: FunctionEmitter, access: Access, registers: tuple) -> None:
    values = e.load_at_once(access)
    if values is None and access.moves_rows:
        if all(e.moves_into(register, access.element) for register in registers):
            e.unspill_registers(registers, access.move_row("load"), access.element)
            return
    if values is None:
        load = _load_one_place if access.address.uniform else _load_lanes
        values = access.run("load", _load_with_driver if access.with_driver else load)
    for register, value in zip(registers, values, strict=True):
        e.write(register, value, access.signed)


def _branch(e: FunctionEmitter, condition: Value) -> tuple[str, str, str, Mapping]:
    """Return three labels, and the values known at each: no path of an access writes registers."""
    fast, slow, done = e.label(), e.label(), e.label()
    e.line(f"br {condition}, label %{fast}, label %{slow}, !prof !1")
    return fast, slow, done, e.known()


def _load_with_driver(e: FunctionEmitter, access: Access) -> list[Value]:
    """Load through the driver, which checks every lane; one lane only if all share an address."""
    uniform = access.address.uniform
    data = e.temporary(access.element, access.count, "data")
    access.slow("load", data)
    kind, lane, align = Value("", access.element, uniform).type, "", 64
    if uniform:
        lane = f", i32 {e.intrinsic('cttz', e.active, tail='i1 true').text}"
        align = access.element_bytes
    values = []
    for number in range(access.count):
        base = e.assign(
            f"getelementptr [{LANES} x {access.element}], ptr {data}, i64 {number}{lane}"
        )
        text = e.assign(f"load {kind}, ptr {base}, align {align}")
        values.append(Value(text, access.element, uniform))
    return values


def load_of_one(e: FunctionEmitter, access: Access, pointer: str) -> list[str]:
    """Return the elements of one lane's access."""
    elements = []
    for at, count in access.pieces(pointer):
        size, vector = access.element_bytes * count, f"<{count} x {access.element}>"
        if not access.order:
            elements.append(e.assign(f"load {access.element}, ptr {at}, align {size}"))
            continue
        kind = f"i{8 * size}"
        whole = e.assign(f"load atomic {kind}, ptr {at} {access.order}, align {size}")
        parts = e.assign(f"bitcast {kind} {whole} to {vector}")
        elements += [e.assign(f"extractelement {vector} {parts}, i32 {n}") for n in range(count)]
    return elements


def _store_of_one(e: FunctionEmitter, access: Access, pointer: str, values: list[Value]) -> None:
    """Store the elements of one lane's access."""
    for at, count in access.pieces(pointer):
        piece, values = values[:count], values[count:]
        size, vector = access.element_bytes * count, f"<{count} x {access.element}>"
        if not access.order:
            e.line(f"store {piece[0]}, ptr {at}, align {size}")
            continue
        whole = "poison"
        for number, value in enumerate(piece):
            whole = e.assign(f"insertelement {vector} {whole}, {value}, i32 {number}")
        kind = f"i{8 * size}"
        whole = e.assign(f"bitcast {vector} {whole} to {kind}")
        e.line(f"store atomic {kind} {whole}, ptr {at} {access.order}, align {size}")


def _load_one_place(e: FunctionEmitter, access: Access) -> list[Value]:
    possible, place = access.one_place()
    fast, slow, done, known = _branch(e, possible)
    e.start(fast, known)
    e.observer.row(access.site, place, True)
    fast = e.here
    pointer = e.assign(f"inttoptr {place} to ptr")
    direct = load_of_one(e, access, pointer)
    e.line(f"br label %{done}")
    e.start(slow, known)
    by_lane = _load_with_driver(e, access)
    slow = e.here
    e.line(f"br label %{done}")
    e.start(done, known)
    kind = access.element
    return [
        Value(e.assign(f"phi {kind} [{a}, %{fast}], [{b.text}, %{slow}]"), kind, True)
        for a, b in zip(direct, by_lane, strict=True)
    ]


def _load_lanes(e: FunctionEmitter, access: Access) -> list[Value]:
    kind = f"<{LANES} x {access.element}>"
    possible, place = access.in_a_row()
    fast, slow, done, known = _branch(e, possible)
    e.start(fast, known)
    e.observer.row(access.site, place, False)
    ways = [(_load_row(e, access, place), e.here)]
    e.line(f"br label %{done}")
    e.start(slow, known)
    if e.expects_scatter(access):
        fast, slow, *_ = _branch(e, access.anywhere())
        e.start(fast, known)
        if e.mode.instrumented:
            e.observer.scattered(access.site, to_host(e, access.address, access.space))
        ways.append(([_gather(e, access)], e.here))
        e.line(f"br label %{done}")
        e.start(slow, known)
    ways.append(([value.text for value in _load_with_driver(e, access)], e.here))
    e.line(f"br label %{done}")
    e.start(done, known)
    values = []
    for number in range(access.count):
        sources = ", ".join(f"[{way[number]}, %{label}]" for way, label in ways)
        values.append(Value(e.assign(f"phi {kind} {sources}"), access.element, False))
    return values


def _load_row(e: FunctionEmitter, access: Access, place: Value) -> list[str]:
    pointer = e.assign(f"inttoptr {place} to ptr")
    if access.count == 1:
        return [_masked_load(e, access, pointer)]
    total = LANES * access.count
    kind = f"{access.untorn}<{total} x {access.element}>"
    wide = e.assign(f"load {kind}, ptr {pointer}, align {access.bytes}")
    return [_strided(e, wide, access, number) for number in range(access.count)]


def _gather(e: FunctionEmitter, access: Access) -> str:
    """Load one element of shared memory for each active lane."""
    kind, pointers = f"<{LANES} x {access.element}>", f"<{LANES} x ptr>"
    name = f"llvm.masked.gather.v{LANES}{e.mangle(access.element)}.v{LANES}p0"
    e.text.declare(name, f"declare {kind} @{name}({pointers}, i32, <{LANES} x i1>, {kind})")
    shared = e.warp_value("shared", "ptr")
    places = e.assign(f"getelementptr i8, {shared}, {access.address}")
    lanes = f"{e.active_vector}, {kind} zeroinitializer"
    return e.assign(f"call {kind} @{name}({pointers} {places}, i32 {access.bytes}, {lanes})")


def _masked_load(e: FunctionEmitter, access: Access, pointer: str) -> str:
    kind = f"<{LANES} x {access.element}>"
    name = f"llvm.masked.load.v{LANES}{e.mangle(access.element)}.p0"
    e.text.declare(name, f"declare {kind} @{name}(ptr, i32, <{LANES} x i1>, {kind})")
    arguments = f"ptr {pointer}, i32 {access.bytes}, {e.active_vector}, {kind} zeroinitializer"
    return e.assign(f"call {kind} @{name}({arguments})")


def _strided(e: FunctionEmitter, wide: str, access: Access, number: int) -> str:
    total = LANES * access.count
    picks = ", ".join(f"i32 {lane * access.count + number}" for lane in range(LANES))
    kind = f"<{total} x {access.element}>"
    return e.assign(f"shufflevector {kind} {wide}, {kind} poison, <{LANES} x i32> <{picks}>")


@instruction("st")
def _store(e, item):
    space = space_of(item)
    target, source = item.operands[:2]
    kind = item.modifiers[-1]
    if space == "param":
        store_param(e, item, target, [stored(e, o, kind) for o in elements_of(source)])
        return
    with e.when_active():
        access = Access(e, item, "store", target)
        access.observe()
        if "release" in item.modifiers:  # after stores that pass the caches by, too
            e.line("fence seq_cst")
        if access.moves_rows:
            e.spill_registers(elements_of(source), kind, "data")
            access.move_row("store")
            return
        values = [stored(e, o, kind) for o in elements_of(source)]
        if not e.store_at_once(access, values):
            store = store_with_driver if access.with_driver else _store_values
            access.run("store", store, *values)


def store_with_driver(e: FunctionEmitter, access: Access, *values: Value) -> list[Value]:
    data = e.temporary(access.element, access.count, "data")
    for number, value in enumerate(values):
        value = e.splat(value)
        base = e.assign(f"getelementptr {value.type}, ptr {data}, i64 {number}")
        e.line(f"store {value}, ptr {base}, align 64")
    access.slow("store", data)
    return []


def _store_values(e: FunctionEmitter, access: Access, *values: Value) -> list[Value]:
    vector = f"<{LANES} x {access.element}>"
    possible, place = access.one_place() if access.address.uniform else access.in_a_row()
    fast, slow, end, known = _branch(e, possible)
    e.start(fast, known)
    e.observer.row(access.site, place, access.address.uniform)
    pointer = e.assign(f"inttoptr {place} to ptr")
    if access.address.uniform:
        lane = _last_to_store(e, access)
        _store_of_one(e, access, pointer, [e.extract(value, lane.text) for value in values])
    elif access.count == 1:
        name = f"llvm.masked.store.v{LANES}{e.mangle(access.element)}.p0"
        e.text.declare(name, f"declare void @{name}({vector}, ptr, i32, <{LANES} x i1>)")
        value = e.splat(values[0])
        e.line(f"call void @{name}({value}, ptr {pointer}, i32 {access.bytes}, {e.active_vector})")
    else:
        wide = interleaved(e, access, [e.splat(v) for v in values])
        total = LANES * access.count
        e.line(f"store <{total} x {access.element}> {wide}, ptr {pointer}, align {access.bytes}")
    e.line(f"br label %{end}")
    e.start(slow, known)
    store_with_driver(e, access, *values)
    e.line(f"br label %{end}")
    e.start(end, known)
    return []


def _last_to_store(e: FunctionEmitter, access: Access) -> Value:
    """Return the lane whose value remains if all lanes store to one address."""
    lanes = e.active
    if access.group < LANES:  # the lowest active lane of the last group that has one
        highest = e.op("sub", LANES - 1, e.intrinsic("ctlz", lanes, tail="i1 true"))
        lanes = e.op("and", lanes, e.op("shl", -1, e.op("and", highest, -access.group)))
    return e.intrinsic("cttz", lanes, tail="i1 true")


def stored(e: FunctionEmitter, operand, kind: str) -> Value:
    if isinstance(operand, Immediate) or not isinstance(operand, Register):
        return e.read(operand, kind)
    return e.view(e.load_register(operand), element_of(kind))


def joined(e: FunctionEmitter, pieces: list[str], size: int, element: str) -> str:
    """Concatenate vectors of `size` into one vector."""
    while len(pieces) > 1:
        kind = f"<{size} x {element}>"
        size *= 2
        order = ", ".join(f"i32 {n}" for n in range(size))
        pieces = [
            e.assign(f"shufflevector {kind} {a}, {kind} {b}, <{size} x i32> <{order}>")
            for a, b in zip(pieces[::2], pieces[1::2], strict=True)
        ]
    return pieces[0]


def interleaved(e: FunctionEmitter, access: Access, values: list[Value]) -> str:
    """Interleave component vectors into one vector in memory order."""
    whole = joined(e, [value.text for value in values], LANES, access.element)
    size = LANES * access.count
    kind = f"<{size} x {access.element}>"
    picks = (lane + LANES * number for lane in range(LANES) for number in range(access.count))
    order = ", ".join(f"i32 {n}" for n in picks)
    return e.assign(f"shufflevector {kind} {whole}, {kind} poison, <{size} x i32> <{order}>")
