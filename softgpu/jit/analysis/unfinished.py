"""Instructions that access registers of a wgmma that may still be in flight."""

from __future__ import annotations

from ...ptx.program import Instruction, Register, Vector
from .flow import EXIT, Block, registers_of

__all__ = ["find_unfinished"]

_MOST_GROUPS = 9
"""Later groups count as this one; a program with more groups in flight is not analysed."""

Held = tuple[Instruction, int, bool]
"""A wgmma, the groups committed since, and whether the register is its accumulator."""
State = dict[str, frozenset[Held]]


def find_unfinished(blocks: list[Block]) -> dict[Instruction, list[tuple[Instruction, bool]]]:
    """Return, by instruction, the wgmmas whose registers it accesses, and whether it writes
    them."""
    if not any(item.opcode == "wgmma" for block in blocks for item in block.instructions):
        return {}
    before: list[State | None] = [None] * len(blocks)
    before[0] = {}
    left = [0]
    while left:
        index = left.pop()
        after = dict(before[index] or {})
        for item in blocks[index].instructions:
            _step(item, after)
        for target in blocks[index].targets:
            if target != EXIT and _joins(before, target, after) and target not in left:
                left.append(target)
    found: dict[Instruction, list[tuple[Instruction, bool]]] = {}
    for block, state in zip(blocks, before):
        for item in block.instructions:
            if state is not None and (touched := _step(item, state)):
                found[item] = touched
    return found


def _joins(before: list[State | None], target: int, state: State) -> bool:
    """Merge a predecessor's state into a block's; return whether that changed it."""
    known = before[target]
    if known is None:
        before[target] = dict(state)
        return True
    merged = {name: known.get(name, frozenset()) | held for name, held in state.items()}
    learns = any(known.get(name) != held for name, held in merged.items())
    known.update(merged)
    return learns


def _names(*operands) -> set[str]:
    elements = [e for o in operands for e in (o.elements if isinstance(o, Vector) else (o,))]
    return {e.name for e in elements if isinstance(e, Register)}


def _step(item: Instruction, state: State) -> list[tuple[Instruction, bool]]:
    """Return what an instruction accesses; update the state past it."""
    if item.opcode == "wgmma":
        return _step_of_product(item, state)
    written, read = (_names(*registers) for registers in registers_of(item))
    moved = frozenset[Held]().union(*(state.get(name, ()) for name in read))
    if item.opcode == "mov" and len(read) == 1 and moved:
        state.update(dict.fromkeys(written, moved))  # as compilers name a register anew
        return []
    touched = _touched(read - written, state, False) or _touched(written, state, True)
    if not item.predicate:
        for name in written:
            state.pop(name, None)
    return touched


def _touched(names: set[str], state: State, writes: bool) -> list[tuple[Instruction, bool]]:
    held = {product: None for name in sorted(names) for product, *_ in state.get(name, ())}
    return [(product, writes) for product in held]


def _step_of_product(item: Instruction, state: State) -> list[tuple[Instruction, bool]]:
    kind = item.modifiers[0]
    if kind == "commit_group":
        for name, held in state.items():
            state[name] = frozenset((p, min(n + 1, _MOST_GROUPS), sums) for p, n, sums in held)
    elif kind == "wait_group":
        most = item.operands[0].value
        for name, held in [*state.items()]:
            state[name] = frozenset(one for one in held if one[1] <= most)
    elif kind == "mma_async":
        sums, _, a, *_ = item.operands
        of_a = _names(a) if isinstance(a, Vector) else set()
        under_way = {name: frozenset(one for one in state.get(name, ()) if one[2]) for name in of_a}
        touched = _touched(of_a, under_way, False)
        for name in _names(sums):
            state[name] = frozenset({(item, 0, True)})
        for name in of_a:
            state[name] = state.get(name, frozenset()) | {(item, 0, False)}
        return touched
    return []
