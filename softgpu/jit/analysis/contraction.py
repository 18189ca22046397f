"""Sums of products that ptxas rounds once, and limits to 0 and 1 that it takes for saturation.

nvcc leaves many a product and its sum apart, without a rounding modifier, as in `a - b * c` or in
sums of halves. ptxas then contracts the two to a fused multiply-add. Determined by compiling some
eighty short pieces of PTX with ptxas 13.0 for sm_90: a product is contracted if all that reads it,
also through moves and negations, are sums in its basic block. Products that one sum reads come
first. If a sum has two products, its first operand is contracted. A maximum with 0 of a minimum
with 1 becomes a saturation, which turns NaN into 0.

Terms: contraction (Goldberg 1991; docs/terms.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ...ptx.program import Address, Function, Immediate, Instruction, Module, Not, Register, Vector

__all__ = ["contracted"]

_FLOATS = {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"}
_ENDS = {"bra", "brx", "ret", "exit"}
_BOUNDS = {
    ("min", "f32"): Immediate(0x3F800000, "f32"),
    ("max", "f32"): Immediate(0, "f32"),
    ("min", "f16"): Immediate(0x3C00),
    ("max", "f16"): Immediate(0),
}


@dataclass(frozen=True)
class _Sum:
    """What reads a product: a sum, its operand, and the product's sign there."""

    item: Instruction
    operand: int
    sign: int


@dataclass
class _Uses:
    """Where the registers of a function are written and read."""

    block: dict[Instruction, int] = field(default_factory=dict)
    place: dict[Instruction, int] = field(default_factory=dict)
    writers: dict[str, list[Instruction]] = field(default_factory=dict)
    readers: dict[str, list[Instruction]] = field(default_factory=dict)

    def maker(self, operand: object) -> Instruction | None:
        """The one instruction that writes a register."""
        writers = self.writers.get(operand.name, []) if isinstance(operand, Register) else []
        return writers[0] if len(writers) == 1 else None


def contracted(module: Module) -> Module:
    """Contract the functions of a module as ptxas does."""
    for function in module.functions.values():
        if any(_is_plain(item, "mul") or _bound_of(item) for item in function.instructions):
            _contract(function)
    return module


def _registers(operand: object) -> Iterator[str]:
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, Address):
        yield from _registers(operand.base)
    elif isinstance(operand, Not):
        yield operand.register.name
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from _registers(element)


def _uses_of(function: Function) -> _Uses:
    uses, block = _Uses(), 0
    for place, item in enumerate(function.body):
        if not isinstance(item, Instruction):
            block += 1
            continue
        uses.block[item], uses.place[item] = block, place
        writes = not isinstance(item.operands[0], Address) if item.operands else 0
        for name in {name for operand in item.operands[:writes] for name in _registers(operand)}:
            uses.writers.setdefault(name, []).append(item)
        for name in {name for operand in item.operands[writes:] for name in _registers(operand)}:
            uses.readers.setdefault(name, []).append(item)
        block += item.opcode in _ENDS
    return uses


def _is_plain(item: Instruction, *opcodes: str) -> bool:
    """Whether the rounding of an operation on floats is the compiler's to choose."""
    if item.opcode not in opcodes or item.modifiers[-1:] == () or len(item.operands) != 3:
        return False
    *others, kind = item.modifiers
    allowed = {"ftz"} if item.opcode == "mul" else {"ftz", "sat"}
    return kind in _FLOATS and set(others) <= allowed


def _bound_of(item: Instruction) -> bool:
    return item.opcode == "max" and item.modifiers in (("f32",), ("ftz", "f32"), ("f16",))


def _sums(uses: _Uses, product: Instruction, name: str, sign: int = 1) -> list[_Sum] | None:
    """All that reads a register which holds a product, or None if anything but sums does."""
    found: list[_Sum] = []
    for item in uses.readers.get(name, ()):
        if uses.block[item] != uses.block[product] or uses.place[item] < uses.place[product]:
            return None
        target = item.operands[0]
        if item.opcode in ("neg", "mov") and not item.predicate and uses.maker(target) is item:
            more = _sums(uses, product, target.name, -sign if item.opcode == "neg" else sign)
            if more is None:
                return None
            found += more
            continue
        places = (
            [n for n in (1, 2) if name in _registers(item.operands[n])]
            if _is_plain(item, "add", "sub")
            else []
        )
        alike = item.modifiers[-1:] == product.modifiers[-1:]
        alike = alike and ("ftz" in item.modifiers) == ("ftz" in product.modifiers)
        if len(places) != 1 or not alike:
            return None
        found.append(_Sum(item, places[0], sign))
    return found


def _product_of(uses: _Uses, operand: object) -> Instruction | None:
    """The product that an operand is, perhaps negated."""
    item = uses.maker(operand)
    while item and item.opcode in ("neg", "mov") and not item.predicate and len(item.operands) == 2:
        item = uses.maker(item.operands[1])
    return item if item and _is_plain(item, "mul") and not item.predicate else None


def _is_kept(uses: _Uses, inner: Instruction, until: Instruction) -> bool:
    """Whether an instruction's operands are unchanged where what it computes is read."""
    between = range(uses.place[inner], uses.place[until])
    names = {name for operand in inner.operands[1:] for name in _registers(operand)}
    return not any(
        uses.place[item] in between for name in names for item in uses.writers.get(name, ())
    )


def _contract(function: Function) -> None:
    uses = _uses_of(function)
    changed: dict[Instruction, list[Instruction]] = {}
    for only_one in (True, False):
        for item in function.instructions:
            if _is_plain(item, "add", "sub") and item not in changed:
                _contract_sum(function, uses, item, only_one, changed)
    for item in function.instructions:
        if limited := _saturated(uses, item):
            changed[item] = [limited]
    body: list = []
    for line in function.body:
        body += changed.get(line, [line]) if isinstance(line, Instruction) else [line]
    function.body[:] = body


def _contract_sum(
    function: Function,
    uses: _Uses,
    item: Instruction,
    only_one: bool,
    changed: dict[Instruction, list[Instruction]],
) -> None:
    for operand in (1, 2):
        product = _product_of(uses, item.operands[operand])
        if not product or not _is_kept(uses, product, item):
            continue
        sums = _sums(uses, product, product.operands[0].name)
        if sums and (len(sums) == 1 or not only_one):
            mine = next(one for one in sums if one.item is item)
            changed[item] = _fused(function, product, mine)
            _forget(uses, item, mine.operand, changed[item][-1])
            if len(sums) == 1 and uses.readers[product.operands[0].name] == []:
                changed[product] = []
            return


def _forget(uses: _Uses, item: Instruction, operand: int, made: Instruction) -> None:
    """A contracted sum reads its product no more, and its other operand as no sum does."""
    for number in (1, 2):
        for name in _registers(item.operands[number]):
            readers = uses.readers[name]
            at = readers.index(item)
            readers[at : at + 1] = [] if number == operand else [made]
    uses.block[made], uses.place[made] = uses.block[item], uses.place[item]


def _fused(function: Function, product: Instruction, where: _Sum) -> list[Instruction]:
    """The fused multiply-add that a sum becomes, after what negates its operands."""
    item, made = where.item, []
    kind = item.modifiers[-1]

    def negated(operand):
        register = Register(f"%contracted{len(function.registers)}", _register_type(kind))
        function.registers[register.name] = register
        made.append(replace(item, opcode="neg", modifiers=(kind,), operands=(register, operand),
                            predicate=None, negated=False))  # fmt: skip
        return register

    a, b = product.operands[1:]
    c = item.operands[3 - where.operand]
    sign = -where.sign if item.opcode == "sub" and where.operand == 2 else where.sign
    if sign < 0:
        a, b = (a, negated(b)) if isinstance(a, Immediate) else (negated(a), b)
    if item.opcode == "sub" and where.operand == 1:
        c = negated(c)
    words = ("rn", *(m for m in item.modifiers if m in ("ftz", "sat")), kind)
    made.append(replace(item, opcode="fma", modifiers=words, operands=(item.operands[0], a, b, c)))
    return made


def _register_type(kind: str) -> str:
    return {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}.get(kind, kind)


def _saturated(uses: _Uses, item: Instruction) -> Instruction | None:
    """The saturation that an instruction is, if it limits a number to 0 and 1 in this order."""
    if not _bound_of(item):
        return None
    inner = _bounded(uses, item)
    least = uses.maker(inner)
    if not least or least.opcode != "min" or least.modifiers != item.modifiers or least.predicate:
        return None
    number = _bounded(uses, least)
    alone = uses.maker(number) or uses.block[least] == uses.block[item]
    if not isinstance(number, Register) or not alone or not _is_kept(uses, least, item):
        return None
    *flush, kind = item.modifiers
    modifiers = (*flush, "sat", kind, kind)
    return replace(item, opcode="cvt", modifiers=modifiers, operands=(item.operands[0], number))


def _bounded(uses: _Uses, item: Instruction) -> object:
    """What a minimum or maximum limits to its bound."""
    for operand, other in (item.operands[1:], item.operands[:0:-1]):
        maker = uses.maker(other)
        other = maker.operands[1] if maker and maker.opcode == "mov" else other
        if isinstance(other, Immediate) and other == _BOUNDS[item.opcode, item.modifiers[-1]]:
            return operand
    return None
