"""Undefined values, and where they matter.

A register that is live on entry to the function is read on some path on which nothing wrote it.
Computing with such a value is not yet an error: compilers do so ahead of a branch, copy values that
are never used, and select afterwards. Storing it, branching on it or using it as an address is an
error, as in MemorySanitizer (Stepanov and Serebryany 2015). So for these registers, and for those
computed from them, the lanes with a defined value are tracked at run time. A value that is only
copied to shared memory is allowed: it may be padding that nobody reads.

Terms: uninitialised values (Stepanov, Serebryany 2015; docs/terms.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...ptx.program import Address, Instruction, Register, Vector
from ..facts.opcodes import Does, Trait, does, has
from .flow import EXIT, Block, registers_of

__all__ = ["Undefined", "find_undefined", "reads_of", "results_of"]

_JOINS = ("and", "or", "xor", "not", "bfi", "bfe", "prmt", "shl", "shr", "lop3", "shf")


@dataclass
class Undefined:
    """`first`: for each register that may be undefined, the first instruction that computes with
    an undefined value; None: it is only copied."""

    first: dict[str, Instruction | None] = field(default_factory=dict)

    def __str__(self) -> str:
        return ", ".join(self.first)

    def joined(self, item: Instruction) -> bool:
        """Whether one defined operand makes the result defined, as when bits are put together."""
        return item.opcode in _JOINS or has(item, Trait.MOVES)

    def matters(self, item: Instruction) -> list[list[str]]:
        """Return groups of registers; one of each group must be defined when the instruction
        runs."""
        if does(item, Does.COMPUTES, Does.CALLS) or item.opcode == "shfl":
            return []
        if item.opcode == "st" and "param" in item.modifiers:
            return []
        kept = item.opcode == "st" and bool({"shared", "shared::cta"} & {*item.modifiers})
        return [
            names
            for names in _groups(item)
            if names
            and self.first.keys() >= {*names}
            and not (kept and not any(self.first[name] for name in names))
        ]


def reads_of(item: Instruction) -> list[Register]:
    """Return the registers that an instruction reads; a predicated write does not count as a
    read."""
    written, read = registers_of(item)
    return read[: len(read) - len(written)] if item.predicate else read


def results_of(item: Instruction) -> list[str]:
    return [register.name for register in registers_of(item)[0]]


def _groups(item: Instruction) -> Iterator[list[str]]:
    """Yield what an instruction reads, in groups of which one member is read."""
    for operand in item.operands:
        if item.opcode == "st" and isinstance(operand, Vector):
            yield [e.name for e in operand.elements if isinstance(e, Register)]
        elif isinstance(operand, Address) and isinstance(operand.base, Register):
            yield [operand.base.name]
    parts = {e for o in item.operands if isinstance(o, Vector) for e in o.elements}
    known = parts if item.opcode == "st" else set()
    for register in reads_of(item):
        if register not in known:
            yield [register.name]


def _live_at_entry(blocks: list[Block]) -> set[str]:
    """Return the registers read on a path on which nothing wrote them, if lanes take it."""
    live: list[set[str]] = [set() for _ in blocks]
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(blocks))):
            block = blocks[index]
            now = set().union(*(live[t] for t in block.targets if t != EXIT))
            chooser = [block.choice] if isinstance(block.choice, Instruction) else []
            for item in reversed([*block.instructions, *chooser]):
                if not item.predicate:
                    now.difference_update(results_of(item))
                now.update(register.name for register in reads_of(item))
            changed |= now != live[index]
            live[index] = now
    return live[0]


def find_undefined(blocks: list[Block]) -> Undefined:
    """Find the registers that may be undefined, and those computed from them."""
    found = Undefined(dict.fromkeys(sorted(_live_at_entry(blocks))))
    items = [item for block in blocks for item in block.instructions if does(item, Does.COMPUTES)]
    before = -1
    while found.first and before < len(found.first):
        before = len(found.first)
        for item in items:
            sources = [r.name for r in reads_of(item) if r.name in found.first]
            if not sources:
                continue
            first = found.first[sources[0]] or (None if found.joined(item) else item)
            for name in results_of(item):
                found.first[name] = found.first.get(name) or first
    return found
