"""Builds that have most blocks twice: once with a test for each access, once with one for all."""

from __future__ import annotations

from dataclasses import dataclass

from ...ptx.program import Address, Instruction, Register
from ..analysis.flow import Block, registers_of
from ..analysis.found import Found
from ..analysis.proof import Guess, Proof, address_of
from ..analysis.strides import PIECE
from ..emit.function import LANES, Value
from ..emit.module_text import ModuleText
from ..emit.sharing import SharingEmitter
from ..facts.opcodes import Does, does
from ..instructions.memory import Access, interleaved, joined, load_of_one

__all__ = ["ProvingEmitter", "Stretch"]

_LINE_BYTES = 64

_STREAM_BYTES = 8 << 20
"""What fills whole lines of an array this large is stored past the caches: they would first read
each line that is overwritten, and hold little of the array when it is next wanted."""

_NEAR = 1 << 48
"""Pieces that lie further apart are no addresses; sums of nearer ones do not overflow."""


@dataclass(eq=False)
class Stretch:
    """Accesses that lie alike, at constant distances: what one test can tell of."""

    access: Access
    guess: Guess
    base: Value
    offsets: Value
    lowest: int  # distances in bytes
    highest: int


class ProvingEmitter(SharingEmitter):
    """Emits functions that test as little as they can."""

    def __init__(self, text: ModuleText, found: Found):
        super().__init__(text, found)
        self._proven: dict[Instruction, Stretch] = {}
        self.piece = PIECE  # lanes that are looked at together

    # --- barriers ---------------------------------------------------------------------------

    def sync(self, site: int) -> None:
        if self.item not in self.found.ahead.barriers:
            super().sync(site)
            return
        whole = self.compare("icmp eq", self.active, self._now("live", "i32"))
        more = self.op("and", whole, self._is_ahead())
        arrivals = self.op("add", self._now("arrivals", "i64"), self.convert("zext", more, "i64"))
        self.line(f"store {arrivals}, ptr {self.warp_field('arrivals')}")
        with self.when(self.invert(more)):
            self.call_void("sg_arrive", "ptr %w", f"i32 {site}", self.active)

    def emit_instruction(self, item: Instruction) -> None:
        if item in self.found.ahead.waits:
            with self.when(self._is_ahead()):
                self.call_void("sg_catch_up", "ptr %w")
        super().emit_instruction(item)

    def _is_ahead(self) -> Value:
        return self.compare("icmp ne", self._now("ahead", "i32"), 0)

    def _now(self, field: str, element: str) -> Value:
        """A field of the Warp that changes while the kernel runs."""
        return Value(self.assign(f"load {element}, ptr {self.warp_field(field)}"), element, True)

    # --- blocks -----------------------------------------------------------------------------

    def emit_instructions(self, index: int, block: Block) -> None:
        items = block.instructions
        proof = self.found.proofs.get(index) if self.mode.is_fast else None
        if not proof:
            super().emit_instructions(index, block)
            return
        self.piece = PIECE if index in self.found.looping else LANES
        tested, test, proven, done = (self.label() for _ in range(4))
        self.line(f"br label %{test}")
        self.start(tested)
        super().emit_instructions(index, block)
        self.line(f"br label %{done}")
        self.start(test)
        self.again(items)
        holds, stretches = self._prove(proof)
        self.line(f"br {holds}, label %{proven}, label %{tested}, !prof !1")
        self.start(proven)
        some_lanes = self.mask
        self.mask = "-1"
        self.again(items)
        self._proven = stretches
        self.begin_proven()
        super().emit_instructions(index, block)
        self._proven = {}
        self.mask = some_lanes
        self.line(f"br label %{done}")
        self.start(done)

    # --- the test ---------------------------------------------------------------------------

    def _prove(self, proof: Proof) -> tuple[Value, dict[Instruction, Stretch]]:
        """Whether a proof holds, and the stretch of each access; registers are left as they are."""
        slots = [slot for register in proof.changed() for slot in self.slots(register)]
        before = [(self.name(), kind, slot) for slot, kind in slots]
        for value, kind, slot in before:
            self.line_for_slot(slot, f"{value} = load {kind}, ptr {slot}")
        stretches = self._stretches(proof)
        for value, kind, slot in before:
            self.line_for_slot(slot, f"store {kind} {value}, ptr {slot}")
        all_lanes = Value(self.mask, "i32", True)
        holds = self.compare("icmp eq", all_lanes, -1)
        different = list(dict.fromkeys(stretches.values()))
        for more in (*map(self._lies_well, different), *self.also_tested(different)):
            holds = self.op("and", holds, more)
        return holds, stretches

    def also_tested(self, stretches: list[Stretch]) -> list[Value]:
        """Hook: what else has to hold before the code without tests may run."""
        return []

    def begin_proven(self) -> None:
        """Hook: the code without tests begins."""

    def _stretches(self, proof: Proof) -> dict[Instruction, Stretch]:
        """Goes through the steps of a proof, for what they access."""
        found: dict[tuple, Stretch] = {}
        stretches: dict[Instruction, Stretch] = {}
        written: list[str] = []
        for item in proof.steps:
            guess = proof.guesses.get(item)
            if guess is None:
                self.emit_instruction(item)
                written += [register.name for register in registers_of(item)[0]]
                continue
            self.item = item
            address = address_of(item)
            kind = "load" if does(item, Does.READS) else "store"
            access = Access(self, item, kind, Address(address.base, 0))
            age = written.count(getattr(address.base, "name", ""))
            at = address.offset
            key = address.base, age, kind, access.space, access.bytes, at % access.bytes
            if key not in found:
                found[key] = Stretch(access, guess, *access.sum(), at, at)
            stretch = stretches[item] = found[key]
            stretch.lowest, stretch.highest = min(stretch.lowest, at), max(stretch.highest, at)
        return stretches

    def _lies_well(self, stretch: Stretch) -> Value:
        """Whether a stretch is inside its memory, aligned, and as it was guessed."""
        access, offsets = stretch.access, stretch.offsets
        first, gaps = self.pieces(access, stretch.base, offsets)
        begin = self.op("add", first, stretch.lowest)
        size = access.bytes * (self.piece if stretch.guess is Guess.IN_A_ROW else 1)
        past = self.op("add", first, stretch.highest + size)
        if stretch.guess is Guess.ALL_AT_ONE:
            return self.op("and", access.aligned(begin), access.within(begin, past))
        lowest = highest = gaps[0]
        mixed = begin
        for gap in gaps[1:]:
            lowest = self.intrinsic("smin", lowest, gap)
            highest = self.intrinsic("smax", highest, gap)
            mixed = self.op("or", mixed, gap)
        apart = self.op("sub", highest, lowest)
        holds = self.compare("icmp ult", apart, _NEAR)
        holds = self.op("and", holds, self._as_guessed(stretch))
        holds = self.op("and", holds, access.aligned(mixed))
        begin, past = self.op("add", begin, lowest), self.op("add", past, highest)
        return self.op("and", holds, access.within(begin, past))

    def _as_guessed(self, stretch: Stretch) -> Value:
        """Whether the lanes of each piece lie in a row, or at one place."""
        offsets = stretch.offsets
        picks = ", ".join(f"i32 {lane // self.piece * self.piece}" for lane in range(LANES))
        kind = offsets.type
        text = self.assign(f"shufflevector {offsets}, {kind} poison, <{LANES} x i32> <{picks}>")
        away = self.op("sub", offsets, Value(text, offsets.element, False))
        step = stretch.access.bytes if stretch.guess is Guess.IN_A_ROW else 0
        wanted = self.lanes((step * (lane % self.piece) for lane in range(LANES)), offsets.element)
        differ = self.bits(self.compare("icmp ne", away, wanted))
        return self.compare("icmp eq", differ, 0)

    # --- accesses that it stands for --------------------------------------------------------

    def pieces(self, access: Access, base: Value, offsets: Value) -> tuple[Value, list[Value]]:
        """(address of lane 0, how far from it each piece begins), as i64."""
        starts = [self.extract(offsets, str(lane)) for lane in range(0, LANES, self.piece)]
        gaps = [access.widened(self.op("sub", start, starts[0])) for start in starts]
        return access.widened(self.op("add", base, starts[0])), gaps

    def _pointers(self, access: Access) -> list[str]:
        """Where each piece begins."""
        first, gaps = self.pieces(access, *access.sum())
        first = access.host(first)
        places = [self.op("add", first, gap) for gap in gaps]
        return [self.assign(f"inttoptr {place} to ptr") for place in places]

    def expects_scatter(self, access: Access) -> bool:
        base = access.operand and access.operand.base
        if access.space != "shared" or access.count > 1 or access.element not in ("i32", "float"):
            return False
        if not isinstance(base, Register) or not self.mode.is_fast:
            return False
        return self.found.strides[base.name] != access.bytes

    def load_at_once(self, access: Access) -> list[Value] | None:
        stretch = self._proven.get(self.item)
        if stretch is None:
            return None
        self.observer.proven(access, stretch)
        pointers = self._pointers(access)
        if stretch.guess is Guess.ALL_AT_ONE:
            elements = load_of_one(self, access, pointers[0])
            return [Value(text, access.element, True) for text in elements]
        load = self._row if stretch.guess is Guess.IN_A_ROW else self._spread
        pieces = [load(access, pointer) for pointer in pointers]
        return [
            Value(joined(self, list(parts), self.piece, access.element), access.element, False)
            for parts in zip(*pieces, strict=True)
        ]

    def _spread(self, access: Access, pointer: str) -> list[str]:
        """A piece at one place: its elements, each in all lanes of the piece."""
        kind = f"<{self.piece} x {access.element}>"
        spread = []
        for text in load_of_one(self, access, pointer):
            one = self.assign(f"insertelement {kind} poison, {access.element} {text}, i64 0")
            zeros = f"<{self.piece} x i32> zeroinitializer"
            spread.append(self.assign(f"shufflevector {kind} {one}, {kind} poison, {zeros}"))
        return spread

    def _lines(self, access: Access, pointer: str) -> tuple[str, int, list[str]]:
        """How to access a piece in a row: (word for the order, elements of one access, places).

        Streams through global memory go line by line: other orders take up to twice as long."""
        size, whole = access.element_bytes, self.piece * access.count
        if access.space != "global" or self.piece < LANES or size * whole <= _LINE_BYTES:
            return access.untorn, whole, [pointer]
        line = _LINE_BYTES // size
        places = [
            self.assign(f"getelementptr i8, ptr {pointer}, i64 {first * size}")
            for first in range(0, whole, line)
        ]
        return "volatile ", line, places

    def _row(self, access: Access, pointer: str) -> list[str]:
        """A piece in a row: each element of its lanes."""
        kind = f"<{self.piece * access.count} x {access.element}>"
        order, size, lines = self._lines(access, pointer)
        line = f"{order}<{size} x {access.element}>"
        parts = [self.assign(f"load {line}, ptr {at}, align {access.bytes}") for at in lines]
        wide = joined(self, parts, size, access.element)
        if len(lines) > 1:  # LLVM then sees that what is taken apart is only put together again
            wide = self.assign(f"freeze {kind} {wide}")
        if access.count == 1:
            return [wide]
        rows = []
        for number in range(access.count):
            picks = ", ".join(f"i32 {lane * access.count + number}" for lane in range(self.piece))
            picks = f"<{self.piece} x i32> <{picks}>"
            rows.append(self.assign(f"shufflevector {kind} {wide}, {kind} poison, {picks}"))
        return rows

    def store_at_once(self, access: Access, values: list[Value]) -> bool:
        stretch = self._proven.get(self.item)
        if stretch is None:
            return False
        self.observer.proven(access, stretch)
        pointers = self._pointers(access)
        stores = self._stores(access, values, pointers)
        if not self._may_stream(access):
            self._store_all(stores, access.bytes)
            return True
        with self.when(self._streams(stretch, *pointers)) as otherwise:
            self._store_all(stores, _LINE_BYTES, ", !nontemporal !2")
            otherwise()
            self._store_all(stores, access.bytes)
        return True

    def _may_stream(self, access: Access) -> bool:
        """Whether a store fills lines of global memory, once, that its block does not read."""
        place = address_of(self.item).base
        is_read = any(
            does(item, Does.READS) and address_of(item).base == place for item in self._proven
        )
        whole = LANES * access.bytes % _LINE_BYTES == 0
        return access.space == "global" and whole and self.piece == LANES and not is_read

    def _streams(self, stretch: Stretch, pointer: str) -> Value:
        """Whether a store begins where a line does, in an array that the caches cannot hold."""
        begin, end = stretch.access.reachable()
        large = self.compare("icmp uge", self.op("sub", end, begin), _STREAM_BYTES)
        at = Value(self.assign(f"ptrtoint ptr {pointer} to i64"), "i64", True)
        low = self.op("and", at, _LINE_BYTES - 1)
        return self.op("and", large, self.compare("icmp eq", low, 0))

    def _stores(self, access: Access, values: list[Value], pointers: list[str]) -> list[str]:
        """What stores the values of all lanes, without the alignment.

        The pieces come in an order in which the right lane's value stays where they overlap."""
        wide = interleaved(self, access, [self.splat(value) for value in values])
        kind, turned = f"<{LANES * access.count} x {access.element}>", access.group // self.piece
        stores = []
        for piece in (number ^ max(turned - 1, 0) for number in range(len(pointers))):
            first = piece * self.piece * access.count
            order, size, lines = self._lines(access, pointers[piece])
            for at in lines:
                picks = ", ".join(f"i32 {first + n}" for n in range(size))
                part = f"shufflevector {kind} {wide}, {kind} poison, <{size} x i32> <{picks}>"
                line = f"<{size} x {access.element}> {self.assign(part)}"
                stores.append(f"store {order}{line}, ptr {at}")
                first += size
        return stores

    def _store_all(self, stores: list[str], align: int, hint: str = "") -> None:
        for store in stores:
            self.line(f"{store}, align {align}{hint}")
