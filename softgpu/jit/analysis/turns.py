"""How often a warp may go round a kernel's loops, as far as can be told before it runs."""

from __future__ import annotations

from ...ptx.program import Immediate, Instruction
from ..facts.types import bits_of, is_float
from .flow import EXIT, Block

__all__ = ["looping_blocks", "loops_of"]


def _loops(blocks: list[Block]) -> dict[int, int]:
    """The last blocks of loops, by their first ones."""
    return {
        first: last
        for last, block in enumerate(blocks)
        for first in block.targets
        if EXIT < first <= last
    }


def looping_blocks(blocks: list[Block]) -> set[int]:
    """The blocks that stand in loops."""
    return {inside for first, last in _loops(blocks).items() for inside in range(first, last + 1)}


def loops_of(blocks: list[Block]) -> tuple[int, int]:
    """(how many loops of a function lie in each other, the largest whole constant that any of
    them compares with)."""
    ends = _loops(blocks)
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
