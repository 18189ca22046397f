"""Values that nothing has made, and where they matter.

A register that is live where a function begins is read on a path on which nothing wrote it. To
compute with what it holds is no mistake yet: compilers do so ahead of a branch, copy what is never
looked at, and choose afterwards. To store it, to branch by it or to use it as an address is, as in
MemorySanitizer (Stepanov and Serebryany 2015). So the lanes that have a value are followed, of
these registers and of those that are computed from them. What is only copied to shared memory may
be a gap that nobody reads.

Terms: uninitialised values (docs/terms.md).
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
    """`first`: of each register that may have no value, the instruction that computes with such a
    one first; None: it is only copied."""

    first: dict[str, Instruction | None] = field(default_factory=dict)

    def __str__(self) -> str:
        return ", ".join(self.first)

    def joined(self, item: Instruction) -> bool:
        """Whether the result has a value if one operand has: as bits that are put together."""
        return item.opcode in _JOINS or has(item, Trait.MOVES)

    def matters(self, item: Instruction) -> list[list[str]]:
        """Groups of registers, of each of which one must have a value where an instruction runs."""
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
    """What an instruction reads; a predicated one does not read what it writes for other lanes."""
    written, read = registers_of(item)
    return read[: len(read) - len(written)] if item.predicate else read


def results_of(item: Instruction) -> list[str]:
    return [register.name for register in registers_of(item)[0]]


def _groups(item: Instruction) -> Iterator[list[str]]:
    """What an instruction reads, in groups of which one member does."""
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
    """The registers that are read on a path on which nothing wrote them, if lanes go so far."""
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
    """The registers that may have no value, with those that are computed from them."""
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
