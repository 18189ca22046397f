"""Textures and surfaces, accessed by the handles of their objects (driver/run/texels.c)."""

from __future__ import annotations

from ... import contract
from ...ptx.program import Register, Vector, elements_of
from ..emit.function import LANES, FunctionEmitter, Value, instruction

_How = contract.flags("TexelHow", "TEXEL_")
_NUMBERS = {"1d": (1,), "2d": (2,), "3d": (3, 4), "a1d": (2,), "a2d": (3, 4)}
"""The number of coordinates, with the layer; a fourth is padding."""


def _geometry(item) -> str:
    return next(m for m in item.modifiers if m in _NUMBERS)


def _how(item) -> int:
    geometry = _geometry(item)
    return int(geometry[-2]) | (_How.layered if geometry[0] == "a" else 0)


def _place(e: FunctionEmitter, item, where: Vector) -> tuple[str, str]:
    """Return pointers to the lanes' handles and coordinates."""
    address, coordinates = where.elements
    numbers = elements_of(coordinates)
    if len(numbers) not in _NUMBERS[_geometry(item)] or not isinstance(address.base, Register):
        raise e.refusal(item)
    handle = e.op("add", e.read(address.base, "b64"), address.offset)
    read = [e.integer(e.read(number, _coordinate(item, n))) for n, number in enumerate(numbers)]
    return f"ptr {e.spill(handle, 'handles')}", e.spill_in_order(read, "i32", "coordinates")


def _coordinate(item, number: int) -> str:
    """Return the type of a coordinate: a layer is an integer."""
    of_texture = item.opcode in ("tex", "tld4") and not (number == 0 and _geometry(item)[0] == "a")
    return item.modifiers[-1] if of_texture else "s32"


def _values(e: FunctionEmitter, slot: str, element: str, count: int) -> list[Value]:
    places = (
        e.assign(f"getelementptr <{LANES} x {element}>, {slot}, i64 {number}")
        for number in range(count)
    )
    return [e.unspill(at, element) for at in places]


@instruction("tex", "tld4")
def _texture(e, item):
    how = _how(item) | (_How.whole if item.modifiers[-1] == "s32" else 0)
    if item.opcode == "tld4":
        how |= _How.gathers | "rgba".index(item.modifiers[0]) * _How.its_channel
    results = elements_of(item.operands[0])
    if len(results) != 4:
        raise e.refusal(item)
    with e.when_active():
        out = f"ptr {e.temporary('i32', 4, 'element')}"
        place = _place(e, item, item.operands[1])
        site = f"i32 {e.site(item, 'other')}"
        e.call_void("sg_texture", "ptr %w", site, str(e.active), f"i32 {int(how)}", *place, out)
        for register, value in zip(results, _values(e, out, "i32", 4), strict=True):
            e.write(register, value)


@instruction("suld", "sust")
def _surface(e, item):
    stores = item.opcode == "sust"
    where, data = item.operands if stores else reversed(item.operands)
    *_, kind, outside = item.modifiers
    count = next((int(m[1:]) for m in item.modifiers if m in ("v2", "v4")), 1)
    registers = elements_of(data)
    if len(registers) != count:
        raise e.refusal(item)
    how = _how(item) | (_How.stores if stores else 0)
    how |= {"trap": 0, "clamp": _How.clamp, "zero": _How.zero}[outside]
    with e.when_active():
        values = f"ptr {e.temporary('i64', count, 'values')}"
        if stores:
            read = [e.resize(e.read(register, kind), "i64") for register in registers]
            values = e.spill_in_order(read, "i64", "values")
        numbers = (f"i32 {n}" for n in (int(how), int(kind[1:]) // 8, count))
        place = _place(e, item, where)
        site = f"i32 {e.site(item, 'other')}"
        e.call_void("sg_surface", "ptr %w", site, str(e.active), *numbers, *place, values)
        if not stores:
            for register, value in zip(registers, _values(e, values, "i64", count), strict=True):
                e.write(register, e.resize(value, f"i{kind[1:]}"))
