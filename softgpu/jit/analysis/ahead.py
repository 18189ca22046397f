"""Barriers that a warp need not wait at until it next touches memory.

Between a barrier and its next memory access, a warp neither affects the other warps nor depends on
them. So it can arrive at the barrier early and wait only just before that access. In the last steps
of a tree reduction most warps have nothing to do before the next barrier. They go straight on to it
and never wait, which saves a switch of stacks each time.

Terms: split barrier, fuzzy barrier (Gupta 1989; docs/terms.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...ptx.program import Function, Immediate, Instruction, Special
from ..facts.opcodes import Does, Trait, does, has
from .flow import EXIT, Block, spinning_loops

__all__ = ["Ahead", "plan_ahead"]

_CLOCKS = ("clock", "globaltimer")


@dataclass
class Ahead:
    """Barriers at which a warp only arrives, and the instructions before which it waits."""

    barriers: set[Instruction] = field(default_factory=set)
    waits: set[Instruction] = field(default_factory=set)


def _is_barrier(item: Instruction) -> bool:
    return has(item, Trait.MEETS) and "warp" not in item.modifiers


def _is_syncthreads(item: Instruction) -> bool:
    return "sync" in item.modifiers and item.operands == (Immediate(0),) and not item.predicate


def _touches(item: Instruction) -> bool:
    """Whether the instruction depends on, or affects, which warps have arrived at a barrier."""
    if does(item, Does.COMPUTES):
        specials = [operand for operand in item.operands if isinstance(operand, Special)]
        return any(special.name.startswith(_CLOCKS) for special in specials)
    if does(item, Does.READS):
        return "param" not in item.modifiers
    return not (does(item, Does.TALKS, Does.JUMPS) or has(item, Trait.MEETS))


def _next(index: int, block: Block, waiting: list[frozenset[int]]) -> list[int]:
    """Return the blocks that the warp may run next: a target, or a block where other lanes wait."""
    return [*block.targets, *waiting[index]]


def _is_idle(items: list[Instruction]) -> bool | None:
    """Whether the instructions reach a barrier before they touch anything; None: neither occurs."""
    for item in items:
        if _is_barrier(item) or _touches(item):
            return _is_barrier(item)
    return None


def _pays(blocks: list[Block], waiting: list[frozenset[int]]) -> bool:
    """Whether a warp can get from one barrier to another, or to its end, without touching
    anything."""
    idle: dict[int, bool | None] = {EXIT: True}
    idle |= {index: _is_idle(block.instructions) for index, block in enumerate(blocks)}
    open_ends = [index for index, found in idle.items() if found is None]
    changed = True
    while changed:
        changed = False
        for index in open_ends:
            if not idle[index] and any(idle[to] for to in _next(index, blocks[index], waiting)):
                idle[index] = changed = True
    for index, block in enumerate(blocks):
        following = any(idle[to] for to in _next(index, block, waiting))
        barriers = (n for n, item in enumerate(block.instructions) if _is_barrier(item))
        for position in barriers:
            after = _is_idle(block.instructions[position + 1 :])
            if following if after is None else after:
                return True
    return False


def plan_ahead(function: Function, blocks: list[Block], waiting: list[frozenset[int]]) -> Ahead:
    """Plan split barriers; return an empty plan if they do not pay, or if warps wait for each other
    other than at __syncthreads.

    `waiting`: for each block, the other blocks at which lanes may wait while it runs."""
    items = [item for block in blocks for item in block.instructions]
    barriers = {item for item in items if _is_barrier(item)}
    others = any(does(i, Does.CALLS) or i.opcode in ("mbarrier", "nanosleep") for i in items)
    if not function.is_entry or others or not all(map(_is_syncthreads, barriers)):
        return Ahead()
    if spinning_loops(blocks) or not _pays(blocks, waiting):
        return Ahead()
    plan = Ahead(barriers)
    at_begin = {0: False}  # whether a warp may be ahead where a block begins
    todo = [0]
    while todo:
        index = todo.pop()
        ahead = at_begin[index]
        for item in blocks[index].instructions:
            if item in barriers:
                ahead = True
            elif ahead and _touches(item):
                plan.waits.add(item)
                ahead = False
        for to in _next(index, blocks[index], waiting):
            if to != EXIT and (to not in at_begin or ahead and not at_begin[to]):
                at_begin[to] = ahead
                todo.append(to)
    return plan
