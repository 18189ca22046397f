"""Uses of a value that was loaded or came from another lane."""

from __future__ import annotations

from ...ptx.program import Address, Function, Immediate, Instruction, Register
from ..facts.opcodes import Trait, has
from .flow import registers_of

__all__ = ["Uses"]


class Uses:
    """The instructions of a function that read each register."""

    def __init__(self, function: Function):
        self.of: dict[str, list[Instruction]] = {}
        for item in function.instructions:
            for register in registers_of(item)[1]:
                self.of.setdefault(register.name, []).append(item)

    def __str__(self) -> str:
        return ", ".join(f"{name}: {len(items)}" for name, items in self.of.items())

    def only_moves(
        self, register: Register, place: Address, bits: int, in_place: bool = False
    ) -> bool:
        """Whether a value of this many bits, loaded from an address, is only copied, or has bits
        of it set in place. in_place: only the latter."""
        whole = (1 << bits) - 1
        seen, left = set(), [(register.name, False, True)]
        while left:
            step = left.pop()
            if step in seen:
                continue
            seen.add(step)
            name, masked, intact = step
            for item in self.of.get(name, ()):
                if item.opcode == "st" and getattr(item.operands[0].base, "name", None) != name:
                    if item.operands[0] != place if masked else in_place:
                        return False
                    continue
                masks = [o.value for o in item.operands if isinstance(o, Immediate)]
                keeps = item.opcode == "and" and intact and masks == [whole]
                cuts = item.opcode == "bfi" or (item.opcode == "and" and masks != [] and not keeps)
                moves = has(item, Trait.MOVES) or keeps or cuts
                if not (moves or (masked and item.opcode == "or")):
                    return False
                still = intact and (keeps or item.opcode in ("mov", "selp"))
                left += [(r.name, masked or cuts, still) for r in registers_of(item)[0]]
        return True

    def only_begun(self, register: Register) -> bool:
        """Whether a value is only used as an accumulator that a wgmma may reset."""
        found, seen, left = False, set(), [register.name]
        while left:
            name = left.pop()
            for item in self.of.get(name, ()) if name not in seen else ():
                if item.opcode == "wgmma":  # what comes after it reads its result
                    adds = item.operands[4]
                    if isinstance(adds, Immediate) and adds.value:
                        return False
                    found = True
                    break
                if item.opcode != "mov":
                    return False
                left += [r.name for r in registers_of(item)[0]]
            seen.add(name)
        return found

    def only_chosen(self, register: Register) -> bool:
        """Whether a value, and all that is computed from it, is only used if selected."""
        seen, left = set(), [register.name]
        while left:
            name = left.pop()
            if name in seen:
                continue
            seen.add(name)
            for item in self.of.get(name, ()):
                if item.opcode == "selp" and item.operands[-1].name != name:
                    continue
                if not has(item, Trait.PASSES_ON):
                    return False
                left += [written.name for written in registers_of(item)[0]]
        return len(seen) > 1
