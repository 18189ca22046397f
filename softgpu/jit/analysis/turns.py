"""How often a warp may go round a kernel's loops, as far as can be told before it runs."""

from __future__ import annotations

from ...ptx.program import Immediate, Instruction
from ..facts.types import bits_of, is_float
from .flow import Block, loops_of

__all__ = ["find_turns", "looping_blocks"]


def looping_blocks(blocks: list[Block]) -> set[int]:
    """The blocks that stand in loops."""
    return {inside for last, first in loops_of(blocks) for inside in range(first, last + 1)}


def find_turns(blocks: list[Block]) -> tuple[int, int]:
    """(how many loops of a function lie in each other, the largest whole constant that any of
    them compares with)."""
    ends = {first: last for last, first in loops_of(blocks)}
    depth = most = 0
    for index, block in enumerate(blocks):
        around = sum(first <= index <= last for first, last in ends.items())
        depth = max(depth, around)
        if around:
            most = max([most, *map(_constant, block.instructions)])
    return depth, most


def _constant(item: Instruction) -> int:
    """The constant that an instruction compares a whole number with, without its sign; or 0."""
    if item.opcode != "setp" or is_float(item.modifiers[-1]):
        return 0
    numbers = 1 << bits_of(item.modifiers[-1])
    given = [o.value % numbers for o in item.operands if isinstance(o, Immediate)]
    return max([0, *(min(n, numbers - n) for n in given)])
