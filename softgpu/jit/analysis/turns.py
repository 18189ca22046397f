"""Estimates how often a warp repeats a kernel's loops, as far as that is known before it runs.

Terms: trip count (Muchnick, chapter 14; docs/terms.md).
"""

from __future__ import annotations

from ...ptx.program import Function, Immediate, Instruction, Special
from ..facts.opcodes import Does, does
from ..facts.types import bits_of, is_float
from .flow import Block, loops_of, registers_of

__all__ = ["find_turns", "looping_blocks"]


def looping_blocks(blocks: list[Block]) -> set[int]:
    """Return the blocks inside loops."""
    return {inside for last, first in loops_of(blocks) for inside in range(first, last + 1)}


def find_turns(function: Function, blocks: list[Block]) -> tuple[int, int, bool]:
    """Return (the depth of the deepest loop nest, the largest integer constant that a loop
    compares with, whether every outermost loop shares its trip count with the grid or is bounded
    by that constant). Loops that only wait for others do not count."""
    ends = {first: last for last, first in loops_of(blocks)}
    waits = {
        first
        for first, last in ends.items()
        if not any(first < inner <= last for inner in ends)
        and _only_looks(blocks[first : last + 1])
    }
    waiting = {index for first in waits for index in range(first, ends.pop(first) + 1)}
    depth = most = 0
    for index, block in enumerate(blocks):
        around = sum(first <= index <= last for first, last in ends.items())
        depth = max(depth, around)
        if around and index not in waiting:
            most = max([most, *map(_constant, block.instructions)])
    return depth, most, bool(ends) and _are_few(ends, blocks, function)


def _only_looks(blocks: list[Block]) -> bool:
    """Whether a loop reads what others change, and changes nothing itself."""
    items = (item for block in blocks for item in block.instructions)
    acts = any(does(item, Does.WRITES, Does.UPDATES, Does.CALLS) for item in items)
    return not acts and any(block.watches for block in blocks)


def _are_few(ends: dict[int, int], blocks: list[Block], function: Function) -> bool:
    """Whether each outermost loop compares a value derived from the grid's size, is bounded by a
    constant, or counts the remainder of an unrolled loop."""
    of_grid = _of_grid(function)
    left_over = {
        register.name
        for item in function.instructions
        if item.opcode == "and" and isinstance(item.operands[-1], Immediate)
        for register in registers_of(item)[0]
    }
    for first, last in ends.items():
        if any(start < first and last <= end for start, end in ends.items()):
            continue
        items = (item for block in blocks[first : last + 1] for item in block.instructions)
        tests = [item for item in items if item.opcode == "setp"]
        if any(r.name in of_grid for item in tests for r in registers_of(item)[1]):
            continue
        ending = [item for item in blocks[last].instructions if item.opcode == "setp"]
        counted = any(r.name in left_over for item in ending for r in registers_of(item)[1])
        if not counted and not any(map(_constant, ending)):
            return False
    return True


def _of_grid(function: Function) -> set[str]:
    """Return the registers computed from the number of blocks: the step of a grid-stride loop."""
    found: set[str] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for item in function.instructions:
            written, read = registers_of(item)
            if item.opcode not in ("ld", "setp", "call") and (
                any(isinstance(o, Special) and o.name.startswith("nctaid") for o in item.operands)
                or any(register.name in found for register in read)
            ):
                found.update(register.name for register in written)
    return found


def _constant(item: Instruction) -> int:
    """Return the absolute value of the constant that an integer comparison has; 0: none."""
    if item.opcode != "setp" or is_float(item.modifiers[-1]):
        return 0
    numbers = 1 << bits_of(item.modifiers[-1])
    given = [o.value % numbers for o in item.operands if isinstance(o, Immediate)]
    return max([0, *(min(n, numbers - n) for n in given)])
