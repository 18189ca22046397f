"""Which lanes an instruction of several lanes names, where ptxas knows that, too."""

from __future__ import annotations

from ...ptx.program import Function, Immediate, Instruction, Register
from .flow import registers_of

__all__ = ["find_masks"]

_TAKE_MASKS = ("shfl", "vote", "match", "redux", "elect", "bar", "barrier")


def find_masks(function: Function) -> dict[Instruction, int]:
    """By instruction, its member mask, of those that have a constant."""
    members = {
        item: item.operands[-1]
        for item in function.instructions
        if item.opcode in _TAKE_MASKS and item.operands
    }
    wanted = {one.name for one in members.values() if isinstance(one, Register)}
    set_by: dict[str, list[Instruction]] = {name: [] for name in wanted}
    for item in function.instructions if wanted else ():
        for register in registers_of(item)[0]:
            if register.name in wanted:
                set_by[register.name].append(item)

    def constant(operand) -> int | None:
        if isinstance(operand, Register) and len(set_by[operand.name]) == 1:
            (only,) = set_by[operand.name]
            operand = only.operands[1] if only.opcode == "mov" and not only.predicate else None
        return operand.value & 0xFFFFFFFF if isinstance(operand, Immediate) else None

    found = {item: constant(operand) for item, operand in members.items()}
    return {item: mask for item, mask in found.items() if mask is not None}
