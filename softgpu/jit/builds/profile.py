"""The build that counts what an H200's counters would say; with driver/count/profile.c.

Counters, in this order: instructions done by each warp of the block, then wherever they are first
needed the counts of each site (as in that file) and three of each basic block, which here ends at a
call, too: how often a warp ran it, how many lanes were missing, and how often one test for all of
its accesses held. The notes say where each is: "sites" and "blocks"; "proven" is what follows from
the third; "exchanges" are what warps do in each block beside that; "callers" are of lines in other
files. Both tiers have the same counters, as a report may read the notes of the other one.

Terms: basic-block profiling (Ball, Larus 1994; docs/terms.md).
"""

from __future__ import annotations

from functools import reduce

from ... import contract
from ...ptx.program import Immediate, Instruction
from ..analysis.found import Found
from ..analysis.proof import Guess
from ..emit.function import LANES, Value
from ..emit.module_text import ModuleText
from ..emit.observer import Observer
from ..facts.opcodes import Trait, has
from ..instructions.memory import Access
from ..instructions.spaces import to_host
from .proven import ProvingEmitter, Stretch

__all__ = ["SITE_COUNTERS", "ProfiledEmitter"]

SITE_COUNTERS = contract.names("Counter", "COUNT_")
_TENSOR = contract.values("TensorCounter", "COUNT_")
_As = contract.flags("AtomicForm", "AS_")
_KINDS = contract.values("SiteKind", "SITE_")
_EXCHANGES = {"shfl": "shuffles", "redux": "shuffles"}
_EXCHANGES |= dict.fromkeys(("vote", "match", "activemask"), "votes")
_WORD, _BANKS = 4, 128  # bytes
_WATCHED = Value("%watched", "i1", True)  # whether the block is the one that pictures show


def _atomic_in_machine_code(
    item: Instruction, kind: str, one_address: bool, one_value: bool
) -> int:
    """What ptxas makes of an atomic on sm_90, as flags.

    Lanes that add to one address are added up first, and one lane goes to memory; so are the
    least, the greatest, and bits, where nobody asks for the old value. A shared-memory atomic that
    the hardware does not have is a loop around a compare-and-swap.
    """
    operation = next(m for m in item.modifiers if m in _LOOPS_OF)
    type_, shared = (
        item.modifiers[-1],
        "shared" in item.modifiers or "shared::cta" in item.modifiers,
    )
    bits = int("".join(c for c in type_.split("x")[0] if c.isdigit()))
    whole = type_[0] in "usb" and type_[:2] != "bf"
    how = 0
    if one_address and whole:
        if operation == "add" and (bits == 32 or one_value):
            how |= _As.one_lane if kind == "red" or one_value else _As.one_lane_if_full
        elif operation in _GATHERED and bits == 32 and kind == "red":
            how |= _As.one_lane
    if bits == 16 and "x2" not in type_:
        how |= _As.loop_cas_half | _As.loop_half if operation == "cas" else _As.loop_half
    elif shared and (type_[0] == "f" or type_[:2] == "bf" or bits == 64):
        how |= _LOOPS_OF[operation]
        if how & (_As.loop_min | _As.loop_max) and type_[0] == "s":
            how |= _As.loop_signed
    return how


_GATHERED = ("min", "max", "and", "or", "xor")
_LOOPS_OF = dict.fromkeys("add and or xor".split(), _As.loop)
_LOOPS_OF |= {"min": _As.loop | _As.loop_min, "max": _As.loop | _As.loop_max}
_LOOPS_OF |= dict.fromkeys("inc dec exch cas".split(), 0)


class Counter(Observer):
    """Counts what happens."""

    def __init__(self, e: ProfiledEmitter):
        self.e = e

    def row(self, site: int, first: Value, one_place: bool) -> None:
        known = self.e.text.sites[site]
        if known.space in ("const", "param"):
            return
        step = 0 if one_place else known.bytes
        lanes = self.e.active.text
        merged = self.e.found.merged.get(self.e.item)
        if merged:
            if merged.bytes:
                self.e.say_work()
                start = f"i32 {step}", f"i32 {lanes}", f"i32 {merged.delta}", f"i32 {merged.bytes}"
                pointer = self.e.site_pointer(site)
                self.e.call_void(
                    "sg_profile_wide_row", "ptr %w", pointer, f"i32 {site}", str(first), *start
                )
            return
        row = str(first), f"i32 {step}", f"i32 {lanes}"
        call = ("sg_profile_row", "ptr %w", self.e.site_pointer(site), f"i32 {site}", *row)
        whole = known.bytes > (8 if one_place else 4)  # wavefronts depend on which lanes take part
        if known.space == "global" and not (whole and one_place):
            all_lanes = self.e.compare("icmp eq", self.e.active, -1)
            usual = self.e.op("and", all_lanes, self.e.invert(_WATCHED))
            with self.e.when(usual) as otherwise:
                self._note(site, first, known.bytes if one_place else LANES * known.bytes)
                otherwise()
                self.e.say_work()
                self.e.call_void(*call)
            return
        if known.space != "shared" or (whole and one_place):
            self.e.say_work()
            self.e.call_void(*call)
            return
        elsewhere = _WATCHED
        if whole:
            elsewhere = self.e.op("or", _WATCHED, self.e.compare("icmp ne", self.e.active, -1))
        with self.e.when(elsewhere) as otherwise:
            self.e.say_work()
            self.e.call_void(*call)
            otherwise()
            base = self.e.of_site(site)
            self.e.increase(base + SITE_COUNTERS.index("shared"), "1")
            self.e.increase(
                base + SITE_COUNTERS.index("wavefronts"), str(known.bytes // 4 if whole else 1)
            )

    def scattered(self, site: int, address: Value) -> None:
        self.e.say_work()
        self.lanes(site, f"ptr {self.e.spill(address, 'addresses')}", self.e.active)

    def lanes(self, site: int, addresses: str, lanes: str | Value) -> None:
        """Some lanes access memory each at an address of its own."""
        where = "ptr %w", self.e.site_pointer(site), f"i32 {site}", addresses, lanes
        merged = self.e.found.merged.get(self.e.item)
        if not merged:
            self.e.call_void("sg_profile_lanes", *where)
        elif merged.bytes:
            wide = f"i32 {merged.delta}", f"i32 {merged.bytes}"
            self.e.call_void("sg_profile_wide", *where, *wide)

    def proven(self, access: Access, stretch: Stretch) -> None:
        merged = self.e.found.merged.get(self.e.item)
        in_a_row = stretch.guess is Guess.IN_A_ROW
        if access.space == "const" or (merged and not merged.bytes):
            return
        if merged and in_a_row:
            self._scattered(access)
            return
        first, gaps = self.e.pieces(access, *access.sum())
        if access.space == "shared":
            self._shared(access.site, merged.bytes if merged else access.bytes, in_a_row, gaps)
            return
        with self.e.when(self.e.together(gaps, access.bytes * in_a_row)) as otherwise:
            self.row(access.site, access.host(first), not in_a_row)
            otherwise()
            self._scattered(access)

    def _scattered(self, access: Access) -> None:
        self.scattered(access.site, to_host(self.e, access.address, access.space))

    def _note(self, site: int, first: Value, size: int) -> None:
        """Of global memory, all lanes access `size` bytes in a row."""
        row = self.e.assign("load ptr, ptr %rows")
        at = self.e.resize(Value(self.e.assign("load i64, ptr %work"), "i64", True), "i32")
        warp = self.e.resize(Value("%warp.id", "i32", True), "i8")
        kind = _KINDS[self.e.text.sites[site].kind]
        counter = self.e.of_site(site)
        fields = {"first": first, "at": at, "site": f"i32 {site}", "counter": f"i32 {counter}"}
        fields |= {"warp": warp, "kind": f"i8 {kind}", "bytes": f"i16 {size}"}
        for name, value in fields.items():
            place = self.e.assign(
                f"getelementptr i8, ptr {row}, i64 {contract.ffi.offsetof('Row', name)}"
            )
            self.e.line(f"store {value}, ptr {place}")
        after = self.e.assign(f"getelementptr i8, ptr {row}, i64 {contract.ffi.sizeof('Row')}")
        self.e.line(f"store ptr {after}, ptr %rows")
        end = self.e.assign("load ptr, ptr %rows.end")
        full = self.e.assign(f"icmp eq ptr {after}, {end}")
        with self.e.when(Value(full, "i1", True)):
            self.e.call_void("sg_profile_noted", "ptr %w")

    def _shared(self, site: int, bytes: int, in_a_row: bool, gaps: list[Value]) -> None:
        """All lanes access shared memory, in pieces that do not meet halfway."""
        size = _lanes_at_once(bytes, in_a_row) // self.e.piece
        groups = [gaps[n : n + size] for n in range(0, len(gaps), size)] if size > 1 else []
        first, least = self.e.of_site(site), LANES // _lanes_at_once(bytes, in_a_row)
        for counter, amount in ("shared", 1), ("wavefronts", least):
            self.e.as_proven(first + SITE_COUNTERS.index(counter), amount)
        for group in groups:
            more = self.e.conflicts(group).text
            for counter in ("wavefronts", "conflicts"):
                self.e.increase(first + SITE_COUNTERS.index(counter), more)

    def access(self, site: int, address: Value) -> None:
        if self.e.item.opcode == "cp" and self.e.text.sites[site].kind == "load":
            self.e.copied_from = address

    def call(self, before: bool) -> None:
        if before:
            self.e.say_work()
        else:
            self.e.line(f"store i64 {self.e.assign('load i64, ptr %done')}, ptr %work")

    def shuffle(self, site: int, members, mode: int, b, c) -> None:
        with self.e.when(_WATCHED):
            self.e.say_work()
            lanes = self.e.spill_all(self.e.read(b, "u32"), self.e.read(c, "u32"))
            where = f"i32 {site}", f"i32 {mode}"
            self.e.call_void("sg_profile_shuffle", "ptr %w", *where, *lanes, self.e.active)

    def product(self, site: int, pipe: str, count: int) -> None:
        base = self.e.of_site(site)
        self.e.increase(base + _TENSOR[pipe], str(count))

    def barrier(self, site: int, number: str, threads: str, waits: bool) -> None:
        self.e.say_work(but=self.e.after.get(self.e.item, 0))
        numbers = (self.e.of_site(site), site, number, self.e.active.text)
        self.e.call_void("sg_profile_barrier", "ptr %w", *(f"i32 {n}" for n in numbers))


def _lanes_at_once(bytes: int, in_a_row: bool) -> int:
    """How many of all lanes share a wavefront if no banks conflict; else they are at one place, or
    pieces of them are."""
    return LANES if bytes <= _WORD else min(LANES * _WORD // bytes * (2 - in_a_row), LANES)


class ProfiledEmitter(ProvingEmitter):
    """Emits functions that count what they do."""

    def __init__(self, text: ModuleText, found: Found):
        super().__init__(text, found)
        self.observer = self.counter = Counter(self)
        self._line = self.function.source
        self.copied_from: Value  # by the cp.async at hand
        self._proven_runs: int  # the counter of the block at hand
        self._proven_amounts: list[list[int]]  # what follows from it
        self.notes = text.notes
        self.notes.setdefault("counters", contract.DEVICE["block_threads"] // contract.LANES)
        self.notes.setdefault("sites", [])
        self.notes.setdefault("site_tokens", {})  # of their instructions
        self.notes.setdefault("proven", [])  # [counter, [another, how much for each of the first]]
        self.notes.setdefault("blocks", [])
        self.notes.setdefault("exchanges", [])
        self.notes.setdefault("callers", [])  # [file, line, the file and line that called it]
        self.notes.setdefault("tokens", [])  # of each block's instructions, as their line is known
        self.notes.setdefault("atoms", [])  # sites that Nsight Compute counts as op_atom
        self.notes.setdefault("polls", [])  # sites of loads that wait for others
        flag = f"getelementptr i8, ptr %w, i64 {contract.WARP['watched']}"
        self.entry += [
            f"%w.counters = getelementptr i8, ptr %w, i64 {contract.WARP['counters']}",
            "%counters = load ptr, ptr %w.counters, !invariant.load !0",
            f"%w.id = getelementptr i8, ptr %w, i64 {contract.WARP['warp_id']}",
            "%warp.id = load i32, ptr %w.id, !invariant.load !0",
            "%done = getelementptr i64, ptr %counters, i32 %warp.id",
            "%work = alloca i64",
            "%work.before = load i64, ptr %done",
            "store i64 %work.before, ptr %work",
        ]
        if self.function.is_entry:
            enter = self._call_text("i32", "sg_profile_enter", ["ptr %w"])
            self.entry.append(f"%watched.flag = {enter}")
        else:
            self.entry += [f"%w.watched = {flag}", "%watched.flag = load i32, ptr %w.watched"]
        self.entry += [
            "%watched = icmp ne i32 %watched.flag, 0",
            f"%w.rows = getelementptr i8, ptr %w, i64 {contract.WARP['rows']}",
            "%rows = load ptr, ptr %w.rows",
            f"%rows.end = getelementptr i8, ptr %rows, i64 {contract.ffi.offsetof('Rows', 'end')}",
        ]

    # --- counters ---------------------------------------------------------------------------

    def _counters(self, count: int) -> int:
        first = self.notes["counters"]
        self.notes["counters"] += count
        return first

    def of_site(self, site: int) -> int:
        """The first counter of a site."""
        known = self.notes["sites"]
        known += [-1] * (site + 1 - len(known))
        if known[site] < 0:
            known[site] = self._counters(len(SITE_COUNTERS))
            self.notes["site_tokens"][str(site)] = self.item.token
        return known[site]

    def increase(self, counter: int, amount: str) -> None:
        place = self.assign(f"getelementptr i64, ptr %counters, i64 {counter}")
        self._add(place, amount)

    def _add(self, place: str, amount: str) -> str:
        before = self.assign(f"load i64, ptr {place}")
        self.line(f"store i64 {self.assign(f'add i64 {before}, {amount}')}, ptr {place}")
        return before

    def lane_count(self, lanes: str) -> str:
        ones = self.intrinsic("ctpop", Value(lanes, "i32", True))
        return self.resize(ones, "i64").text

    def site_pointer(self, site: int) -> str:
        place = self.assign(f"getelementptr i64, ptr %counters, i64 {self.of_site(site)}")
        return f"ptr {place}"

    # --- blocks whose accesses are proven -----------------------------------------------------

    def also_tested(self, stretches: list[Stretch]) -> list[Value]:
        """The block is not the one that pictures show, and pieces of rows do not meet halfway."""
        tests = [self.invert(_WATCHED)]
        for stretch in stretches:
            access, in_a_row = stretch.access, stretch.guess is Guess.IN_A_ROW
            if access.space != "shared":
                continue
            _, gaps = self.pieces(access, stretch.base, stretch.offsets)
            if access.bytes > 16:
                tests.append(self.constant(0, "i1"))
            elif access.bytes < _WORD:  # pieces of rows share words
                tests.append(self.together(gaps, access.bytes * in_a_row))
            elif len(gaps) > 1 and _lanes_at_once(access.bytes, in_a_row) > self.piece:
                all_gaps = reduce(lambda some, more: self.op("or", some, more), gaps)
                apart = access.bytes * (self.piece if in_a_row else 1)
                low = self.op("and", all_gaps, apart - 1)
                tests.append(self.compare("icmp eq", low, 0))
        return tests

    def begin_proven(self) -> None:
        """Most of its counts follow from how often it runs."""
        self._proven_amounts = []
        self.notes["proven"].append([self._proven_runs, self._proven_amounts])
        self.increase(self._proven_runs, "1")

    def as_proven(self, counter: int, amount: int) -> None:
        """Count this amount each time that the proven block at hand runs."""
        self._proven_amounts.append([counter, amount])

    def together(self, gaps: list[Value], step: int) -> Value:
        """Whether pieces follow each other, with `step` bytes from lane to lane."""
        steps = (number * step * self.piece for number in range(len(gaps)))
        apart = [self.op("xor", *pair) for pair in zip(gaps, steps)]
        return self.compare("icmp eq", reduce(lambda a, b: self.op("or", a, b), apart), 0)

    def conflicts(self, places: list[Value]) -> Value:
        """Beyond one, the most different places that lie in the same banks."""
        most = self.constant(0, "i64")
        for place in places:
            others = self.constant(0, "i64")
            for number, other in enumerate(places):
                if other is place:
                    continue
                apart = self.op("and", self.op("xor", place, other), _BANKS - 1)
                counts = self.compare("icmp eq", apart, 0)
                for known in (place, *places[:number]):  # so that each is counted once
                    if known is not other:
                        new = self.compare("icmp ne", other, known)
                        counts = self.op("and", counts, new)
                others = self.op("add", others, self.convert("zext", counts, "i64"))
            most = self.intrinsic("umax", most, others)
        return most

    def say_work(self, but: int = 0) -> None:
        """Let the driver and other functions know how many instructions this warp has done."""
        work = self.assign("load i64, ptr %work")
        if but:
            work = self.assign(f"sub i64 {work}, {but}")
        self.line(f"store i64 {work}, ptr %done")

    # --- what happens -----------------------------------------------------------------------

    def begin_block(self, index, block) -> None:
        items = list(block.instructions)
        if isinstance(block.choice, Instruction):
            items.append(block.choice)
        items = [item for item in items if self.found.copies.get(item, item) is not None]
        ends = [n for n, item in enumerate(items, 1) if item.opcode == "call"]
        self._pieces = [items[a:b] for a, b in zip([0, *ends], [*ends, len(items)])]
        self._begin_piece()

    def emit_instruction(self, item) -> None:
        super().emit_instruction(item)
        if item.opcode == "call":
            self._begin_piece()

    def _begin_piece(self) -> None:
        """A piece of a block, up to a call, counts as a whole when it begins."""
        items = self._pieces.pop(0)
        if not items:
            return
        # these come after each instruction
        self.after = {item: n for n, item in enumerate(reversed(items))}
        lines: dict[tuple[str, int], int] = {}
        exchanges: list[tuple[str, int, str]] = []
        for item in items:
            if item.user_line.line:  # else the compiler's own: it counts with what is before it
                self._line = item.user_line
            key = self._line.file, self._line.line
            caller = [*key, item.root.file, item.root.line] if item.root else None
            if caller and caller not in self.notes["callers"]:
                self.notes["callers"].append(caller)
            lines[key] = lines.get(key, 0) + 1
            if item.opcode == "membar" and "sys" in item.modifiers:
                counts = "st.requests", "st.sectors", "st.fences"  # it counts as a store
                exchanges += [(*key, count) for count in counts]
            if "red" in item.modifiers and has(item, Trait.MEETS):
                exchanges.append((*key, "votes"))
            elif item.opcode in _EXCHANGES:
                exchanges.append((*key, _EXCHANGES[item.opcode]))
        number = len(self.notes["blocks"])
        first = self._counters(3)
        self._proven_runs = first + 2
        self.notes["tokens"].append([item.token for item in items])
        self.notes["exchanges"].append(exchanges)
        self.notes["blocks"].append([first, [[*key, n] for key, n in lines.items()]])
        self.increase(first, "1")
        mask = Value(self.mask, "i32", True)
        with self.when(self.compare("icmp ne", mask, -1)):
            missing = self.lane_count(self.invert(mask).text)
            self.increase(first + 1, missing)
        before = self._add("%work", str(len(items)))
        with self.when(_WATCHED):
            at = self.assign(f"trunc i64 {before} to i32")
            self.call_void(
                "sg_profile_step", "ptr %w", f"i32 {number}", f"i32 {self.mask}", f"i32 {at}"
            )

    def call_checked(self, result: str, name: str, *arguments: str) -> str:
        if name in ("copy_boxes", "copy_bulk"):
            self.say_work()
            self.call_void(f"sg_profile_{name}", *arguments)
            return ""
        if name in ("load", "store", "atomic"):
            site = int(arguments[1].split()[1])
            known = self.text.sites[site]
            common = "ptr %w", self.site_pointer(site), arguments[1]
            self.say_work()
            if name == "load" and self.item in self.found.polling:
                self.notes["polls"].append(site)
            if self.item.opcode == "cp":
                self._count_copy(name, site, arguments)
            elif name == "atomic":
                address, lanes, a, b = arguments[4:8]
                how = self._how(known.kind)
                if known.kind == "atomic" or known.space == "generic" or how & _As.loop_half:
                    self.notes["atoms"].append(site)
                self.call_void("sg_profile_atomic", *common, address, lanes, f"i32 {how}", a, b)
            elif self.item.opcode in ("ldmatrix", "stmatrix", "wmma") and known.bytes == 16:
                self.call_void("sg_profile_rows", *common, *arguments[2:4])
            elif known.space not in ("const", "param"):
                self.counter.lanes(site, arguments[2], arguments[3])
        return super().call_checked(result, name, *arguments)

    def _how(self, kind: str) -> int:
        has_result = self.item.opcode == "atom"
        address, *values = self.item.operands[1 if has_result else 0 :]
        base = address.base
        one_address = isinstance(base, str) or base is None or self.is_uniform(base)
        one_value = all(isinstance(v, Immediate) or self._uniform_value(v) for v in values)
        return _atomic_in_machine_code(self.item, kind, one_address, one_value)

    def _uniform_value(self, operand) -> bool:
        return hasattr(operand, "type") and self.is_uniform(operand)

    def _count_copy(self, name: str, site: int, arguments: tuple[str, ...]) -> None:
        """cp.async loads and stores in one; only its load counts."""
        if name == "load":
            self._copied = "ptr %w", self.site_pointer(site), arguments[1], arguments[3]
            return
        w, pointer, read, lanes = self._copied
        origin = f"ptr {self.spill(self.copied_from, 'origin')}"
        past_l1 = "cg" in self.item.modifiers
        to = arguments[2] if past_l1 else "ptr null"
        self.call_void("sg_profile_copy", w, pointer, read, origin, to, lanes)

    def _leave(self) -> None:
        self.say_work()
        super()._leave()
