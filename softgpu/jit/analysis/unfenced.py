"""Which products of warpgroups have registers that were written since the last wgmma.fence.

PTX wants a wgmma.fence between writing a register, by anything but a wgmma of the same shape, and a
wgmma that takes it for its sums or for a. A forward analysis: which instructions may have written
each register since. Moves only name a value anew; compilers put them, and constants, where they
like. Code without optimisation loads variables for each instruction, and is not looked into."""

from __future__ import annotations

from ...ptx.program import Instruction, Vector
from ..facts.layout import Layout
from ..facts.opcodes import Does, does
from .flow import EXIT, Block, registers_of

__all__ = ["find_unfenced"]

State = dict[str, frozenset[Instruction]]


def find_unfenced(blocks: list[Block], layout: Layout) -> dict[Instruction, list[Instruction]]:
    """By product, those that may have written one of its registers since the last fence."""
    items = [item for block in blocks for item in block.instructions]
    if layout.module.debug or not any(item.opcode == "wgmma" for item in items):
        return {}
    before: dict[int, State] = {0: {}}
    left = [0]
    while left:
        index = left.pop()
        after = dict(before[index])
        for item in blocks[index].instructions:
            _step(item, after)
        for target in {*blocks[index].targets} - {EXIT}:
            known = before.get(target)
            merged = {name: after[name] | (known or {}).get(name, frozenset()) for name in after}
            if known is None or any(known.get(name) != merged[name] for name in merged):
                before[target] = {**(known or {}), **merged}
                left.append(target)
    found: dict[Instruction, list[Instruction]] = {}
    for index, state in before.items():
        for item in blocks[index].instructions:
            if written := _step(item, state):
                found[item] = sorted(written, key=items.index)
    return found


def _step(item: Instruction, state: State) -> set[Instruction]:
    """Who has written a product's registers; the state becomes that after the instruction."""
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
    of_a = (
        [e.name for e in item.operands[2].elements] if isinstance(item.operands[2], Vector) else []
    )
    found = {writer for name in (*written, *of_a) for writer in state.get(name, ())}
    for name in written:
        state.pop(name, None)
    return found
