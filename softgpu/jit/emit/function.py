"""Translates a PTX function to LLVM text: registers, masks, control flow.

Every register is a vector of 32 lanes, or a scalar if analysis shows that all lanes agree. A block
runs under a mask: the lanes that wait for it. See flow.py for the order in which blocks run.

Terms: whole-function vectorization (Karrenberg, Hack 2011; docs/terms.md).
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ...ptx.forms import place_of, refusal
from ...ptx.program import (
    Immediate,
    Instruction,
    InternalError,
    Not,
    PtxError,
    Register,
    SourceLine,
    Special,
    Symbol,
    Unsupported,
)
from ..analysis.flow import EXIT, Block, released
from ..analysis.found import Found
from ..analysis.sums import is_sum
from ..facts.layout import Site
from ..facts.opcodes import OPCODES, sites_of
from ..facts.types import element_of
from .addresses import special, symbol_address
from .floats import canonical
from .frame import define
from .module_text import ModuleText, symbol
from .observer import Observer
from .values import BITS, LANES, Value, ValueEmitter

__all__ = ["LANES", "FunctionEmitter", "Value", "instruction"]

_LARGEST_FLOAT = (2 - 2.0**-23) * 2.0**127

_PATIENCE = 64
"""How often a spinning loop repeats before lanes that wait elsewhere run a block; 2^n."""

_STRETCH = 16
"""In code-size mode, reload cached values after this many instructions of a block: LLVM's
compile time grows with the square of live ranges."""

_FEW = 2
"""The most blocks that inline code searches for waiting lanes in code-size mode; the driver
searches more."""

_EMITTERS: dict[str, Callable] = {}


def instruction(*opcodes: str):
    """Register the function that emits the given PTX opcodes: f(emitter, instruction).

    An opcode may include its first modifier: with "st.async", the emitter of "st" does not get
    it."""

    def register(function):
        for opcode in opcodes:
            if opcode.split(".")[0] not in OPCODES or opcode in _EMITTERS:
                raise ValueError(f"{opcode} has no row in opcodes.py, or two emitters")
            _EMITTERS[opcode] = function
        return function

    return register


def _emitter_of(item: Instruction) -> Callable:
    return _EMITTERS.get(".".join((item.opcode, *item.modifiers[:1]))) or _EMITTERS[item.opcode]


class FunctionEmitter(ValueEmitter):
    """Emits one function; its methods are what instruction emitters are written with."""

    def __init__(self, text: ModuleText, found: Found):
        super().__init__(text)
        self.function = found.function
        self.found = found
        self.blocks = found.blocks
        self.layout = text.layout
        self.mode = replace(text.mode, large=found.large)
        self.observer = Observer()
        self._sites_used: Counter = Counter()  # by instruction; None: the function itself
        # registers kept as a base and offsets
        self.sums: set[str] = found.sums if self.mode.is_fast else set()
        self.item = Instruction("", (), (), self.function.source)  # the current instruction
        self._slots: dict[str, tuple[str, str]] = {}  # by register
        self.loaded: set[str] = set()  # slots of registers that are read
        self._for_slot: dict[str, list[int]] = {}  # lines to drop if the slot is not read
        self.pointers: dict[str, str] = {}  # in quick code, to external symbols
        self.tables: dict[str, int] = {}  # of the blocks that the driver searches for waiting lanes
        self.frame = self.layout.frames[self.function.name]

    # --- the function -----------------------------------------------------------------------

    def emit(self) -> str:
        for index, block in enumerate(self.blocks):
            self._emit_block(index, block)
        if self.tables:
            self._emit_switch()
        for slot in self._for_slot.keys() - self.loaded:
            for number in self._for_slot[slot]:
                self.lines[number] = ""
        self.lines = [line for line in self.lines if line]
        return define(self)

    def formals(self) -> list:
        return [*self.function.returns, *self.function.params]

    def parameter_bytes(self, name: str) -> int:
        """Return the size of a parameter of a device function or of a call."""
        known = (*self.formals(), *self.function.variables)
        return {variable.name: variable.bytes for variable in known}[name]

    def parameter_words(self, name: str) -> str | None:
        """Return a pointer to a parameter of a device function or of a call, as 4-byte words x 32
        lanes.

        Return None for a kernel's parameters, which all lanes share.
        """
        formals = [variable.name for variable in self.formals()]
        if name in formals and not self.function.is_entry:
            return f"%p{formals.index(name)}"
        for variable in self.function.variables:
            if variable.name == name and variable.space == "param":
                slot = f'%"a{name}"'
                allocation = (
                    f"{slot} = alloca [{-(-variable.bytes // 4)} x <{LANES} x i32>], align 64"
                )
                if allocation not in self.entry:
                    self.entry.append(allocation)
                return slot
        return None

    def _leave(self) -> None:
        if self.frame.bytes or not self.function.is_entry:
            self.line("store i32 %frame, ptr %w.top")
        self.line("ret void")

    def pointer_to(self, name: str) -> str:
        """Return an operand for a function; in quick code a loaded pointer, since FastISel
        cannot call a target that may be more than 2 GiB away."""
        if not self.mode.quick:
            return super().pointer_to(name)
        return self.pointers.setdefault(name, f"%at{len(self.pointers)}")  # LLVM cuts long names

    # --- control flow -------------------------------------------------------------------------

    def _emit_block(self, index: int, block: Block) -> None:
        self.index = index
        self.start(f"b{index}")
        self.mask = self.assign(f"load i32, ptr %wait{index}")
        self.line(f"store i32 0, ptr %wait{index}")
        self.begin_block(index, block)
        self.emit_instructions(index, block)
        self._emit_choice(index, block)

    def emit_instructions(self, index: int, block: Block) -> None:
        """Emit a block's instructions, up to its branch."""
        for number, item in enumerate(block.instructions, 1):
            self.emit_instruction(item)
            if self.mode.is_short and number % _STRETCH == 0:
                label = self.label()
                self.line(f"br label %{label}")
                self.start(label)

    def again(self, items: list[Instruction]) -> None:
        """Allow instructions that have been emitted to be emitted again."""
        for item in items:
            self._sites_used[item] = 0

    def emit_instruction(self, item: Instruction) -> None:
        function = type(self)._emit_sum if self._keeps_sum(item) else _emitter_of(item)
        self.item = item
        self._active = self.mask
        first = len(self.lines)
        try:
            if item.predicate:
                chosen = self.bits(self.predicate_vector(item))
                self._active = self.assign(f"and i32 {self.mask}, {chosen.text}")
            function(self, item)
        except Unsupported as why:
            raise self.refusal(item, str(why)) from None
        except (PtxError, InternalError, MemoryError):
            raise
        except Exception as error:
            where = place_of(self.text.module, self.function, item)
            raise InternalError(f"the instruction {item.name} ({where})") from error
        if self.text.annotated:
            maker = function.__code__
            note = f"  ; {item}, {Path(maker.co_filename).name}:{maker.co_firstlineno}"
            self.lines[first:] = [line + note for line in self.lines[first:]]

    def refusal(self, item: Instruction, why: str = "") -> PtxError:
        return refusal(self.text.module, self.function, item, why)

    def _emit_choice(self, index: int, block: Block) -> None:
        choice, targets = block.choice, block.targets
        if choice is None:
            self._send(block, 0, self.mask)
            self._go(index, targets)
        elif isinstance(choice, str):  # "entry"
            entry = self._load_slot(self._slot(Register("%entry", "b32"))[0], "i32", False)
            self._scatter(block, entry)
            self._go(index, targets)
        elif not self.found.divergent[index]:
            self._emit_uniform_choice(index, block, choice)
        elif choice.opcode == "brx":
            self._scatter(block, self.read(choice.operands[0], "u32"))
            self._go(index, targets)
        else:
            taken = self._predicate_bits(choice)
            self._send(block, 0, self.assign(f"and i32 {self.mask}, {taken}"))
            untaken = self.assign(f"xor i32 {taken}, -1")
            self._send(block, 1, self.assign(f"and i32 {self.mask}, {untaken}"))
            self._go(index, targets)

    def _emit_uniform_choice(self, index: int, block: Block, choice: Instruction) -> None:
        labels = [self.label() for _ in block.targets]
        if choice.opcode == "brx":
            value = self.read(choice.operands[0], "u32")
            cases = " ".join(f"i32 {n}, label %{label}" for n, label in enumerate(labels))
            self.line(f"switch {value}, label %{labels[-1]} [{cases}]")
        else:
            value = self.read(choice.predicate, "pred")
            first, second = reversed(labels) if choice.negated else labels
            self.line(f"br {value}, label %{first}, label %{second}")
        for position, label in enumerate(labels):
            self.start(label)
            self._send(block, position, self.mask)
            self._go(index, [block.targets[position]])

    def _scatter(self, block: Block, chosen: Value) -> None:
        for position in range(len(block.targets)):
            same = self.compare("icmp eq", chosen, position)
            self._send(block, position, self.assign(f"and i32 {self.mask}, {self.bits(same).text}"))

    def _send(self, block: Block, position: int, lanes: str) -> None:
        """Let `lanes` wait at a target of the block (or leave the function)."""
        target = block.targets[position]
        if target == EXIT:
            if self.function.is_entry or block.exits:
                live = self.warp_field("live")
                left = self.assign(f"xor i32 {lanes}, -1")
                before = self.assign(f"load i32, ptr {live}")
                self.line(f"store i32 {self.assign(f'and i32 {before}, {left}')}, ptr {live}")
            return
        if position in block.selects:
            slot = self._slot(Register("%entry", "b32"))[0]
            chosen = self.constant(block.selects[position], "i32", uniform=False)
            old = self._load_slot(slot, "i32", False)
            self._store_slot(slot, self.select(self.from_bits(lanes), chosen, old))
        waiting = self.assign(f"load i32, ptr %wait{target}")
        self.line(f"store i32 {self.assign(f'or i32 {waiting}, {lanes}')}, ptr %wait{target}")

    def _go(self, index: int, targets: list[int]) -> None:
        """Run the first block in order at which lanes wait."""
        candidates = sorted(self.found.waiting[index] | {t for t in targets if t != EXIT})
        if self.mode.is_short and len(candidates) > _FEW:
            self._choose(index, candidates)
            return
        certain = EXIT not in targets and not self.blocks[index].loses_lanes
        for position, target in enumerate(candidates):
            last = position + 1 == len(candidates)
            if certain and (last or targets == [target]):
                self._jump(index, target)
                return
            label, other = self.label(), self.label()
            self.line(f"br i1 {self._is_waiting(target)}, label %{label}, label %{other}")
            self.start(label)
            self._jump(index, target)
            self.start(other)
        self._leave()

    def _is_waiting(self, block: int) -> str:
        waiting = self.assign(f"load i32, ptr %wait{block}")
        return self.assign(f"icmp ne i32 {waiting}, 0")

    def _choose(self, index: int, candidates: list[int]) -> None:
        """Run the first of some blocks at which lanes wait, with little code."""
        back = [target for target in candidates if target <= index]
        line = self._line_of_loop(back[-1], index) if back else 0
        chosen = self._first_waiting(candidates, line)
        if index in self.found.spinning:
            label, other = self.label(), self.label()
            repeats = self.assign(f"icmp eq i32 {chosen}, {self.found.spinning[index]}")
            self.line(f"br i1 {repeats}, label %{label}, label %{other}")
            self.start(label)
            self._be_patient(index, self.found.spinning[index])
            self.line(f"br label %{other}")
            self.start(other)
        self._run(chosen)

    def _first_waiting(self, candidates: list[int], line: int) -> str:
        """Return the first of some blocks at which lanes wait, or -1; line: of a loop that may
        repeat."""
        blocks = f"[{', '.join(f'i32 {block}' for block in candidates)}]"
        number = self.tables.setdefault(blocks, len(self.tables))
        name = f"blocks.{symbol(self.function.name)}.{number}"
        table = f"internal constant [{len(candidates)} x i32] {blocks}"
        self.text.declare(name, f'@"{name}" = {table}')
        given = f"ptr {self.pointer_to(name)}", f"i32 {len(candidates)}", f"i32 {line}"
        return self.call("i32", "sg_first_waiting", "ptr %w", "ptr %waits", *given)

    def _run(self, chosen: str) -> None:
        """Run the block with this number; -1: leave the function."""
        self.line(f"store i32 {chosen}, ptr %chosen")
        self.line("br label %run")

    def _emit_switch(self) -> None:
        self.start("run")
        chosen = self.assign("load i32, ptr %chosen")
        cases = " ".join(f"i32 {n}, label %b{n}" for n in range(len(self.blocks)))
        self.line(f"switch i32 {chosen}, label %none [{cases}]")
        self.start("none")
        self._leave()

    def _jump(self, index: int, target: int) -> None:
        if target <= index:  # a back edge: check whether the launch is being abandoned
            stop = self.assign("load volatile i32, ptr %stop")
            label, other = self.label(), self.label()
            self.line(
                f"br i1 {self.assign(f'icmp eq i32 {stop}, 0')}, label %{other}, label %{label}"
            )
            self.start(label)
            self.call_void("sg_stop", "ptr %w", f"i32 {self._line_of_loop(target, index)}")
            self.line("unreachable")
            self.start(other)
            if self.found.spinning.get(index) == target:
                self._be_patient(index, target)
        self.line(f"br label %b{target}")

    def _line_of_loop(self, first: int, last: int) -> int:
        """Return the last line of a loop that is in the kernel's own file; 0: none is.

        An empty loop has no line: then return the line before it."""
        blocks = self.blocks[last::-1]
        loop = blocks[: last - first + 1]
        choices = [block.choice for block in loop if isinstance(block.choice, Instruction)]
        items = (item for block in blocks for item in reversed(block.instructions))
        file = self.text.module.functions[self.text.kernel].source.file
        lines = (item.root or item.user_line for item in chain(choices, items))
        return next((at.line for at in lines if at.line and at.file == file), 0)

    def waits_alone(self, item: Instruction) -> bool:
        """Whether a loop only waits for an mbarrier, and no other lanes of the warp can run
        meanwhile."""
        if not self.waits_only(item):
            return False
        last, first = self.found.only_waits[item]
        return not released(self.blocks, self.found.waiting[last], first)

    def waits_only(self, item: Instruction) -> bool:
        """Whether a loop only waits at this mbarrier."""
        return item in self.found.only_waits

    def _be_patient(self, index: int, first: int) -> None:
        """In a spinning loop, let other warps run and, every so often, lanes that wait
        elsewhere."""
        line = self._line_of_loop(first, index)
        self.call_void("sg_yield", "ptr %w", f"i32 {line}")
        others = released(self.blocks, self.found.waiting[index], first)
        if not others:
            return
        turn = self.assign(f"add i32 {self.assign('load i32, ptr %turn')}, 1")
        self.line(f"store i32 {turn}, ptr %turn")
        low = self.assign(f"and i32 {turn}, {_PATIENCE - 1}")
        label, again = self.label(), self.label()
        self.line(f"br i1 {self.assign(f'icmp eq i32 {low}, 0')}, label %{label}, label %{again}")
        self.start(label)
        if self.tables:
            chosen = self._first_waiting(others, line)
            found = self.label()
            none = self.assign(f"icmp slt i32 {chosen}, 0")
            self.line(f"br i1 {none}, label %{again}, label %{found}")
            self.start(found)
            self._run(chosen)
            self.start(again)
            return
        for other in others:
            following = self.label()
            self.line(f"br i1 {self._is_waiting(other)}, label %b{other}, label %{following}")
            self.start(following)
        self.line(f"br label %{again}")
        self.start(again)

    # --- masks --------------------------------------------------------------------------------

    def predicate_vector(self, item: Instruction) -> Value:
        """Return an instruction's (possibly negated) predicate, one bit per lane."""
        return self.splat(self.predicate(item))

    def _predicate_bits(self, item: Instruction) -> str:
        """Return an instruction's predicate as an i32, one bit per lane."""
        register = item.predicate
        assert register
        slot = self._slot(register)[0]
        if not self.mode.is_short or self.is_uniform(register) or slot in self._known:
            return self.bits(self.predicate_vector(item)).text
        self.loaded.add(slot)
        bits = self.assign(f"load i32, ptr {slot}")
        return self.assign(f"xor i32 {bits}, -1") if item.negated else bits

    def predicate(self, item: Instruction) -> Value:
        value = self.read(item.predicate, "pred")
        return self.invert(value) if item.negated else value

    @property
    def active(self) -> Value:
        """Return the bit mask of the lanes for which the current instruction takes effect."""
        return Value(self._active, "i32", True)

    @property
    def active_vector(self) -> Value:
        return self._once(f"lanes {self._active}", lambda: self.from_bits(self._active))

    def leave_lanes(self, lanes: str) -> None:
        """Continue the block with `lanes` only (others have exited in a function it called)."""
        self.mask = self.assign(f"and i32 {self.mask}, {lanes}")

    @contextmanager
    def when_active(self):
        """Emit the block's code to run only if any lane is active."""
        if not self.item.predicate:
            yield
            return
        with self.when(self.compare("icmp ne", self.active, 0)):
            yield

    # --- registers ----------------------------------------------------------------------------

    def slots(self, register: Register) -> list[tuple[str, str]]:
        """Return all stack slots that hold a register, with their LLVM types."""
        return [self._slot(register), *([self._base(register)] * (register.name in self.sums))]

    def _slot(self, register: Register) -> tuple[str, str]:
        """Return a register's stack slot and its LLVM type."""
        known = self._slots.get(register.name)
        if known is None:
            kind = Value("", element_of(register.type), self.is_uniform(register)).type
            known = self._slots[register.name] = f'%"r{register.name}"', kind
        return known

    def _base(self, register: Register) -> tuple[str, str]:
        """Return the stack slot of a sum's base and its LLVM type."""
        return f'%"s{register.name}"', element_of(register.type)

    def _keeps_sum(self, item: Instruction) -> bool:
        """Whether an instruction can compute its result as base and offsets, for all lanes."""
        destination = item.operands[0] if item.operands else None
        return (
            isinstance(destination, Register)
            and destination.name in self.sums
            and destination.name not in self.found.protected[self.index]
            and not item.predicate
            and is_sum(item)
        )

    def is_uniform(self, register: Register) -> bool:
        return register.name not in self.found.varying

    def _load_slot(self, slot: str, element: str, uniform: bool) -> Value:
        def load() -> Value:
            self.loaded.add(slot)
            kind = Value("", element, uniform).type
            return Value(self.assign(f"load {kind}, ptr {slot}"), element, uniform)

        return self._once(slot, load)

    def _store_slot(self, slot: str, value: Value) -> None:
        self.line_for_slot(slot, f"store {value}, ptr {slot}")
        self._known[slot] = value

    def line_for_slot(self, slot: str, text: str) -> None:
        """Emit a line that is dropped if nothing reads the register's slot."""
        self._for_slot.setdefault(slot, []).append(len(self.lines))
        self.line(text)

    def load_register(self, register: Register) -> Value:
        if register.name in self.sums:
            value = self.op("add", *self._load_sum(register))
        else:
            element = element_of(register.type)
            value = self._load_slot(self._slot(register)[0], element, self.is_uniform(register))
        made = self.found.nans.reads.get((self.item, register.name))
        return self._canonical(value, made) if made else value

    def _canonical(self, value: Value, kind: str) -> Value:
        if not kind.endswith("x2"):
            return canonical(self, value, kind)
        (both,) = self.routine(f"nan.{kind}", lambda pair: [canonical(self, pair, kind)], value)
        return both

    def _load_sum(self, register: Register) -> tuple[Value, Value]:
        element = element_of(register.type)
        base = self._load_slot(self._base(register)[0], element, True)
        return base, self._load_slot(self._slot(register)[0], element, False)

    def read_sum(self, operand, ptx_type: str) -> tuple[Value, Value]:
        """Return an operand as (base, offsets)."""
        zero = self.constant(0, element_of(ptx_type))
        if isinstance(operand, Register) and operand.name in self.sums:
            return self._load_sum(operand)
        value = self.read(operand, ptx_type)
        return (value, zero) if value.uniform else (zero, value)

    def write_sum(self, register: Register, base: Value, offsets: Value) -> None:
        """Store a register as a sum, for all lanes, active or not."""
        self._store_slot(self._base(register)[0], base)
        self._store_slot(self._slot(register)[0], self.splat(offsets))

    def _emit_sum(self, item: Instruction) -> None:
        """Add, subtract or copy bases and offsets separately."""
        destination, *operands = item.operands
        (base, offsets), *more = (self.read_sum(o, item.modifiers[-1]) for o in operands)
        for other_base, other_offsets in more:
            base = self.op(item.opcode, base, other_base)
            offsets = self.op(item.opcode, offsets, other_offsets)
        self.write_sum(destination, base, offsets)

    def read(self, operand, ptx_type: str) -> Value:
        """Return an operand as a PTX type: narrower reads of a register take its low bits."""
        element = element_of(ptx_type)
        if isinstance(operand, Register):
            value = self.load_register(operand)
            return self.view(value, element)
        if isinstance(operand, Not):
            return self.invert(self.read(operand.register, ptx_type))
        if isinstance(operand, Immediate):
            return self.immediate(operand, element)
        if isinstance(operand, Special):
            return self.view(special(self, operand.name), element)
        if isinstance(operand, Symbol):
            return self.view(symbol_address(self, operand), element)
        raise ValueError(f"operand {operand}")

    def immediate(self, operand: Immediate, element: str) -> Value:
        value = operand.value
        if operand.kind == "f64" and element == "float":  # a decimal fraction in a float's place
            (number,) = struct.unpack("<d", value.to_bytes(8, "little"))
            if abs(number) > _LARGEST_FLOAT:
                raise Unsupported(f"{number} is beyond f32")
            value = int.from_bytes(struct.pack("<f", number), "little")
        whole = self.constant(value, f"i{BITS[element]}" if element != "i1" else "i1")
        return self.bitcast(whole, element)

    def write(self, operand, value: Value, signed: bool = False) -> None:
        """Write a value to the register `operand` (None: nowhere) for the active lanes."""
        if operand is None:
            return
        if not isinstance(operand, Register):
            raise ValueError(f"destination {operand}")
        slot, kind = self._slot(operand)
        if made := self.found.nans.results.get(self.item):
            value = self._canonical(value, made)
        value = self.view(value, element_of(operand.type), signed)
        protected = operand.name in self.found.protected[self.index]
        if self.is_uniform(operand):
            if not value.uniform:
                raise AssertionError(f"{self.item.name}: {operand.name} was taken to be uniform")
            if self.item.predicate:
                value = self.select(self.predicate(self.item), value, self.load_register(operand))
            if not value.uniform:
                raise AssertionError(f"{self.item.name}: {operand.name} differs by its predicate")
        else:
            value = self.splat(value)
            if self.item.predicate or protected:
                chosen = self.active_vector if protected else self.predicate_vector(self.item)
                value = self.select(chosen, value, self.load_register(operand))
        self._store_slot(slot, value)
        if operand.name in self.sums:
            self._store_slot(self._base(operand)[0], self.constant(0, value.element))

    def spill_registers(self, operands: Sequence, ptx_type: str, use: str) -> str:
        """Return a pointer to the consecutive lanes of operands, as an argument of a call."""
        element = element_of(ptx_type)
        if not self.mode.is_short:
            return self.spill_in_order([self.read(o, ptx_type) for o in operands], element, use)
        room = f"ptr {self.temporary(element, len(operands), use)}"
        numbered = enumerate(operands)
        slots = [self._memory_of(o, ptx_type, f"{use} {number}") for number, o in numbered]
        self._move("sg_gather", room, f"i32 {BITS[element] // 8}", slots)
        return room

    def unspill_registers(self, registers: Sequence[Register], room: str, element: str) -> None:
        """Load registers from consecutive values in memory, for the active lanes."""
        if not all(self.moves_into(register, element) for register in registers):
            values = self.unspill_in_order(room, element, len(registers))
            for register, value in zip(registers, values, strict=True):
                self.write(register, value)
            return
        masked = self.item.predicate or any(
            register.name in self.found.protected[self.index] for register in registers
        )
        lanes = self.active if masked else "i32 -1"
        slots = [self._slot(register)[0] for register in registers]
        self._move("sg_scatter", room, f"i32 {BITS[element] // 8}", slots, str(lanes))
        for slot in slots:
            self._known.pop(slot, None)

    def moves_into(self, register: Register | None, element: str) -> bool:
        """Whether a value may be copied directly into a register's memory."""
        as_it_is = self.item not in self.found.nans.results
        return self.mode.is_short and as_it_is and self._lies_as(register, element)

    def _lies_as(self, operand, element: str) -> bool:
        """Whether a register's memory is 32 elements of this type."""
        if not isinstance(operand, Register) or self.is_uniform(operand):
            return False
        return BITS[element_of(operand.type)] == BITS[element]

    def _memory_of(self, operand, ptx_type: str, use: str) -> str:
        """Return a pointer to an operand's lanes: the register's own memory if possible."""
        read_so = self.found.nans.reads
        if (
            self._lies_as(operand, element_of(ptx_type))
            and (self.item, operand.name) not in read_so
        ):
            return self._slot(operand)[0]
        return self.spill(self.read(operand, ptx_type), use)

    def _move(self, name: str, room: str, size: str, slots: list[str], *lanes: str) -> None:
        """Copy between registers in memory and consecutive values."""
        self.loaded.update(slots)
        given = (room, size, *lanes, f"i32 {len(slots)}")
        types = ", ".join(argument.split()[0] for argument in given)
        self.text.declare(name, f"declare void @{name}({types}, ...)")
        every = ", ".join([*given, *(f"ptr {slot}" for slot in slots)])
        self.line(f"call void ({types}, ...) {self.pointer_to(name)}({every})")

    # --- hooks of the builds ------------------------------------------------------------------

    def begin_block(self, index: int, block: Block) -> None:
        """Called at the start of a block."""

    def load_at_once(self, access) -> list[Value] | None:
        """Return the values of a load that needs no check; None: it needs one."""
        return None

    def expects_scatter(self, access) -> bool:
        """Whether a load's lanes are likely to be scattered over shared memory."""
        return False

    def store_at_once(self, access, values: list[Value]) -> bool:
        """Emit a store that needs no check; return False if it needs one."""
        return False

    # --- calls --------------------------------------------------------------------------------

    def sync(self, site: int) -> None:
        """Emit __syncthreads for the active lanes."""
        self.call_void("sg_sync", "ptr %w", f"i32 {site}", self.active)

    def call_checked(self, result: str, name: str, *arguments: str) -> str:
        """Call sg_`name`, which checks its arguments; a "void" call has no result."""
        if result == "void":
            self.call_void(f"sg_{name}", *arguments)
            return ""
        return self.call(result, f"sg_{name}", *arguments)

    def routine(self, name: str, body, *inputs: Value) -> list[Value]:
        """Return `body(*inputs)`. In code-size mode, outline it into a routine that all users
        share.

        The name must say what the routine does; it gets the warp, the active lanes and the
        inputs."""
        if not self.mode.is_short:
            return body(*inputs)
        name = "_".join([name, *(value.type for value in inputs)])
        if name not in self.text.routines:
            self.text.routines[name] = self._define_routine(name, body, inputs)
        results, _ = self.text.routines[name]
        given = ", ".join(["ptr %w", str(self.active), *map(str, inputs)])
        if not results:
            self.line(f"call void {self.pointer_to(name)}({given})")
            return []
        kind = f"{{ {', '.join(value.type for value in results)} }}"
        every = self.assign(f"call {kind} {self.pointer_to(name)}({given})")
        return [
            Value(self.assign(f"extractvalue {kind} {every}, {n}"), value.element, value.uniform)
            for n, value in enumerate(results)
        ]

    def _define_routine(self, name: str, body, inputs: tuple[Value, ...]):
        """Emit a routine; return its results and its text."""
        ours = self.lines, self.entry, self._temporaries, self._known, self._active, self.mode
        self.lines, self.entry, self._temporaries = [], [], {}
        self.mode = self.mode.within_routine
        self.start("body")
        self._active = "%active"
        formal = [Value(f"%in{n}", value.element, value.uniform) for n, value in enumerate(inputs)]
        results = body(*formal)
        kind, every = "void", ""
        if results:
            kind, every = f"{{ {', '.join(value.type for value in results)} }}", "poison"
            for n, value in enumerate(results):
                every = self.assign(f"insertvalue {kind} {every}, {value}, {n}")
        self.line(f"ret {kind} {every}")
        taken = ", ".join(["ptr %w", "i32 %active", *map(str, formal)])
        head = f'define internal {kind} @"{name}"({taken}) noinline {{'
        text = "\n".join([head, *self.entry, "br label %body", *self.lines, "}"])
        self.lines, self.entry, self._temporaries, self._known, self._active, self.mode = ours
        return results, text

    # --- sites --------------------------------------------------------------------------------

    def site(
        self,
        item: Instruction | None,
        kind: str,
        space: str = "generic",
        size: int = 0,
        elements: int = 1,
    ) -> int:
        """Return the number of the next site of an instruction, or (None) of the function."""
        source = item.user_line if item else self.function.source
        original = item and self.found.copies.get(item, item)
        nth = self._sites_used[item]
        if nth >= sites_of(item):
            raise ValueError(f"{item or self.function.name} has more sites than opcodes.py says")
        self._sites_used[item] += 1
        number = self.text.first_site[original or self.function.name] + nth
        used = item.used_bytes or 0 if item and item.opcode == "ld" else 0
        used &= (1 << min(size, 32)) - 1
        what = source.file, source.line, size, space, kind, elements, used
        root = (item and item.root) or SourceLine("", 0)
        self.text.sites[number] = Site(*what, root.file, root.line)
        return number
