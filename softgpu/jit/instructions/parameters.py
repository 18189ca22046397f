"""Loads and stores of the parameters of kernels, device functions and calls."""

from __future__ import annotations

from ...ptx.program import Address, elements_of
from ..emit.function import LANES, FunctionEmitter, Value
from ..facts.types import bits_of, element_of, is_signed, vector_size


def load_param(e: FunctionEmitter, item, operand: Address) -> bool:
    """Emit ld.param of a named parameter; return False if the address is in a register."""
    if not isinstance(operand.base, str):
        return False
    kind = item.modifiers[-1]
    signed = is_signed(kind)
    step = _parameter_step(e, item, operand.base, operand.offset)
    words = e.parameter_words(operand.base)
    for number, destination in enumerate(elements_of(item.operands[0])):
        offset = operand.offset + number * step
        if words is not None:
            value = _read_words(e, words, offset, element_of(kind))
        else:
            base = e.layout.place(e.function.name, operand.base)[1]
            params = e.warp_value("params", "ptr")
            at = e.assign(f"getelementptr i8, {params}, i64 {base + offset}")
            text = e.assign(f"load {element_of(kind)}, ptr {at}, align {step}, !invariant.load !0")
            value = Value(text, element_of(kind), True)
        e.write(destination, value, signed)
    return True


def _parameter_step(e: FunctionEmitter, item, name: str, offset: int) -> int:
    """Return the bytes per element of an access to a parameter; refuse one that is out of
    bounds."""
    step = bits_of(item.modifiers[-1]) // 8
    past = offset + step * vector_size(item)
    if offset < 0 or past > e.parameter_bytes(name) or offset % step:
        raise e.refusal(item, f"{name} has no such place")
    return step


def read_word(e: FunctionEmitter, words: str, index: int) -> tuple[str, Value]:
    """Return (address, value) of one word of a device function's parameter."""
    at = e.assign(f"getelementptr <{LANES} x i32>, ptr {words}, i64 {index}")
    return at, Value(e.assign(f"load <{LANES} x i32>, ptr {at}, align 64"), "i32", False)


def _read_words(e: FunctionEmitter, words: str, offset: int, element: str) -> Value:
    """Return a value from a parameter stored as 4-byte words, each a vector of lanes."""
    whole = e.integer(Value("undef", element, True)).element if element[0] != "i" else element
    bits = int(whole[1:])
    _, low = read_word(e, words, offset // 4)
    if bits <= 32:
        if offset % 4:
            low = e.op("lshr", low, 8 * (offset % 4))
        return e.view(low, element)
    total = e.resize(low, whole)
    for place in range(1, bits // 32):
        _, more = read_word(e, words, offset // 4 + place)
        raised = e.op("shl", e.resize(more, whole), 32 * place)
        total = e.op("or", total, raised)
    return e.view(total, element)


def store_param(e: FunctionEmitter, item, target: Address, values: list[Value]) -> None:
    """Emit st.param to a parameter of a call, or to this function's result."""
    if not isinstance(target.base, str) or not (words := e.parameter_words(target.base)):
        raise e.refusal(item, f"{target.base} cannot be written")
    step = _parameter_step(e, item, target.base, target.offset)
    for number, value in enumerate(values):
        whole = e.splat(e.integer(value))
        offset = target.offset + number * step
        bits = 8 * step
        for place in range(max(bits // 32, 1)):
            at, old = read_word(e, words, offset // 4 + place)
            if bits >= 32:
                new = e.resize(e.op("lshr", whole, 32 * place), "i32")
            else:
                shift = 8 * (offset % 4)
                kept = e.op("and", old, ~(((1 << bits) - 1) << shift))
                new = e.op("or", kept, e.op("shl", e.resize(whole, "i32"), shift))
            e.line(f"store {e.select(e.active_vector, new, old)}, ptr {at}, align 64")
