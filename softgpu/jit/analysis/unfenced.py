"""wgmma instructions whose registers were written since the last wgmma.fence.

PTX requires a wgmma.fence between writing a register, except by a wgmma of the same shape, and a
wgmma that uses it as accumulator or as a. This is a forward analysis of the instructions that may
have written each register since. Moves only rename a value: compilers place them, and constants,
freely. Unoptimised code reloads variables for each instruction and is not analysed.

Terms: reaching definitions (Aho et al., chapter 9; docs/terms.md).
"""

from __future__ import annotations

from ...ptx.program import Instruction, Vector
from ..facts.layout import Layout
from ..facts.opcodes import Does, does
from .flow import EXIT, Block, registers_of

__all__ = ["find_unfenced"]

State = dict[str, frozenset[Instruction]]


def find_unfenced(blocks: list[Block], layout: Layout) -> dict[Instruction, list[Instruction]]:
    """Return, for each wgmma, the instructions that may have written one of its registers since
    the last fence."""
    items = [item for block in blocks for item in block.instructions]
    if layout.module.debug or not any(item.opcode == "wgmma" for item in items):
        return {}
    watched = _watched(items)
    steps = [[item for item in block.instructions if _counts(item, watched)] for block in blocks]
    before: dict[int, State] = {0: {}}
    left = {0}
    while left:
        index = min(left)
        left.remove(index)
        after = dict(before[index])
        for item in steps[index]:
            _step(item, after)
        for target in {*blocks[index].targets} - {EXIT}:
            if target not in before:
                before[target] = {}
                left.add(target)
            known = before[target]
            for name, writers in after.items():
                if not writers <= known.get(name, frozenset()):
                    known[name] = writers | known.get(name, frozenset())
                    left.add(target)
    found: dict[Instruction, list[Instruction]] = {}
    for index, state in before.items():
        for item in steps[index]:
            if written := _step(item, state):
                found[item] = sorted(written, key=items.index)
    return found


def _watched(items: list[Instruction]) -> set[str]:
    """Return the registers of wgmma instructions, and those that moves copy them to or from."""
    names: set[str] = set()
    for item in items:
        if item.opcode == "wgmma" and item.modifiers[0] == "mma_async":
            names.update(register.name for register in registers_of(item)[0])
            names.update(_names_of_a(item))
    moves = [registers_of(item) for item in items if item.opcode == "mov"]
    before = -1
    while before != len(names):
        before = len(names)
        for written, read in moves:
            if any(register.name in names for register in written):
                names.update(register.name for register in read)
    return names


def _counts(item: Instruction, watched: set[str]) -> bool:
    """Whether an instruction changes what is known of wgmma's registers."""
    if item.opcode == "wgmma" or does(item, Does.CALLS):
        return True
    return any(register.name in watched for register in registers_of(item)[0])


def _names_of_a(item: Instruction) -> list[str]:
    a = item.operands[2]
    return [e.name for e in a.elements] if isinstance(a, Vector) else []


def _step(item: Instruction, state: State) -> set[Instruction]:
    """Return who has written the wgmma's registers; update the state past the instruction."""
    names = [[register.name for register in registers] for registers in registers_of(item)]
    written, read = names
    if item.opcode == "wgmma" or does(item, Does.CALLS):
        return _step_of_product(item, state, written)
    if item.opcode == "mov":
        writers = frozenset[Instruction]().union(*(state.get(name, frozenset()) for name in read))
    else:
        writers = frozenset([item])
    for name in written:
        state[name] = writers | (state.get(name, frozenset()) if item.predicate else frozenset())
    return set()


def _step_of_product(item: Instruction, state: State, written: list[str]) -> set[Instruction]:
    if item.opcode != "wgmma" or item.modifiers[0] == "fence":
        state.clear()
        return set()
    if item.modifiers[0] != "mma_async":
        return set()
    names = *written, *_names_of_a(item)
    found = {writer for name in names for writer in state.get(name, ())}
    for name in written:
        state.pop(name, None)
    return found
