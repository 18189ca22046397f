"""Loads, stores, atomics and everything else about addresses.

An access takes the fast path, inline, where the active lanes' addresses follow each other, aligned,
within the allocation that this instruction hit the last time; else driver/run/access.c does it,
lane by lane, checks every lane and reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce

from ... import contract
from ...ptx.program import Address, Immediate, Register, Vector
from ..emit.addresses import operand_address, operand_sum, shared_address
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from ..facts.opcodes import ORDERED
from ..facts.processor import LOADS_IN_ORDER
from ..facts.types import bits_of, element_of, is_signed, vector_size

_SPACES = ("global", "shared", "local", "const", "param")

_CLUSTER = contract.values("ClusterAddress")
_OFFSET = (1 << _CLUSTER["cluster_rank_bit"]) - 1

_ONE_PIECE = 16
"""Bytes that the hardware reads and writes at once, if they are one lane's and aligned."""


def space_of(item) -> str:
    """The state space of an access; `shared::cta` is shared, `shared::cluster` is cluster."""
    return next((space for m in item.modifiers if (space := space_named(m))), "generic")


def space_named(modifier: str) -> str:
    """The state space that a modifier names, or nothing."""
    space, _, whose = modifier.partition("::")
    if space not in _SPACES:
        return ""
    return "cluster" if whose == "cluster" else space


def _pointer_value(e: FunctionEmitter, field: str) -> Value:
    """A pointer field of the Warp as an i64."""
    return Value(e.assign(f"ptrtoint {e.warp_value(field, 'ptr')} to i64"), "i64", True)


def _own_address(e: FunctionEmitter, operand: Address, space: str) -> Value:
    """Addresses of an access in its own space: offsets in shared memory, else host addresses."""
    if space == "shared":
        return shared_address(e, operand)
    if space == "cluster":
        return _in_cluster(e, operand_address(e, operand, "i32"))
    address = operand_address(e, operand)
    return e.op("add", _local_base(e), address) if space == "local" else address


def _in_cluster(e: FunctionEmitter, address: Value) -> Value:
    """Addresses of 32 bits, in any block of the cluster, as host addresses: see ClusterAddress."""
    return e.op("add", _pointer_value(e, "cluster_shared"), e.resize(address, "i64"))


def in_block(e: FunctionEmitter, rank: Value, address: Value) -> Value:
    """Host addresses of a block's shared memory as those of the same places in another's."""
    window = e.op("shl", e.resize(rank, "i64"), _CLUSTER["cluster_rank_bit"])
    offset = e.op("and", address, _OFFSET)
    return e.op("add", _pointer_value(e, "cluster_shared"), e.op("or", window, offset))


def rank_of(e: FunctionEmitter, address: Value) -> Value:
    """In which block of the cluster host addresses lie, by its rank."""
    past = e.op("sub", address, _pointer_value(e, "cluster_shared"))
    return e.op("lshr", past, _CLUSTER["cluster_rank_bit"])


def _to_host(e: FunctionEmitter, address: Value, space: str) -> Value:
    """Addresses in their own space as host addresses (i64)."""
    if space != "shared":
        return address
    return e.op("add", e.resize(address, "i64"), _pointer_value(e, "shared"))


def host_address(e: FunctionEmitter, operand: Address, space: str) -> Value:
    return _to_host(e, _own_address(e, operand, space), space)


def _local_base(e: FunctionEmitter) -> Value:
    """Where each lane's local memory begins."""
    stride = e.warp_value("local_stride", "i64")
    own = e.op("mul", e.lanes(range(LANES), "i64"), stride)
    return e.op("add", _pointer_value(e, "local"), own)


class Access:
    """What ld and st have in common: the site, the addresses, the tests for the fast paths."""

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
        self.address = _own_address(e, operand, self.space)
        self.operand: Address | None = operand  # None: in a routine, which knows addresses only

    def _order(self, kind: str, modifiers: set[str]) -> str:
        """LLVM's word for a lane's access that other threads see whole or not at all.

        Empty: nobody else is there, or LLVM leaves it whole in any case."""
        if self.space not in ("global", "generic") or "nc" in modifiers:
            return ""
        if ORDERED & modifiers:
            return "monotonic"
        return "" if kind == "load" and self.bytes == self.element_bytes <= 8 else "unordered"

    @property
    def untorn(self) -> str:
        """LLVM's word for an access of a row of lanes that leaves each lane's part whole.

        Else LLVM may load a part twice, and take a lane's elements from both."""
        return "volatile " if self.order else ""

    def pieces(self, pointer: str):
        """(pointer, elements) of what one lane accesses at once."""
        count = min(self.count, max(_ONE_PIECE // self.element_bytes, 1)) if self.order else 1
        for first in range(0, self.count, count):
            offset = first * self.element_bytes
            yield self.e.assign(f"getelementptr i8, ptr {pointer}, i64 {offset}"), count

    @property
    def with_driver(self) -> bool:
        """Whether the driver does it in any case: LLVM takes vectors of 128-bit numbers apart."""
        return self.e.mode.by_driver or (self.element == "i128" and not self.address.uniform)

    @property
    def moves_rows(self) -> bool:
        """Whether registers are moved to where the driver has a vector's lanes, or from there."""
        return self.with_driver and self.count > 1 and not self.address.uniform

    def move_row(self, helper: str) -> str:
        """Leave the access to the driver; where the lanes are, as an argument of a call."""

        def moved(e, access, room: Value) -> list[Value]:
            access.slow(helper, room.text)
            return []

        room = self.e.temporary(self.element, self.count, "data")
        self.run(f"{helper}.row", moved, Value(room, "ptr", True))
        return f"ptr {room}"

    @property
    def group(self) -> int:
        """How many lanes are stored together, as in driver/run/access.c: of each group, the lowest
        lane's value stays."""
        return min(max(128 // self.bytes, 8), LANES)

    def observe(self) -> None:
        """Let the instrumented builds see it."""
        self.e.observe(self.site, _to_host(self.e, self.address, self.space))

    def _inside(self, first: Value, past: Value) -> Value:
        """Whether [first, past) (i64) is where the fast path may go, and first is aligned."""
        return self.e.op("and", self.aligned(first), self.within(first, past))

    def aligned(self, address: Value) -> Value:
        e = self.e
        low = e.op("and", address, self.bytes - 1)
        return e.compare("icmp eq", low, 0)

    def within(self, first: Value, past: Value) -> Value:
        """Whether [first, past) (i64) is memory that this site may reach without the driver."""
        e = self.e
        if self.space == "shared":  # what is below zero is, without a sign, far above the end
            end = e.resize(e.warp_value("shared_bytes", "i32"), "i64")
            enough = e.compare("icmp ule", first, end)
            return e.op("and", enough, e.compare("icmp ule", past, end))
        begin, end = self.reachable()
        enough = e.compare("icmp uge", first, begin)
        return e.op("and", enough, e.compare("icmp ule", past, end))

    def reachable(self) -> tuple[Value, Value]:
        """(begin, end) of the allocation that this site last hit."""
        e = self.e
        table = e.warp_value("sites", "ptr")
        ends = []
        for field in (0, 1):
            place = e.assign(f"getelementptr [2 x i64], {table}, i32 {self.site_text}, i32 {field}")
            ends.append(Value(e.assign(f"load i64, ptr {place}"), "i64", True))
        return ends[0], ends[1]

    def one_place(self) -> tuple[Value, Value]:
        """(fast path possible, host address) where all lanes share one address."""
        e = self.e
        first = e.resize(self.address, "i64")
        past = e.op("add", first, self.bytes)
        return self._inside(first, past), _to_host(e, self.address, self.space)

    def sum(self) -> tuple[Value, Value]:
        """The addresses as (base, offsets), of which only the base moves in most loops."""
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
        """(fast path possible, host address of lane 0's element, were it active)."""
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
        """Whether all active lanes are aligned, and inside of shared memory."""
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
        """An address as an i64; in shared memory, that of an inactive lane 0 may be below zero."""
        return self.e.resize(address, "i64", self.space == "shared")

    def host(self, address: Value) -> Value:
        """An address, widened, as a host address."""
        shared = self.space == "shared"
        return self.e.op("add", address, _pointer_value(self.e, "shared")) if shared else address

    def _start_of_lowest(self, start: Value, active: Value, lowest: Value) -> Value:
        """start[lowest] or, as good where all lanes have computed their addresses, start[0]."""
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
        """What `body(e, self, *values)` gives, which short code has once for all like it."""

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
        where = e.spill(_to_host(e, self.address, self.space), "addresses")
        given = f"i32 {self.site_text}", f"ptr {where}", str(e.active), f"ptr {data}"
        e.call_checked("void", helper, "ptr %w", *given)


def _destinations(operand) -> tuple:
    return operand.elements if isinstance(operand, Vector) else (operand,)


@instruction("ld", "ldu")
def _load(e, item):
    space = space_of(item)
    operand = item.operands[1]
    if space == "param" and _load_param(e, item, operand):
        return
    with e.when_active():
        access = Access(e, item, "load", operand)
        access.observe()
        _load_into(e, access, _destinations(item.operands[0]))
        if access.order == "monotonic" and not LOADS_IN_ORDER:  # what is read next is no older
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
    """Three labels, and what is known at each: no way of an access writes registers."""
    fast, slow, done = e.label(), e.label(), e.label()
    e.line(f"br {condition}, label %{fast}, label %{slow}, !prof !1")
    return fast, slow, done, e.known()


def _load_with_driver(e: FunctionEmitter, access: Access) -> list[Value]:
    """What the driver loads, which checks every lane: of one lane where all share an address."""
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
    """The elements of one lane's access."""
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
    e.observe_row(access.site, place, True)
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
    e.observe_row(access.site, place, False)
    ways = [(_load_row(e, access, place), e.here)]
    e.line(f"br label %{done}")
    e.start(slow, known)
    if e.expects_scatter(access):
        fast, slow, *_ = _branch(e, access.anywhere())
        e.start(fast, known)
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
    """One element of shared memory for each active lane."""
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
        _store_param(e, item, target, [_stored(e, o, kind) for o in _destinations(source)])
        return
    with e.when_active():
        access = Access(e, item, "store", target)
        access.observe()
        if "release" in item.modifiers:  # after stores that pass the caches by, too
            e.line("fence seq_cst")
        if access.moves_rows:
            e.spill_registers(_destinations(source), kind, "data")
            access.move_row("store")
            return
        values = [_stored(e, o, kind) for o in _destinations(source)]
        if not e.store_at_once(access, values):
            store = _store_with_driver if access.with_driver else _store_values
            access.run("store", store, *values)


def _store_with_driver(e: FunctionEmitter, access: Access, *values: Value) -> list[Value]:
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
    e.observe_row(access.site, place, access.address.uniform)
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
    _store_with_driver(e, access, *values)
    e.line(f"br label %{end}")
    e.start(end, known)
    return []


def _last_to_store(e: FunctionEmitter, access: Access) -> Value:
    """The lane whose value stays where all store to one address."""
    lanes = e.active
    if access.group < LANES:  # of the last group with active lanes, the lowest one
        highest = e.op("sub", LANES - 1, e.intrinsic("ctlz", lanes, tail="i1 true"))
        lanes = e.op("and", lanes, e.op("shl", -1, e.op("and", highest, -access.group)))
    return e.intrinsic("cttz", lanes, tail="i1 true")


def _stored(e: FunctionEmitter, operand, kind: str) -> Value:
    if isinstance(operand, Immediate) or not isinstance(operand, Register):
        return e.read(operand, kind)
    return e.view(e.load_register(operand), element_of(kind))


def joined(e: FunctionEmitter, pieces: list[str], size: int, element: str) -> str:
    """Vectors of `size` one after the other in one vector."""
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
    """Component vectors as one vector in memory order."""
    whole = joined(e, [value.text for value in values], LANES, access.element)
    size = LANES * access.count
    kind = f"<{size} x {access.element}>"
    picks = (lane + LANES * number for lane in range(LANES) for number in range(access.count))
    order = ", ".join(f"i32 {n}" for n in picks)
    return e.assign(f"shufflevector {kind} {whole}, {kind} poison, <{size} x i32> <{order}>")


# --- parameters ----------------------------------------------------------------------------------


def _load_param(e: FunctionEmitter, item, operand: Address) -> bool:
    """ld.param of a named parameter; False where the address is in a register."""
    if not isinstance(operand.base, str):
        return False
    kind = item.modifiers[-1]
    signed = is_signed(kind)
    step = _parameter_step(e, item, operand.base, operand.offset)
    words = e.parameter_words(operand.base)
    for number, destination in enumerate(_destinations(item.operands[0])):
        offset = operand.offset + number * step
        if words is not None:
            value = _read_words(e, words, offset, element_of(kind))
        else:
            base = e.layout.place(e.function.name, operand.base)[1]
            params = e.warp_value("params", "ptr")
            at = e.assign(f"getelementptr i8, {params}, i64 {base + offset}")
            text = e.assign(f"load {element_of(kind)}, ptr {at}, align {step}, !invariant.load !0")
            value = Value(text, element_of(kind), True)
        e.write(destination, value, signed)
    return True


def _parameter_step(e: FunctionEmitter, item, name: str, offset: int) -> int:
    """Bytes of each element of an access to a parameter, which has to lie inside it."""
    step = bits_of(item.modifiers[-1]) // 8
    past = offset + step * vector_size(item)
    if offset < 0 or past > e.parameter_bytes(name) or offset % step:
        raise e.refusal(item, f"{name} has no such place")
    return step


def read_word(e: FunctionEmitter, words: str, index: int) -> tuple[str, Value]:
    """(place, value) of one word of a parameter of a device function."""
    at = e.assign(f"getelementptr <{LANES} x i32>, ptr {words}, i64 {index}")
    return at, Value(e.assign(f"load <{LANES} x i32>, ptr {at}, align 64"), "i32", False)


def _read_words(e: FunctionEmitter, words: str, offset: int, element: str) -> Value:
    """A value out of a parameter kept as 4-byte words, each a vector of lanes."""
    whole = e.integer(Value("undef", element, True)).element if element[0] != "i" else element
    bits = int(whole[1:])
    _, low = read_word(e, words, offset // 4)
    if bits <= 32:
        if offset % 4:
            low = e.op("lshr", low, 8 * (offset % 4))
        return e.view(low, element)
    total = e.resize(low, whole)
    for place in range(1, bits // 32):
        _, more = read_word(e, words, offset // 4 + place)
        raised = e.op("shl", e.resize(more, whole), 32 * place)
        total = e.op("or", total, raised)
    return e.view(total, element)


def _store_param(e: FunctionEmitter, item, target: Address, values: list[Value]) -> None:
    """st.param to a parameter of a call, or to this function's result."""
    if not isinstance(target.base, str) or not (words := e.parameter_words(target.base)):
        raise e.refusal(item, f"{target.base} cannot be written")
    step = _parameter_step(e, item, target.base, target.offset)
    for number, value in enumerate(values):
        whole = e.splat(e.integer(value))
        offset = target.offset + number * step
        bits = 8 * step
        for place in range(max(bits // 32, 1)):
            at, old = read_word(e, words, offset // 4 + place)
            if bits >= 32:
                new = e.resize(e.op("lshr", whole, 32 * place), "i32")
            else:
                shift = 8 * (offset % 4)
                kept = e.op("and", old, ~(((1 << bits) - 1) << shift))
                new = e.op("or", kept, e.op("shl", e.resize(whole, "i32"), shift))
            e.line(f"store {e.select(e.active_vector, new, old)}, ptr {at}, align 64")


# --- atomics -------------------------------------------------------------------------------------

OPERATIONS = contract.values("Operation", "OP_")
TYPES = contract.values("Type", "TY_")


def _operation(item) -> str:
    return next(m for m in item.modifiers if m in OPERATIONS)


@instruction("atom", "red")
def _atomic(e, item):
    space = space_of(item)
    kind = item.modifiers[-1]
    operation = _operation(item)
    if kind not in TYPES:
        raise e.refusal(item)
    has_result = item.opcode == "atom"
    destination = item.operands[0] if has_result else None
    operand, *sources = item.operands[1 if has_result else 0 :]
    if "L2::cache_hint" in item.modifiers:
        sources.pop()
    size = bits_of(kind) // 8
    with e.when_active():
        # Nsight counts an atomic whose result nobody reads as a reduction, as ptxas makes it one
        results = _destinations(destination) if has_result else ()
        used = any(r is not None and r.name in e.found.read_somewhere for r in results)
        is_red = not used and operation not in ("exch", "cas")
        site = e.site(item, "red" if is_red else "atomic", space, size)
        address = host_address(e, operand, space)
        e.observe(site, address)
        element = element_of(kind)
        parts = [_destinations(source) for source in sources]
        for place in range(vector_size(item)):  # a vector is that many atomics of its elements
            out = e.temporary(element, 1, "result") if used else "null"
            pointers = e.spill_all(*(_stored(e, part[place], kind) for part in parts))
            pointers += ["ptr null"] * (2 - len(pointers))
            own = e.op("add", address, place * size) if place else address
            where = f"ptr {e.spill(own, 'addresses')}"
            lanes = e.active
            arguments = (*_leading(item, site), where, lanes, *pointers, f"ptr {out}")
            e.call_checked("void", "atomic", *arguments)
            if used:
                e.write(_destinations(destination)[place], e.unspill(out, element))


def _leading(item, site: int) -> tuple[str, ...]:
    """What the driver's function takes first: the warp, the site, what is done to which type."""
    which = OPERATIONS[_operation(item)], TYPES[item.modifiers[-1]]
    return "ptr %w", f"i32 {site}", *(f"i32 {number}" for number in which)


def store_later(e: FunctionEmitter, item) -> int:
    """What st.async and red.async do to their places, at once; how many bytes a lane stores."""
    place, given, _mbarrier = item.operands
    kind = item.modifiers[-1]
    values = [_stored(e, o, kind) for o in _destinations(given)]
    access = Access(e, item, "red" if item.opcode == "red" else "store", place)
    access.observe()
    if item.opcode == "st":
        _store_with_driver(e, access, *values)
        return access.bytes
    where = f"ptr {e.spill(_to_host(e, access.address, access.space), 'addresses')}"
    pointers = f"ptr {e.spill(values[0])}", "ptr null", "ptr null"
    e.call_checked("void", "atomic", *_leading(item, access.site), where, str(e.active), *pointers)
    return access.bytes


# --- addresses, fences, hints --------------------------------------------------------------------


@instruction("cvta")
def _cvta(e, item):
    space = space_of(item)
    value = e.read(item.operands[1], item.modifiers[-1])
    if space in ("shared", "cluster", "local"):
        base = _local_base(e) if space == "local" else _pointer_value(e, "cluster_shared")
        value = e.op("sub" if "to" in item.modifiers else "add", e.resize(value, "i64"), base)
    e.write(item.operands[0], e.resize(value, element_of(item.modifiers[-1])))


@instruction("mapa")
def _mapa(e, item):
    """The place in another block of the cluster that an address is of in this one."""
    result, address, rank = item.operands
    kind = item.modifiers[-1]
    ranks = e.read(rank, "u32")
    if space_of(item) == "cluster":
        offset = e.op("and", e.resize(e.read(address, kind), "i32"), _OFFSET)
        windows = e.op("shl", ranks, _CLUSTER["cluster_rank_bit"])
        e.write(result, e.resize(e.op("or", windows, offset), element_of(kind)))
        return
    e.write(result, in_block(e, ranks, e.read(address, "u64")))


@instruction("getctarank")
def _getctarank(e, item):
    result, address = item.operands
    host = e.read(address, item.modifiers[-1])
    if space_of(item) == "cluster":
        host = _in_cluster(e, e.resize(host, "i32"))
    e.write(result, e.resize(rank_of(e, host), "i32"))


@instruction("isspacep")
def _isspacep(e, item):
    space = space_of(item)
    address = e.read(item.operands[1], "u64")

    def within(base: Value, size: int) -> Value:
        return e.compare("icmp ult", e.op("sub", address, base), size)

    def window(space: str) -> Value:
        if space in ("shared", "local"):  # of all lanes: theirs follow lane 0's, within the window
            return within(_pointer_value(e, space), _CLUSTER["cluster_step"])
        if space == "cluster":
            return within(_pointer_value(e, "cluster_shared"), 1 << 32)
        start, size = e.layout.image.constants
        return within(e.op("add", _pointer_value(e, "module"), start), size)

    if space == "global":
        elsewhere = reduce(partial(e.op, "or"), map(window, ("cluster", "local", "const")))
        e.write(item.operands[0], e.invert(elsewhere))
    elif space in ("shared", "cluster", "local", "const"):
        e.write(item.operands[0], window(space))
    else:
        e.write(item.operands[0], e.constant(0, "i1"))


@instruction("membar", "fence")
def _fence(e, item):
    modifiers = set(item.modifiers)
    known = {"async", "alias", "async::generic", "tensormap::generic"}
    if "proxy" in modifiers and not known & modifiers:
        raise e.refusal(item)
    if "async" in modifiers and "global" not in modifiers or "alias" in modifiers:
        e.observe_proxy_fence()
    else:
        e.observe_fence()
    if "mbarrier_init" in modifiers:
        e.observe_mbarriers_shown()
    e.line("fence seq_cst")


@instruction("createpolicy")
def _createpolicy(e, item):
    """A number for loads and stores with .L2::cache_hint, which have no cache here to steer."""
    e.write(item.operands[0], e.constant(0, "i64"))


@instruction(
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "nanosleep",
    "pmevent",
    "griddepcontrol",
    "setmaxnreg",
)  # the last: launches follow each other whole, so there is nothing to wait for
def _no_effect(e, item):
    if item.opcode == "nanosleep":
        e.call_void("sg_yield", "ptr %w", "i32 0")
