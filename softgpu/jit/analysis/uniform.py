"""Divergence analysis: which registers may differ between lanes; all others are kept as one scalar.

A register may differ if an operand it is computed from may, or if diverged lanes still need an
older value of it (see `waiting_blocks`). Each condition can cause the other, so this starts from
"all registers are uniform" and iterates to a fixed point.

Terms: divergence analysis, uniformity analysis (Coutinho et al. 2011; docs/terms.md).
"""

from __future__ import annotations

from ...ptx.program import Function, Instruction, Special, Vector
from ..facts.opcodes import Agreement, opcode_of
from .flow import Block, protected_registers, registers_of, waiting_blocks

__all__ = ["divergent_ends", "find_varying"]

_BY_LANE = ("tid.", "laneid", "lanemask_")


def _varies_by_itself(function: Function, item: Instruction) -> bool:
    """Whether the instruction gives lanes different results for equal operands."""
    if opcode_of(item).agreement is Agreement.NEVER or {"match", "any"} <= {
        item.opcode,
        *item.modifiers,
    }:
        return True
    if item.opcode == "ld" and "local" in item.modifiers:
        return True
    if item.opcode == "ld" and "param" in item.modifiers:
        base = item.operands[1].base
        if isinstance(base, str) and not (function.is_entry and base in function.param_offsets):
            return True
    if item.opcode == "cvta" and "local" in item.modifiers:  # each lane has its own
        return True
    parts: list = []
    for operand in item.operands:
        parts += operand.elements if isinstance(operand, Vector) else (operand,)
    return any(isinstance(part, Special) and part.name.startswith(_BY_LANE) for part in parts)


def _reads_that_matter(item: Instruction, read: list) -> list:
    agreement = opcode_of(item).agreement
    if agreement is Agreement.ALWAYS:
        return [r for r in read if r == item.predicate]
    if agreement is Agreement.MEMBERS:
        return [r for r in read if r == item.operands[-1] or r == item.predicate]
    return read


def _step(function: Function, item: Instruction) -> tuple[bool, list, list]:
    """Return (varies by itself, written registers, read registers that make the written ones
    vary)."""
    written, read = registers_of(item)
    return _varies_by_itself(function, item), written, _reads_that_matter(item, read)


def _is_divergent(block: Block, varying: set[str]) -> bool:
    """Whether the lanes of a block may go to different blocks after it."""
    if isinstance(block.choice, Instruction):
        return (block.choice.predicate or block.choice.operands[0]).name in varying
    return block.choice == "entry"


def divergent_ends(blocks: list[Block], varying: set[str]) -> list[bool]:
    """Return, for each block, whether its lanes may diverge at the end."""
    return [_is_divergent(block, varying) for block in blocks]


def find_varying(function: Function, blocks: list[Block], live: list[set[str]]) -> set[str]:
    """Return the names of the registers that need a value per lane; `live`: see live_registers."""
    steps = [[_step(function, item) for item in block.instructions] for block in blocks]
    varying = {"%entry"}
    while True:
        before = len(varying)
        waiting = waiting_blocks(blocks, divergent_ends(blocks, varying))
        for index, needed in enumerate(protected_registers(live, waiting)):
            for by_itself, written, read in steps[index]:
                differs = by_itself or any(r.name in varying for r in read)
                varying |= {r.name for r in written if differs or r.name in needed}
        if len(varying) == before:
            return varying
