"""Accesses that poll: by which lanes wait for others, or check whether they have to.

Terms: ad hoc synchronization (Xiong et al. 2010; docs/terms.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ...ptx.program import Address, Function, Immediate, Instruction, Operand, Register, Vector
from ..facts.layout import Layout
from ..facts.opcodes import Does, does
from .flow import Block, gathers, loops_of, registers_of
from .proof import access_bytes, address_of

__all__ = ["find_constants", "find_expected", "find_polling", "find_updated"]

_STRONG = {"volatile", "relaxed", "acquire"}
_STACK = "%SP"  # the stack pointer of unoptimised code, which keeps variables in memory
_NVCCS_OWN = re.compile(r"__[a-z]+Atomic[A-Z]")
"""Names of the atomic functions that nvcc does not inline."""


def find_constants(function: Function) -> set[str]:
    """Return the registers that are only ever assigned constants."""
    found: set[str] = set()
    others: set[str] = set()
    for item in function.instructions:
        sets = item.opcode == "mov" and isinstance(item.operands[1], Immediate)
        (found if sets else others).update(r.name for r in registers_of(item)[0])
    return found - others


def find_expected(function: Function) -> set[str]:
    """Return the registers that a compare-and-swap compares with; reading those early does no
    harm."""
    items = function.instructions
    swaps = (i for i in items if i.opcode == "atom" and "cas" in i.modifiers)
    found = {o.name for i in swaps for o in i.operands[2:3] if isinstance(o, Register)}
    return _with_sources(found, [i for i in items if i.opcode in ("mov", "cvt", "selp")], "pred")


def _with_sources(names: set[str], items: list[Instruction], but: str = "") -> set[str]:
    """Return the registers and all that they are computed from, without registers of type `but`."""
    found, before = set(names), -1
    while before < len(found):
        before = len(found)
        for item in items:
            written, read = registers_of(item)
            places = _own_places(item)
            if item.opcode == "call" and found & _parameters(item.operands[0]):
                found |= _parameters(*item.operands[2:])
            elif found & (places if item.opcode == "st" else {r.name for r in written}):
                found |= {register.name for register in read if register.type != but} | places
    return found


def _parameters(*lists: Operand) -> set[str]:
    """Return the locations of a call's parameters."""
    return {f"[{o}]" for names in lists if isinstance(names, Vector) for o in names.elements}


def _own_places(item: Instruction) -> set[str]:
    """Return the words in its own stack frame, or among the parameters of a call, that a load or a
    store accesses."""
    place = address_of(item) if item.opcode in ("ld", "st") else Address(None)
    if "param" not in item.modifiers and str(place.base) != _STACK:
        return set()
    return {str(replace(place, offset=place.offset + at)) for at in range(0, access_bytes(item), 4)}


def find_updated(function: Function) -> set[Address]:
    """Return the addresses that are both loaded from and stored to."""

    def places(opcode: str, at: int) -> set[Address]:
        return {item.operands[at] for item in function.instructions if item.opcode == opcode}

    return places("ld", 1) & places("st", 0)


def find_polling(
    function: Function, blocks: list[Block], constants: set[str], layout: Layout
) -> set[Instruction]:
    """Return the strong loads and atomics that may wait for others; `constants`: find_constants."""
    waits = _waits_in_loops(blocks, constants, layout)
    return waits | _first_looks(function, waits) | _takes_locks(function, constants)


def _acts(item: Instruction, layout: Layout) -> bool:
    """Whether an instruction that is not an atomic does more than look and wait."""
    if item.opcode == "st" and _own_places(item):
        return False
    called = item.opcode == "call" and layout.module.functions.get(str(item.operands[1]))
    if called:  # as votes are without optimisation
        items = called.instructions
        return any(i.opcode in ("atom", "call") or _acts(i, layout) for i in items)
    meets = gathers(item) and does(item, Does.ORDERS) and "red" not in item.modifiers  # a vote
    return meets or item.opcode == "red" or does(item, Does.WRITES, Does.CALLS)


def _waits_in_loops(blocks: list[Block], constants: set[str], layout: Layout) -> set[Instruction]:
    """Return the strong loads and atomics of loops that do nothing else than wait for them."""
    found = set()
    for last, first in _loops_of(blocks):
        loop = [i for b in blocks[first : last + 1] for i in b.instructions]
        atoms = [i for i in loop if i.opcode == "atom"]
        if len(atoms) > 1 or any(_acts(i, layout) for i in loop):
            continue
        deciding = _deciding(blocks, first, last, loop)
        changed = {r.name for i in loop for r in registers_of(i)[0]} - constants
        for item in atoms or [i for i in loop if _STRONG & {*i.modifiers}]:
            results, _ = registers_of(item)
            given = {getattr(o, "name", None) for o in item.operands[2:]}
            if {r.name for r in results} & deciding and not given & changed:
                found.add(item)
    return found


def _loops_of(blocks: list[Block]) -> Iterator[tuple[int, int]]:
    """Yield the last and the first block of each loop; of loops that share their first block, and
    so an empty last one that joins them, each by itself."""
    for last, first in loops_of(blocks):
        yield last, first
        if not blocks[last].instructions:
            yield from ((n, first) for n in range(first, last) if last in blocks[n].targets)


def _first_looks(function: Function, waits: set[Instruction]) -> set[Instruction]:
    """Return the strong loads before loops that leave their results where the loops' loads do."""
    moves = [i for i in function.instructions if i.opcode == "mov" or _own_places(i)]
    kept = {r.name for item in waits if item.opcode == "ld" for r in registers_of(item)[0]}
    before = -1
    while before < len(kept):
        before = len(kept)
        for move in moves:
            written, read = registers_of(move)
            if kept & {r.name for r in read}:
                kept |= {r.name for r in written} | _own_places(move)
    kept = _with_sources(kept, moves)
    strong = (i for i in function.instructions if i.opcode == "ld" and _STRONG & {*i.modifiers})
    return {item for item in strong if kept & {r.name for r in registers_of(item)[0]}}


def _deciding(blocks: list[Block], first: int, last: int, loop: list[Instruction]) -> set[str]:
    """Return the registers that decide whether a loop repeats."""
    found = set()
    repeats = {first} if blocks[last].instructions else {first, last}
    inside = set(range(first, last + 1)) - repeats
    for block in blocks[first : last + 1]:
        if not inside.issuperset(block.targets) and isinstance(block.choice, Instruction):
            found |= {register.name for register in registers_of(block.choice)[1]}
    return _with_sources(found, loop)


def _takes_locks(function: Function, constants: set[str]) -> set[Instruction]:
    """Return swaps of one constant for another, and atomics whose purpose is unknown: without
    optimisation, each is in a function of its own, which loops may call to wait."""
    atoms = [item for item in function.instructions if item.opcode == "atom"]
    if _NVCCS_OWN.match(function.name):
        return {*atoms}

    def is_constant(operand) -> bool:
        return isinstance(operand, Immediate) or getattr(operand, "name", None) in constants

    swaps = (item for item in atoms if "cas" in item.modifiers)
    return {item for item in swaps if all(map(is_constant, item.operands[2:]))}
