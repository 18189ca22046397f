"""Quick code calls an outlined routine for each instruction, shared by all alike.

LLVM's instruction selection is slow for vectors of 32 lanes and fast for calls (FastISel). So each
opcode with its modifiers and types is compiled once per module, and an instruction becomes a call
with pointers to its registers' lanes in memory. A routine is written by the instruction's own
emitter, to which registers, constants, offsets and sites are arguments: the results are the same.

Terms: outlining (Xu, Kjolstad 2021; docs/terms.md).
"""

from __future__ import annotations

from dataclasses import replace

from ...ptx.program import (
    Address,
    Immediate,
    Instruction,
    Not,
    Operand,
    PtxError,
    Register,
    Special,
    Vector,
)
from ..analysis.flow import CARRY, registers_of
from ..analysis.found import Found
from ..analysis.nans import NanPlan
from ..facts.opcodes import Does, opcode_of
from ..facts.types import element_of
from .addresses import operand_address
from .function import FunctionEmitter, Value
from .module_text import ModuleText, Routine
from .values import BITS

__all__ = ["SharingEmitter"]

_BY_VALUE = set("add sub mul mad fma div min max and or xor mov setp selp ld st".split())
"""Opcodes whose emitters do not depend on the value of a constant operand."""

_ACCESSES = Does.READS, Does.WRITES
_APART = {"param", "async"}
"""Modifiers of accesses that are emitted inline."""

_BOOLEAN = {"and", "or", "xor", "pred"}


def _offset_of(base: Register) -> str:
    """Return the type in which offsets are added to a base."""
    return f"i{BITS[element_of(base.type)]}"


class _Formal:
    """The operands of a routine's instruction as arguments, in the form in which its emitter
    reads them."""

    def __init__(self, e: SharingEmitter):
        self.e = e
        self.taken: list[str] = []
        self.values: dict[str, Value] = {}  # by slot: operands passed by value
        self.places: dict[str, tuple[Register, Value]] = {}  # by slot, addresses: base and offset
        self.varying: set[str] = set()
        self.nans: dict[str, str] = {}

    def of(self, operand: Operand) -> Operand:
        if isinstance(operand, Register):
            return self.register(operand)
        if isinstance(operand, Immediate) and self.e.passes_value(operand):
            return self._value("i64")
        if isinstance(operand, Not):
            return Not(self.register(operand.register))
        if isinstance(operand, Vector):
            return Vector(tuple(map(self.of, operand.elements)))
        if isinstance(operand, Address):
            return Address(self._place(operand.base))
        return operand

    def register(self, register: Register) -> Register:
        name = str(len(self.taken))
        self.taken.append(f'ptr %"r{name}"')
        if not self.e.is_uniform(register):
            self.varying.add(name)
        if made := self.e.found.nans.reads.get((self.e.item, register.name)):
            self.nans[name] = made
        return Register(name, register.type)

    def _value(self, element: str) -> Register:
        name = str(len(self.taken))
        value = Value(f"%i{name}", element, True)
        self.taken.append(str(value))
        self.values[f'%"r{name}"'] = value
        return Register(name, f"b{BITS[element]}")

    def _place(self, base: Register | str | None) -> Register:
        """Return the register used as base, and record what is added to it before the
        instruction."""
        if not isinstance(base, Register):
            return self._value("i64")
        start = self.register(base)
        self._value(_offset_of(base))
        place = Register(f"{start.name}+", start.type)
        if start.name in self.varying:
            self.varying.add(place.name)
        self.places[f'%"r{place.name}"'] = start, self.values.popitem()[1]
        return place


class _RoutineEmitter(FunctionEmitter):
    """Emits one instruction whose operands are arguments."""

    def __init__(self, text: ModuleText, found: Found):
        super().__init__(text, found)
        self.mode = replace(self.mode.within_routine, large=False)
        self.index = 0
        self.asked: list[tuple] = []  # arguments for FunctionEmitter.site at each instruction

    def site(self, item, *what):
        self.asked.append(what)
        return f"%site{len(self.asked) - 1}"

    def define(self, name: str, item: Instruction, formal: _Formal) -> Routine:
        self.start("body")
        self._known |= formal.values
        self.mask = "%mask"
        for slot, (base, offset) in formal.places.items():
            self._known[slot] = self.op("add", self.integer(self.load_register(base)), offset)
        self.emit_instruction(item)
        body = "\n".join([*self.entry, "br label %body", *self.lines, "ret void", "}"])
        wanted = [value for value in ("ptr %w", "i32 %mask") if value.split()[1] in body]
        sites = [f"i32 %site{n}" for n in range(len(self.asked))]
        taken = ", ".join([*wanted, *formal.taken, *sites])
        text = f'define internal void @"{name}"({taken}) noinline {{\n{body}'
        return Routine(text, "ptr %w" in wanted, "i32 %mask" in wanted, self.asked)


class SharingEmitter(FunctionEmitter):
    """Emits functions that, in quick code, call a routine for each instruction."""

    def emit_instruction(self, item: Instruction) -> None:
        if not self.mode.quick or not self.may_share(item) or not self._call_routine(item):
            super().emit_instruction(item)

    def may_share(self, item: Instruction) -> bool:
        """Whether only the routine needs to see the instruction's results."""
        does = opcode_of(item).does
        if self.mode.instrumented and (does is not Does.COMPUTES or item.predicate):
            return False
        if does in _ACCESSES:
            return item.opcode in ("ld", "st") and not _APART & {*item.modifiers}
        return does is Does.COMPUTES and item.opcode not in ("addc", "subc", "madc")

    def passes_value(self, operand: Immediate) -> bool:
        """Whether a constant of the current instruction is an argument of its routine."""
        item = self.item
        if item.opcode not in _BY_VALUE or _BOOLEAN & {*item.modifiers}:
            return False
        return item.modifiers[-1] == "f64" or operand.kind != "f64" and "b128" not in item.modifiers

    def _call_routine(self, item: Instruction) -> bool:
        """Call the instruction's routine; False: it needs code of its own."""
        written, read = registers_of(item)
        computes = opcode_of(item).does is Does.COMPUTES
        if CARRY in written or computes and all(map(self.is_uniform, (*written, *read))):
            return False
        self.item = item
        self._active = self.mask
        key = [item.name, self.found.nans.results.get(item, "")]
        given: list[str] = []
        if not all([self._pass(operand, key, given) for operand in item.operands]):
            return False
        if item.predicate:
            key.append("!@" if item.negated else "@")
            self._pass(item.predicate, key, given)
        if any(register.name in self.found.protected[self.index] for register in written):
            key.append("kept")
        name = " ".join(key)
        try:
            routine = self.text.shared.get(name) or self._define(name, item, key[-1] == "kept")
        except PtxError:  # its message must name this instruction, not the routine's
            return False
        sites = [f"i32 {self.site(item, *what)}" for what in routine.sites]
        about = ["ptr %w"] * routine.wants_warp + [f"i32 {self.mask}"] * routine.wants_mask
        passed = ", ".join([*about, *given, *sites])
        line = f"call void {self.pointer_to(name)}({passed})"
        targets = [self._slot(register)[0] for register in written]
        if computes and len(targets) == 1:  # the call can be left out if nothing reads the result
            self.line_for_slot(targets[0], line)
        else:
            self.loaded.update(targets)
            self.line(line)
        reads = read[: len(read) - len(written)] if item.predicate else read
        self.loaded.update(self._slot(register)[0] for register in reads)
        for target in targets:
            self._known.pop(target, None)
        return True

    def _pass(self, operand: Operand, key: list[str], given: list[str]) -> bool:
        """Turn an operand into arguments of a routine; append all that the routine's code
        depends on to the key."""
        if isinstance(operand, Register):
            slot, kind = self._slot(operand)
            key.append(kind)
            if made := self.found.nans.reads.get((self.item, operand.name)):
                key.append(made)
            given.append(f"ptr {slot}")
        elif isinstance(operand, Immediate) and self.passes_value(operand):
            key.append("i")
            given.append(f"i64 {operand.value}")
        elif isinstance(operand, Not):
            key.append("!")
            self._pass(operand.register, key, given)
        elif isinstance(operand, Vector):
            key.append("{")
            if not all([self._pass(element, key, given) for element in operand.elements]):
                return False
            key.append("}")
        elif isinstance(operand, Address):
            key.append("[")
            if isinstance(operand.base, Register):
                if _offset_of(operand.base) == "i32" and not self._is_shared():
                    return False  # the sum may have more bits than the base
                self._pass(operand.base, key, given)
                given.append(f"{_offset_of(operand.base)} {operand.offset}")
            else:
                given.append(str(operand_address(self, operand)))
            key.append("]")
        elif operand is None or isinstance(operand, Immediate | Special):
            key.append(str(operand))
        else:
            return False
        return True

    def _is_shared(self) -> bool:
        """Whether the current instruction accesses shared memory, whose addresses have 32 bits."""
        return any(modifier.startswith("shared") for modifier in self.item.modifiers)

    def _define(self, name: str, item: Instruction, kept: bool) -> Routine:
        """Emit the routine for an instruction."""
        formal = _Formal(self)
        operands = tuple(map(formal.of, item.operands))
        predicate = formal.register(item.predicate) if item.predicate else None
        alike = replace(item, operands=operands, predicate=predicate)
        nans = NanPlan({(alike, register): made for register, made in formal.nans.items()})
        if made := self.found.nans.results.get(item):
            nans.results[alike] = made
        protected = {str(n) for n in range(len(formal.taken))} if kept else set()
        known = {"varying": formal.varying, "protected": [protected], "nans": nans}
        emitter = _RoutineEmitter(self.text, Found(**{**vars(self.found), **known}))
        routine = self.text.shared[name] = emitter.define(name, alike, formal)
        return routine
