"""Member masks of warp-level instructions, where ptxas knows them to be constant."""

from __future__ import annotations

from ...ptx.program import Function, Immediate, Instruction, Register
from .flow import constants

__all__ = ["find_masks"]

_TAKE_MASKS = ("shfl", "vote", "match", "redux", "elect", "bar", "barrier")


def find_masks(function: Function) -> dict[Instruction, int]:
    """Return the member mask of each instruction whose mask is a constant."""
    members = {
        item: item.operands[-1]
        for item in function.instructions
        if item.opcode in _TAKE_MASKS and item.operands
    }
    registers = {one.name for one in members.values() if isinstance(one, Register)}
    known = constants(function, registers)
    found = {}
    for item, mask in members.items():
        if isinstance(mask, Immediate):
            found[item] = mask.value & 0xFFFFFFFF
        elif isinstance(mask, Register) and mask.name in known:
            found[item] = known[mask.name]
    return found
