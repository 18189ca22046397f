"""Registers kept as a sum: a base that all lanes share, plus an offset for each lane.

Where a loop walks through memory, only the base changes. The offsets stay, and with them all that
is known about them: whether the lanes are consecutive, or all at one address.

Terms: scalar and affine values (Collange 2011; docs/terms.md).
"""

from __future__ import annotations

from ...ptx.program import Address, Function, Instruction, Register

__all__ = ["find_sums", "is_sum"]


def is_sum(item: Instruction) -> bool:
    """Whether the instruction is a plain sum, difference or copy of whole registers."""
    kind = item.modifiers[-1] if item.modifiers else ""
    if kind[:1] not in "usb" or kind[1:] not in ("32", "64"):
        return False
    if item.opcode == "cvta":
        plain = "global" in item.modifiers
    else:
        plain = item.opcode in ("add", "sub", "mov") and len(item.modifiers) == 1
    registers = [o for o in item.operands if isinstance(o, Register)]
    return plain and all(r.type[0] in "usb" and r.type[1:] == kind[1:] for r in registers)


def find_sums(function: Function, varying: set[str]) -> set[str]:
    """Return the names of the registers worth keeping as sums: addresses and their summands."""
    items = function.instructions
    defined: dict[str, list[Instruction]] = {}
    for item in items:
        if item.operands and isinstance(item.operands[0], Register) and is_sum(item):
            defined.setdefault(item.operands[0].name, []).append(item)
    wanted: set[str] = set()
    todo = [
        operand.base.name
        for item in items
        if item.opcode in ("ld", "ldu", "st")
        for operand in item.operands
        if isinstance(operand, Address) and isinstance(operand.base, Register)
    ]
    while todo:
        name = todo.pop()
        if name in varying and name in defined and name not in wanted:
            wanted.add(name)
            sources = (o for item in defined[name] for o in item.operands[1:])
            todo += [source.name for source in sources if isinstance(source, Register)]
    return wanted
