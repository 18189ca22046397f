"""Strides between neighbouring threads along x, mostly of addresses.

These are guesses, which the emitted code tests: values computed from tile and image coordinates by
remainders and limits usually have the same stride as the coordinates.

Terms: stride analysis (Karrenberg, Hack 2011; docs/terms.md).
"""

from __future__ import annotations

from ...ptx.program import Address, Function, Immediate, Instruction, Register, Special
from ..facts.opcodes import Agreement, Trait, has, opcode_of
from .flow import registers_of

__all__ = ["PIECE", "strides_along_x"]

PIECE = 8
"""How many lanes are considered together: the width of the narrowest common blocks."""


def strides_along_x(function: Function) -> dict[str, int | None]:
    """Return each register's stride; None if it is not a single number known before the launch."""
    items = function.instructions
    steps = [(item, [register.name for register in registers_of(item)[0]]) for item in items]
    strides: dict[str, int | None] = {}
    before = None
    while before != strides:
        before = dict(strides)
        for item, written in steps:
            if not written:
                continue
            stride = _of_result(item, [_of_operand(operand, strides) for operand in item.operands])
            for name in written:
                strides[name] = stride if strides.get(name, stride) == stride else None
    return strides


def _of_operand(operand, strides: dict[str, int | None]) -> int | None:
    if isinstance(operand, Address):
        operand = operand.base
    if isinstance(operand, Register):
        return strides.get(operand.name, 0)
    if isinstance(operand, Special):
        return {"tid.x": 1, "laneid": 1}.get(operand.name, 0)
    return 0


def _of_result(item: Instruction, operands: list[int | None]) -> int | None:
    opcode, sources = item.opcode, [stride for stride in operands[1:] if stride is not None]
    if opcode_of(item).agreement is Agreement.NEVER or None in operands[1:]:
        return None
    if not any(sources):
        return 0
    constants = [o.value for o in item.operands[1:] if isinstance(o, Immediate)]
    if opcode in ("add", "or"):
        return sum(sources)
    if opcode == "sub":
        return sources[0] - sources[1]
    if has(item, Trait.KEEPS_STRIDE):
        return max(sources, key=abs)
    if opcode in ("mul", "mad") and (constants or not any(sources[:2])):
        factor = constants[0] if any(sources[:2]) else 0
        return factor * sum(sources[:2]) + sum(sources[2:])
    if opcode in ("shl", "shr") and constants:
        constants = [1 << min(constants[0] % (1 << 32), 64)]  # to multiply or divide by
    if opcode == "shl" and constants:
        return sources[0] * constants[0]
    if opcode in ("shr", "div") and constants:
        divisor = abs(constants[0])
        return 0 if divisor >= PIECE * abs(sources[0]) else None
    return None
