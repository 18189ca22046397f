"""Accesses to shared memory that ptxas merges into one wider access, for builds that count them.

Determined by compiling some two hundred short pieces of PTX with ptxas 13.0 for sm_90. Loads of one
basic block are merged if their addresses differ by a constant, are known to be aligned, and no
store to shared memory, atomic, barrier or fence lies in between; three words out of four are enough
for a 16-byte load. A store is merged only with adjacent stores, and without gaps. Accesses to
global memory are never merged.

Terms: access vectorisation (Larsen, Amarasinghe 2000; docs/terms.md).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from ...ptx.program import (
    Address,
    Function,
    Immediate,
    Instruction,
    Register,
    Special,
    Symbol,
    Vector,
)
from ..facts.layout import Layout
from ..facts.opcodes import Does, does
from .flow import EXIT, Block, registers_of

__all__ = ["Merged", "merged_accesses"]

_ALIGNED = 10  # low bits known to be zero in the address of shared memory
_DYNAMIC_ALIGNED = 4
_ALL = 64
_MOST = 32  # most components of a root
_DEEPEST = 100  # deepest recursion over registers that depend on later ones


@dataclass(frozen=True)
class Merged:
    """An access that is part of a wider one: `bytes` of it from `delta` past this one's address.

    0 bytes: another instruction of the block performs it.
    """

    bytes: int = 0
    delta: int = 0


@dataclass(frozen=True)
class _Value:
    """root + offset; the root's `zeros` low bits are known to be zero. root None: a constant."""

    root: tuple | None
    offset: int
    zeros: int
    size: int = 1  # the root's number of components
    changing: bool = False  # some components are registers that are written again


def _trailing_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1 if number else _ALL


class _Addresses:
    """What is known of the values of a function's registers."""

    def __init__(self, function: Function, layout: Layout):
        self.function = function
        self.layout = layout
        self.writers: dict[str, list[Instruction]] = defaultdict(list)
        for item in function.instructions:
            for register in registers_of(item)[0]:
                self.writers[register.name].append(item)
        self.known: dict[str, _Value] = {}
        self.depth = 0  # recursion depth of `of`
        self.proven: dict = {}  # root: zeros
        self._joined_zeros()

    def _joined_zeros(self) -> None:
        """Find the low bits that are zero in every value of a register that is written several
        times."""
        several = {name for name, items in self.writers.items() if self._changes(name, items)}
        self.several = several
        for name in several:
            self.known[name] = _changing(name, _ALL)
        changed = True
        while changed:
            changed = False
            self.known = {name: self.known[name] for name in several}
            for (
                item
            ) in self.function.instructions:  # in this order few depend on values not known yet
                for register in registers_of(item)[0]:
                    self.of(register)
            for name in several:
                zeros = min(self._zeros(self._computed(item)) for item in self.writers[name])
                if zeros < self.known[name].zeros:
                    self.known[name] = _changing(name, zeros)
                    changed = True

    @staticmethod
    def _changes(name: str, items: list[Instruction]) -> bool:
        return len(items) > 1 or items[0].predicate is not None

    @staticmethod
    def _zeros(value: _Value) -> int:
        return min(value.zeros, _trailing_zeros(value.offset))

    def of(self, operand) -> _Value:
        if isinstance(operand, Immediate):
            return _Value(None, operand.value, _ALL)
        if isinstance(operand, Symbol):
            return self.symbol(operand.name, operand.offset)
        if isinstance(operand, Special):
            return _Value(("special", operand.name), 0, 0)
        if not isinstance(operand, Register):
            return _Value(("operand", id(operand)), 0, 0)
        name = operand.name
        if name not in self.known:
            self.known[name] = _changing(name, 0)  # in case it depends on itself
            if self.writers.get(name) and self.depth < _DEEPEST:
                self.depth += 1
                self.known[name] = self._named(name, self._computed(self.writers[name][0]))
                self.depth -= 1
        return self.known[name]

    def _named(self, name: str, value: _Value) -> _Value:
        """Return a value that does not change when another register is written later."""
        if value.root is None or (not value.changing and value.size <= _MOST):
            return value
        return _Value(("value", name), 0, self._zeros(value))

    def symbol(self, name: str, offset: int) -> _Value:
        space, start = self.layout.place(self.function.name, name)
        if space == "dynamic":
            return _Value(("dynamic",), offset, _DYNAMIC_ALIGNED)
        if space == "shared":
            return _Value(("shared",), start + offset, _ALIGNED)
        return _Value(("symbol", name), offset, 0)

    def place(self, address: Address) -> _Value:
        """Return the address of an access to shared memory."""
        if isinstance(address.base, str):
            return self.symbol(address.base, address.offset)
        if address.base is None:
            return _Value(None, address.offset, _ALL)
        base = self.of(address.base)
        zeros = max(base.zeros, self.proven.get(base.root, 0))
        return replace(base, offset=base.offset + address.offset, zeros=zeros)

    def believe(self, items) -> None:
        """Infer alignment from wide accesses: their addresses must be aligned."""
        for item in items:
            if item.opcode in ("ld", "st") and {"shared", "shared::cta"} & set(item.modifiers):
                address = item.operands[0 if item.opcode == "st" else 1]
                found, size = self.place(address), _bytes(item)
                if found.offset % size == 0:
                    zeros = max(self.proven.get(found.root, 0), _trailing_zeros(size))
                    self.proven[found.root] = zeros

    def _computed(self, item: Instruction) -> _Value:
        unknown = _Value(("instruction", item), 0, 0)
        operands = item.operands[1:]
        if item.opcode in ("mov", "cvta", "cvt") and len(operands) == 1:
            plain = not any(m[0] == "f" or m in ("s16", "u16", "s8", "u8") for m in item.modifiers)
            return self.of(operands[0]) if plain else unknown
        if any(m[0] == "f" for m in item.modifiers):
            return unknown
        if item.opcode == "add" and "cc" not in item.modifiers:
            return self._sum(self.of(operands[0]), self.of(operands[1]))
        if item.opcode == "sub" and isinstance(operands[1], Immediate):
            return self._sum(self.of(operands[0]), _Value(None, -operands[1].value, _ALL))
        if item.opcode == "shl" and isinstance(operands[1], Immediate):
            bits = min(operands[1].value % (1 << 32), 64)
            return self._product(self.of(operands[0]), _Value(None, 1 << bits, _ALL))
        if item.opcode in ("mul", "mad") and {"lo", "wide"} & set(item.modifiers):
            product = self._product(self.of(operands[0]), self.of(operands[1]))
            return self._sum(product, self.of(operands[2])) if item.opcode == "mad" else product
        if item.opcode in ("and", "or", "xor"):
            a, b = self.of(operands[0]), self.of(operands[1])
            zeros = (max if item.opcode == "and" else min)(self._zeros(a), self._zeros(b))
            return _made(item.opcode, a, b, (a.root, a.offset, b.root, b.offset), 0, zeros)
        if item.opcode == "selp":
            zeros = min(self._zeros(self.of(o)) for o in operands[:2])
            return _Value(unknown.root, 0, zeros)
        return unknown

    def _sum(self, a: _Value, b: _Value) -> _Value:
        offset, zeros = a.offset + b.offset, min(a.zeros, b.zeros)
        if a.root is None or b.root is None:
            kept = b if a.root is None else a
            return _Value(kept.root, offset, zeros, kept.size, kept.changing)
        return _made("+", a, b, sorted((a.root, b.root), key=repr), offset, zeros)

    def _product(self, a: _Value, b: _Value) -> _Value:
        if a.root is None and b.root is None:
            return _Value(None, a.offset * b.offset, _ALL)
        if a.root is None:
            a, b = b, a
        if b.root is None:
            zeros = min(a.zeros + _trailing_zeros(b.offset), _ALL)
            return _made("*", a, b, (a.root, b.offset), a.offset * b.offset, zeros)
        zeros = min(self._zeros(a) + self._zeros(b), _ALL)
        return _made("*", a, b, (a.root, a.offset, b.root, b.offset), 0, zeros)


def _changing(name: str, zeros: int) -> _Value:
    """Return the value of a register that is written at several places."""
    return _Value(("register", name), 0, zeros, changing=True)


def _made(how: str, a: _Value, b: _Value, parts, offset: int, zeros: int) -> _Value:
    """Return a value with a root computed from two others."""
    return _Value((how, *parts), offset, zeros, a.size + b.size, a.changing or b.changing)


@dataclass(eq=False)
class _Access:
    item: Instruction
    offset: int  # from the root
    element: int  # bytes
    bytes: int


def merged_accesses(
    function: Function, blocks: list[Block], layout: Layout
) -> dict[Instruction, Merged]:
    """Return the accesses that ptxas merges, each with what it becomes."""
    addresses = _Addresses(function, layout)
    addresses.believe(item for block in blocks for item in block.instructions)
    before = _before(blocks)
    groups: list[tuple[int, bool, list[_Access]]] = []  # (zeros, loads, accesses)
    open_at_end: list[dict[tuple, list[_Access]]] = []
    for index, block in enumerate(blocks):
        loads: dict[tuple, list[_Access]] = {}
        if (earlier := before[index]) is not None:
            inherited = open_at_end[earlier].items()
            loads = {key: group for key, group in inherited if not key[-1]}
        run: tuple | None = None  # what the previous store may merge with
        for item in block.instructions:
            if any(r.name in addresses.several for r in registers_of(item)[0]):
                loads = {key: group for key, group in loads.items() if not key[-1]}
                run = None if run and run[-1] else run
            if not _touches_shared(item):
                continue
            found = _access(item, addresses) if item.opcode in ("ld", "st") else None
            if item.opcode == "ld":
                run = None
                if found:
                    key, access = found
                    if key not in loads:
                        loads[key] = []
                        groups.append((key[1], True, loads[key]))
                    loads[key].append(access)
                continue
            loads = {}
            if found and found[0] != run:
                groups.append((found[0][1], False, []))
            run = found and found[0]
            if found:
                groups[-1][2].append(found[1])
        open_at_end.append(loads)
    result: dict[Instruction, Merged] = {}
    for zeros, are_loads, group in groups:
        _join(group, zeros, are_loads, result)
    return result


def _before(blocks: list[Block]) -> list[int | None]:
    """Return, for each block, the block that always runs before it without anything in between
    that loads from shared memory could not be moved across; else None."""
    count = len(blocks)
    sources: list[list[int]] = [[] for _ in blocks]
    for index, block in enumerate(blocks):
        for target in block.targets:
            if target != EXIT:
                sources[target].append(index)
    everything = (1 << count) - 1
    above = [1] + [everything] * (count - 1)  # dominators, as bit masks
    changed = True
    while changed:
        changed = False
        for index in range(1, count):
            common = everything
            for source in sources[index]:
                common &= above[source]
            if common | 1 << index != above[index]:
                above[index] = common | 1 << index
                changed = True
    breaks = [any(_orders(item) for item in block.instructions) for block in blocks]
    result: list[int | None] = [None]
    for index in range(1, count):
        nearest = (above[index] & ~(1 << index)).bit_length() - 1
        seen, waiting = set(), list(sources[index])
        while waiting:  # walk back to the nearest dominator
            at = waiting.pop()
            if at != nearest and at not in seen:
                seen.add(at)
                waiting += sources[at]
        result.append(None if nearest < 0 or any(breaks[b] for b in seen) else nearest)
    return result


def _orders(item: Instruction) -> bool:
    """Whether loads from shared memory cannot be moved across the instruction."""
    return _touches_shared(item) and item.opcode != "ld"


def _touches_shared(item: Instruction) -> bool:
    """Whether the instruction reads or orders shared memory, as far as ptxas knows."""
    if does(item, Does.ORDERS, Does.CALLS):
        return True
    if not does(item, Does.READS, Does.WRITES, Does.UPDATES, Does.COPIES):
        return False
    return not {"global", "local", "param", "const"} & set(item.modifiers)


def _bytes(item: Instruction) -> int:
    """Return the bytes that one lane accesses."""
    kind = item.modifiers[-1]
    count = next((int(m[1:]) for m in item.modifiers if m in ("v2", "v4", "v8")), 1)
    return count * (4 if "x2" in kind else int("".join(c for c in kind if c.isdigit())) // 8)


def _access(item: Instruction, addresses: _Addresses) -> tuple[tuple, _Access] | None:
    """Return (what it may merge with, the access) for a plain load or store; else None."""
    modifiers = set(item.modifiers)
    if not {"shared", "shared::cta"} & modifiers or item.predicate:
        return None
    kind = item.modifiers[-1]
    if modifiers & {"volatile", "relaxed", "acquire", "release"} or kind in (
        "s16",
        "u8",
        "s8",
        "b8",
    ):
        return None
    address, value = item.operands if item.opcode == "st" else reversed(item.operands)
    found = addresses.place(address)
    count = len(value.elements) if isinstance(value, Vector) else 1
    element = _bytes(item) // count
    if found.root is None or element not in (2, 4, 8):
        return None
    zeros = min(found.zeros, 3 if element == 2 else 4)
    if 1 << zeros <= element:
        return None
    window = found.offset >> zeros
    key = found.root, zeros, element, window, found.changing
    return key, _Access(item, found.offset, element, element * count)


def _join(group: list[_Access], zeros: int, gaps: bool, result: dict[Instruction, Merged]) -> None:
    """Merge the accesses that lie in one aligned piece of 2**zeros bytes, where possible."""
    element = group[0].element
    owner: dict[int, _Access] = {}  # by place in the piece, in elements
    by_time = group if gaps else group[::-1]  # the first load of a place stays, the last store
    for access in sorted(by_time, key=lambda access: -access.bytes):
        first = access.offset % (1 << zeros) // element
        places = range(first, first + access.bytes // element)
        if all(place in owner for place in places):
            result[access.item] = Merged()
        for place in places:
            owner.setdefault(place, access)
    pieces = [(place, place + 1) for place in sorted(owner)]
    pieces = sorted({_whole(owner[a], zeros, element) for a, _ in pieces})
    size = 2
    while size * element <= 1 << zeros:
        pieces = _pairs(pieces, size, gaps)
        size *= 2
    for begin, end in pieces:
        members = list(dict.fromkeys(owner[p] for p in range(begin, end) if p in owner))
        members.sort(key=group.index)
        lead = members[0]
        for other in members[1:]:
            result[other.item] = Merged()
        wide = (end - begin) * element
        if wide != lead.bytes:
            start = lead.offset % (1 << zeros)
            result[lead.item] = Merged(wide, begin * element - start)


def _whole(access: _Access, zeros: int, element: int) -> tuple[int, int]:
    """Return the elements of the piece that the access covers."""
    first = access.offset % (1 << zeros) // element
    return first, first + access.bytes // element


def _pairs(pieces: list[tuple[int, int]], size: int, gaps: bool) -> list[tuple[int, int]]:
    """Merge pieces that share an aligned stretch of `size` elements, if they fill it.

    With gaps, for more than two elements, one full half and any part of the other are enough.
    """
    joined: list[tuple[int, int]] = []
    for start in sorted({begin // size * size for begin, _ in pieces}):
        inside = [p for p in pieces if p[0] // size * size == start]
        filled = sum(end - begin for begin, end in inside)
        whole_half = any(end - begin == size // 2 for begin, end in inside)
        if len(inside) > 1 and (filled == size or (gaps and whole_half and size > 2)):
            joined.append((start, start + size))
        else:
            joined += inside
    return joined
