"""Pointer provenance of addresses: kernel parameters that are pointers, and shared variables.

Terms: pointer provenance (Memarian et al. 2019; docs/terms.md).
"""

from __future__ import annotations

from ...ptx.program import Address, Function, Instruction, Register, Vector
from ..facts.layout import Layout, symbols_of
from ..facts.opcodes import Pointer, opcode_of
from .flow import registers_of

__all__ = ["Origins"]

_UNKNOWN = "?"


class Origins:
    """For each register of a function, what its value may point into.

    The value is a set of parameter indices (in 8-byte words), names of shared variables, and
    _UNKNOWN.
    """

    def __init__(self, function: Function, layout: Layout):
        self.function = function
        self.shared = {name for _, _, name in layout.shared_variables()}
        self.of: dict[str, set] = {}
        items = function.instructions
        changed = True
        while changed:
            changed = False
            for item in items:
                written, _ = registers_of(item)
                for register in written:
                    known = self.of.setdefault(register.name, set())
                    more = self._result(item, register) - known
                    known |= more
                    changed = changed or bool(more)

    def _result(self, item: Instruction, register: Register) -> set:
        pointer = opcode_of(item).pointer
        if pointer is Pointer.KEPT:
            return self._sources(item.operands[1:])
        if pointer is Pointer.OF_SUMMAND:
            return self._sources(item.operands[3:4])
        if pointer is Pointer.LOST or not register.type.endswith("64"):
            return set()
        if item.opcode == "ld" and "param" in item.modifiers:
            return self._parameter(item, register)
        return {_UNKNOWN}

    def _parameter(self, item: Instruction, register: Register) -> set:
        address = item.operands[1]
        offsets = self.function.param_offsets if self.function.is_entry else {}
        if address.base not in offsets:
            return {_UNKNOWN}
        at = offsets[address.base] + address.offset
        if isinstance(item.operands[0], Vector):
            at += 8 * item.operands[0].elements.index(register)
        return {at // 8} if at % 8 == 0 and at < 8 * 64 else {_UNKNOWN}

    def _sources(self, operands) -> set:
        found: set = set()
        for operand in operands:
            if isinstance(operand, Register):
                found |= self.of.get(operand.name, set())
            elif isinstance(operand, Vector):
                found |= self._sources(operand.elements)
            for name in symbols_of(operand):
                found.add(name if name in self.shared else _UNKNOWN)
        return found

    def origins_of(self, address: Address) -> set:
        """Return what an address may point into; empty: unknown."""
        if address.base is None:
            return set()
        if isinstance(address.base, str):
            return {address.base} & self.shared
        found = self.of.get(address.base.name, set())
        return set() if _UNKNOWN in found else found

    def __str__(self) -> str:
        told = ((name, " ".join(map(str, found))) for name, found in self.of.items())
        return ", ".join(f"{name}: {found}" for name, found in told if found)
