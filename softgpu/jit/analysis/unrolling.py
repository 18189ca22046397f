"""Loops that ptxas unrolls on its own, for builds that count the work of lanes that leave early.

Determined by compiling short loops with ptxas 13.0 for sm_90. A loop of one block that ends in a
comparison of its 32-bit counter, which steps by a constant, is unrolled by four; the remainder runs
as a two and a one. Lanes that have finished the unrolled part wait, while lanes with a different
remainder run the copies that these lanes skip. So a load in the loop is executed more often than
the longest-running lane needs.

Terms: loop unrolling (Muchnick, chapter 17; docs/terms.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

from ...ptx.program import (
    Function,
    Immediate,
    Instruction,
    Label,
    Register,
    SourceLine,
    Symbol,
)
from ..facts.opcodes import Does, Trait, does, has
from .flow import registers_of

__all__ = ["as_ptxas_unrolls"]

_MOST = 46  # largest weight of a loop's body
_COPIES = 4
_UNROLLED = (Does.COMPUTES, Does.READS, Does.WRITES)
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "ne": "ne"}


def as_ptxas_unrolls(
    function: Function, varying: set[str]
) -> tuple[Function, dict[Instruction, Instruction | None]]:
    """Return the function with its divergent loops unrolled as ptxas would; {copy: its original}.

    The dictionary also maps added instructions to None. `varying`: registers that differ between
    lanes; a loop that all lanes leave together counts the same either way.
    """
    body = function.body
    found = [_loop(function, at) for at in range(len(body))]
    loops = [loop for loop in found if loop and loop.test.name in varying]
    if not loops:
        return function, {}
    copies: dict[Instruction, Instruction | None] = {}
    new_body: list = []
    registers = dict(function.registers)
    at = 0
    for number, loop in enumerate(loops):
        new_body += body[at : loop.start + 1]  # with the label
        at = loop.end + 1
        add = _Additions(number, loop, copies, registers)
        once = Label(f"$unrolled{number}.1")
        new_body += [*add.left(0), add.branch(True, once.name)]
        for copy_count in (_COPIES, 2, 1):
            after = f"$unrolled{number}.{copy_count}.after"
            new_body += [*add.left(copy_count - 1), add.branch(True, after)]
            again = Label(f"$unrolled{number}.{copy_count}")
            new_body.append(again)
            for copy in range(copy_count):
                first = copy_count == _COPIES and copy == 0
                new_body += loop.inside if first else map(add.copy, loop.inside)
            if copy_count == _COPIES:
                new_body += [*add.left(copy_count - 1), add.branch(False, again.name)]
            new_body.append(Label(after))
    new_body += body[at:]
    return replace(function, body=new_body, registers=registers), copies


@dataclass
class _Loop:
    """A loop of one block: `start` is the index of its label in the function's body.

    It repeats while the counter, to which it adds `step`, compares with `bound`."""

    start: int
    inside: list[Instruction]
    test: Register
    source: SourceLine
    counter: Register
    bound: Register | Immediate
    step: int
    operator: str

    @property
    def end(self) -> int:
        """Return the index of the branch back."""
        return self.start + 1 + len(self.inside)


def _block(function: Function, start: int) -> list[Instruction]:
    """Return the instructions from a label up to and including a branch back to it; [] if none."""
    label, items = function.body[start], []
    if not isinstance(label, Label) or label.name in function.kept_rolled:
        return []
    for item in islice(function.body, start + 1, None):
        if isinstance(item, Label):
            return []
        items.append(item)
        if item.opcode == "bra":
            return items if item.operands[0] == Symbol(label.name) else []
    return []


def _loop(function: Function, start: int) -> _Loop | None:
    """Return the loop that starts at an index of the function's body, if ptxas would unroll it."""
    block = _block(function, start)
    if not block:
        return None
    *inside, branch = block
    if branch.predicate is None or branch.negated or not _fits(inside):
        return None
    written = [(item, r.name) for item in inside for r in registers_of(item)[0]]
    tests = [item for item, name in written if name == branch.predicate.name]
    if len(tests) != 1 or tests[0].opcode != "setp" or len(tests[0].operands) != 3:
        return None
    operator, kind = tests[0].modifiers[0], tests[0].modifiers[-1]
    if operator not in _MIRRORED or kind not in ("s32", "b32") or tests[0].predicate:
        return None
    _, a, b = tests[0].operands
    names = [name for _, name in written]
    if isinstance(b, Register) and b.name in names:
        a, b, operator = b, a, _MIRRORED[operator]
    if not isinstance(a, Register) or (isinstance(b, Register) and b.name in names):
        return None
    if not isinstance(b, (Register, Immediate)):
        return None
    steps = [item for item, name in written if name == a.name]
    if len(steps) != 1 or inside.index(steps[0]) > inside.index(tests[0]):
        return None
    step = _constant_step(steps[0])
    upwards = {"lt": True, "le": True, "gt": False, "ge": False}.get(operator)
    if not step or (upwards is not None and upwards != (step > 0)):
        return None
    return _Loop(start, inside, branch.predicate, branch.source, a, b, step, operator)


def _constant_step(item: Instruction) -> int:
    """Return what `add r, r, constant` adds; 0 for any other instruction."""
    if item.opcode not in ("add", "sub") or item.modifiers[-1] not in ("s32", "u32", "b32"):
        return 0
    to, a, b = item.operands
    if a != to or not isinstance(b, Immediate) or item.predicate:
        return 0
    value = b.value - (1 << 32) if b.value >> 31 & 1 and b.value > 0 else b.value
    return value if item.opcode == "add" else -value


def _fits(inside: list) -> bool:
    """Whether ptxas would consider the loop's body short enough."""
    weight = 0.0
    for item in inside:
        modifiers = set(item.modifiers)
        if (
            not does(item, *_UNROLLED)
            or has(item, Trait.SLOW)
            or (item.opcode == "st" and item.predicate)
        ):
            return False
        if item.opcode == "ld":
            weight += 0.5 if "shared" in modifiers else 2
        elif item.opcode == "st":
            weight += 5
        elif not (item.opcode in ("add", "sub", "setp") and _is_bookkeeping(item)):
            weight += 1
    return weight <= _MOST


def _is_bookkeeping(item: Instruction) -> bool:
    """Whether the instruction is part of the counter, a pointer or the loop's test."""
    return item.opcode == "setp" or item.operands[0] == item.operands[1]


class _Additions:
    """Creates the instructions that unrolling one loop adds."""

    def __init__(self, number: int, loop: _Loop, copies: dict, registers: dict):
        self.rest, self.other = (Register(f"%unrolled{number}.{n}", "b64") for n in (0, 1))
        self.more = Register(f"%unrolled{number}.more", "pred")
        registers |= {r.name: r for r in (self.rest, self.other, self.more)}
        self.loop = loop
        self.copies = copies

    def copy(self, item: Instruction) -> Instruction:
        made = replace(item)
        self.copies[made] = item
        return made

    def _made(self, opcode: str, modifiers: tuple, operands: tuple, **more) -> Instruction:
        made = Instruction(opcode, modifiers, operands, self.loop.source, **more)
        self.copies[made] = None
        return made

    def left(self, beyond: int) -> list[Instruction]:
        """Set `more` if more than `beyond` iterations are left."""
        loop = self.loop
        a, b = (loop.bound, loop.counter) if loop.step > 0 else (loop.counter, loop.bound)
        limit = beyond * abs(loop.step) - (loop.operator in ("le", "ge"))
        wide = [
            self._made("cvt", ("s64", "s32"), (to, value))
            if isinstance(value, Register)
            else self._made("mov", ("s64",), (to, value))
            for to, value in ((self.rest, a), (self.other, b))
        ]
        rest = self.rest, self.rest, self.other
        difference = [self._made("sub", ("s64",), rest)]
        if loop.operator == "ne":  # it may wrap around
            kept = self.rest, self.rest, Immediate(0xFFFFFFFF)
            difference.append(self._made("and", ("b64",), kept))
        test = self._made("setp", ("gt", "s64"), (self.more, self.rest, Immediate(limit)))
        return [*wide, *difference, test]

    def branch(self, negated: bool, label: str) -> Instruction:
        target = (Symbol(label),)
        return self._made("bra", (), target, predicate=self.more, negated=negated)
