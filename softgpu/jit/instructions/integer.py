"""Integer and logic instructions, and moves."""

from __future__ import annotations

from collections import defaultdict

from ...ptx.program import Immediate, Symbol, Vector
from ..analysis.flow import CARRY
from ..emit.addresses import symbol_address
from ..emit.function import FunctionEmitter, Value, instruction
from ..facts.types import bits_of, element_of, is_signed, kind_of, wide_of


def _minmax(e, name, ptx_type, a, b):
    return e.intrinsic(("s" if is_signed(ptx_type) else "u") + name, a, b)


# --- add, sub, mul and their kin -------------------------------------------------------------


def arithmetic(e: FunctionEmitter, item) -> None:
    """Emit add, sub, min, max on integers; called by floating.py's entry for these opcodes."""
    kind = kind_of(item)
    a, b = (e.read(o, kind) for o in item.operands[1:3])
    if kind in ("s16x2", "u16x2"):
        scalar = kind[:3]
        parts = zip(e.halves(a), e.halves(b), strict=True)
        e.write(item.operands[0], e.join(*(_simple(e, item, scalar, x, y) for x, y in parts)))
        return
    if "cc" in item.modifiers:
        _with_carry(e, item, a, b, None)
        return
    e.write(item.operands[0], _simple(e, item, kind, a, b))


def _simple(e, item, kind, a, b):
    if "sat" in item.modifiers:
        return e.intrinsic(f"s{item.opcode}.sat", a, b)
    if item.opcode in ("min", "max"):
        result = _minmax(e, item.opcode, kind, a, b)
        return e.intrinsic("smax", result, 0) if "relu" in item.modifiers else result
    return e.op(item.opcode, a, b)


def _carry(e: FunctionEmitter) -> Value:
    return e.load_register(CARRY)


def _with_carry(e, item, a, b, carry: Value | None) -> None:
    """Emit a + b + carry or a - b - borrow; set the carry flag if requested.

    After a subtraction the flag is set if nothing was borrowed: 128-bit division adds it."""
    subtract = item.opcode in ("sub", "subc")
    operation, test = ("sub", "icmp ult") if subtract else ("add", "icmp ult")
    first = e.op(operation, a, b)
    flag = e.compare(test, a, b) if subtract else e.compare(test, first, a)
    if carry is not None:
        carry = e.invert(carry) if subtract else carry
        amount = e.convert("zext", carry, first.element)
        second = e.op(operation, first, amount)
        again = e.compare(test, first, amount) if subtract else e.compare(test, second, first)
        first, flag = second, e.op("or", flag, again)
    e.write(item.operands[0], first)
    if "cc" in item.modifiers:
        e.write(CARRY, e.invert(flag) if subtract else flag)


@instruction("addc", "subc")
def _addc(e, item):
    a, b = (e.read(o, item.modifiers[-1]) for o in item.operands[1:3])
    _with_carry(e, item, a, b, _carry(e))


def product(e: FunctionEmitter, item, a: Value, b: Value) -> Value:
    """Return mul.lo / .hi / .wide of the operands."""
    kind = item.modifiers[-1]
    if "lo" in item.modifiers:
        return e.op("mul", a, b)
    wide = e.op("mul", *(e.resize(v, wide_of(kind), is_signed(kind)) for v in (a, b)))
    if "wide" in item.modifiers:
        return wide
    return e.resize(e.op("lshr", wide, bits_of(kind)), a.element)


def multiply(e: FunctionEmitter, item) -> None:
    kind = item.modifiers[-1]
    a, b = (e.read(o, kind) for o in item.operands[1:3])
    e.write(item.operands[0], product(e, item, a, b), is_signed(kind))


def multiply_add(e: FunctionEmitter, item) -> None:
    """Emit mad and madc on integers."""
    kind = item.modifiers[-1]
    a, b = (e.read(o, kind) for o in item.operands[1:3])
    value = product(e, item, a, b)
    if "wide" in item.modifiers:
        c = e.read(item.operands[3], f"{kind[0]}{2 * bits_of(kind)}")
    else:
        c = e.read(item.operands[3], kind)
    if item.opcode == "madc" or "cc" in item.modifiers:
        _with_carry(e, item, value, c, _carry(e) if item.opcode == "madc" else None)
        return
    total = e.intrinsic("sadd.sat", value, c) if "sat" in item.modifiers else e.op("add", value, c)
    e.write(item.operands[0], total, is_signed(kind))


@instruction("madc")
def _madc(e, item):
    multiply_add(e, item)


@instruction("mul24", "mad24")
def _mul24(e, item):
    kind = item.modifiers[-1]
    shift = "ashr" if is_signed(kind) else "lshr"
    eight = e.constant(8, "i32")
    factors = [e.op(shift, e.op("shl", e.read(o, kind), eight), eight) for o in item.operands[1:3]]
    wide = e.op("mul", *(e.resize(f, "i64", is_signed(kind)) for f in factors))
    if "hi" in item.modifiers:
        wide = e.op("lshr", wide, 16)
    value = e.resize(wide, "i32")
    if item.opcode == "mad24":
        c = e.read(item.operands[3], kind)
        value = (
            e.intrinsic("sadd.sat", value, c) if "sat" in item.modifiers else e.op("add", value, c)
        )
    e.write(item.operands[0], value)


@instruction("sad")
def _sad(e, item):
    kind = item.modifiers[-1]
    a, b, c = (e.read(o, kind) for o in item.operands[1:4])
    apart = e.op("sub", _minmax(e, "max", kind, a, b), _minmax(e, "min", kind, a, b))
    e.write(item.operands[0], e.op("add", c, apart))


@instruction("rem")
def _rem(e, item):
    divide(e, item)


def divide(e: FunctionEmitter, item) -> None:
    """Emit div and rem on integers. Division by zero sets all bits of the result, as on the
    hardware."""
    kind = item.modifiers[-1]
    a, b = (e.read(o, kind) for o in item.operands[1:3])
    if bits_of(kind) == 64:
        e.write(item.operands[0], e.lanewise(f"sg_{item.opcode}_{kind}", a, b, element="i64"))
        return
    signed = is_signed(kind)
    zero = e.compare("icmp eq", b, 0)
    to_double, to_int = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
    minus = e.compare("icmp eq", b, -1) if signed else zero  # whose quotient may overflow
    divisor = e.select(e.op("or", zero, minus), 1, b)
    # a double represents a 32-bit quotient precisely enough that truncation is exact
    ratio = e.op("fdiv", e.convert(to_double, a, "double"), e.convert(to_double, divisor, "double"))
    quotient = e.convert(to_int, ratio, a.element)
    if item.opcode == "rem":
        quotient = e.op("sub", a, e.op("mul", quotient, divisor))
    elif signed:
        quotient = e.select(minus, e.op("sub", 0, a), quotient)
    ones = e.constant(-1, a.element)
    e.write(item.operands[0], e.select(zero, ones, quotient), signed)


def absolute(e: FunctionEmitter, item) -> None:
    a = e.read(item.operands[1], item.modifiers[-1])
    e.write(item.operands[0], e.intrinsic("abs", a, tail="i1 false"), True)


# --- bits ------------------------------------------------------------------------------------


@instruction("and", "or", "xor")
def _logic(e, item):
    a, b = (e.read(o, item.modifiers[-1]) for o in item.operands[1:3])
    e.write(item.operands[0], e.op(item.opcode, a, b))


@instruction("not")
def _not(e, item):
    e.write(item.operands[0], e.invert(e.read(item.operands[1], item.modifiers[-1])))


@instruction("cnot")
def _cnot(e, item):
    a = e.read(item.operands[1], item.modifiers[-1])
    e.write(item.operands[0], e.resize(e.compare("icmp eq", a, 0), a.element))


@instruction("lop3")
def _lop3(e, item):
    combined = item.modifiers[0] in ("and", "or")  # lop3.BoolOp d|p, a, b, c, table, q
    operands = item.operands[:-1] if combined else item.operands
    result, table = operands[0], operands[-1].value
    a, b, c = (e.read(o, "b32") for o in operands[-4:-1])
    inputs = [(v, e.invert(v)) for v in (a, b, c)]
    total = e.constant(0, "i32")
    for row in range(8):
        if table >> row & 1:
            chosen = [inputs[k][0 if row >> (2 - k) & 1 else 1] for k in range(3)]
            total = e.op("or", total, e.op("and", e.op("and", chosen[0], chosen[1]), chosen[2]))
    if combined:
        some = e.compare("icmp ne", total, 0)
        e.write(operands[1], e.op(item.modifiers[0], some, e.read(item.operands[-1], "pred")))
    e.write(result, total)


def _clamped_shift(e, operation, a, amount: Value) -> Value:
    """Emit a shift whose amount (i32) may be the width or more."""
    width = {"i16": 16, "i32": 32, "i64": 64}[a.element]
    limit = width - 1 if operation == "ashr" else width
    if amount.text.lstrip("-").isdigit():
        number = min(int(amount.text) % (1 << 32), limit)
        return e.op(operation, a, number) if number < width else e.op("and", a, 0)
    amount = e.intrinsic("umin", amount, limit)
    if operation == "ashr":
        return e.op(operation, a, e.resize(amount, a.element))
    over = e.compare("icmp uge", amount, width)
    inside = e.op("and", amount, width - 1)
    shifted = e.op(operation, a, e.resize(inside, a.element))
    return e.select(over, 0, shifted)


@instruction("shl", "shr")
def _shift(e, item):
    kind = item.modifiers[-1]
    operation = "shl" if item.opcode == "shl" else "ashr" if is_signed(kind) else "lshr"
    a = e.read(item.operands[1], kind)
    e.write(
        item.operands[0],
        _clamped_shift(e, operation, a, e.read(item.operands[2], "u32")),
        is_signed(kind),
    )


@instruction("shf")
def _funnel(e, item):
    low, high, amount = (e.read(o, "b32") for o in item.operands[1:4])
    name, beyond = ("fshl", low) if "l" in item.modifiers else ("fshr", high)
    result = e.intrinsic(name, high, low, amount)  # modulo 32
    if "clamp" in item.modifiers:
        result = e.select(e.compare("icmp ugt", amount, 31), beyond, result)
    e.write(item.operands[0], result)


@instruction("popc")
def _popc(e, item):
    a = e.read(item.operands[1], item.modifiers[-1])
    e.write(item.operands[0], e.resize(e.intrinsic("ctpop", a), "i32"))


@instruction("clz")
def _clz(e, item):
    a = e.read(item.operands[1], item.modifiers[-1])
    e.write(item.operands[0], e.resize(e.intrinsic("ctlz", a, tail="i1 false"), "i32"))


@instruction("bfind")
def _bfind(e, item):
    kind = item.modifiers[-1]
    a = e.read(item.operands[1], kind)
    width = bits_of(kind)
    if is_signed(kind):
        a = e.op("xor", a, e.op("ashr", a, width - 1))
    leading = e.resize(e.intrinsic("ctlz", a, tail="i1 false"), "i32")
    none = e.compare("icmp eq", leading, width)
    found = leading
    if "shiftamt" not in item.modifiers:
        found = e.op("sub", width - 1, leading)
    e.write(item.operands[0], e.select(none, -1, found))


@instruction("brev")
def _brev(e, item):
    e.write(
        item.operands[0], e.intrinsic("bitreverse", e.read(item.operands[1], item.modifiers[-1]))
    )


def _field_limit(e, operand, kind: str) -> Value:
    """Return the start or length of a bit field; 32-bit instructions use only the low byte."""
    value, largest = e.read(operand, "u32"), e.constant(255, "i32")
    return (
        e.op("and", value, largest) if bits_of(kind) == 32 else e.intrinsic("umin", value, largest)
    )


def _ones(e, count: Value, element: str) -> Value:
    """Return a mask of `count` (i32) low bits."""
    return e.invert(_clamped_shift(e, "shl", e.constant(-1, element), count))


@instruction("bfe")
def _bfe(e, item):
    kind = item.modifiers[-1]
    a = e.read(item.operands[1], kind)
    start, length = (_field_limit(e, o, kind) for o in item.operands[2:4])
    width = bits_of(kind)
    if not is_signed(kind):
        field = _clamped_shift(e, "lshr", a, start)
        e.write(item.operands[0], e.op("and", field, _ones(e, length, a.element)))
        return
    # the sign is the field's last bit, or a's sign bit if the field extends beyond a
    end = e.intrinsic("umin", e.op("add", start, length), width)
    spare = e.op("sub", width, end)
    raised = _clamped_shift(e, "shl", a, spare)
    field = _clamped_shift(e, "ashr", _clamped_shift(e, "ashr", raised, spare), start)
    empty = e.compare("icmp eq", length, 0)
    e.write(item.operands[0], e.select(empty, 0, field), True)


@instruction("bfi")
def _bfi(e, item):
    kind = item.modifiers[-1]
    a, b = (e.read(o, kind) for o in item.operands[1:3])
    start, length = (_field_limit(e, o, kind) for o in item.operands[3:5])
    mask = _clamped_shift(e, "shl", _ones(e, length, a.element), start)
    inserted = e.op("and", _clamped_shift(e, "shl", a, start), mask)
    e.write(item.operands[0], e.op("or", inserted, e.op("and", b, e.invert(mask))))


@instruction("bmsk")
def _bmsk(e, item):
    start, length = (e.read(o, "u32") for o in item.operands[1:3])
    if "wrap" in item.modifiers:
        start, length = (e.op("and", v, 31) for v in (start, length))
    e.write(item.operands[0], _clamped_shift(e, "shl", _ones(e, length, "i32"), start))


@instruction("szext")
def _szext(e, item):
    a = e.read(item.operands[1], "b32")
    size = e.read(item.operands[2], "u32")
    if "wrap" in item.modifiers:
        size = e.op("and", size, 31)
    else:
        size = e.intrinsic("umin", size, 32)
    spare = e.op("sub", 32, size)
    operation = "ashr" if is_signed(item.modifiers[-1]) else "lshr"
    raised = _clamped_shift(e, "shl", a, spare)
    empty = e.compare("icmp eq", size, 0)
    e.write(
        item.operands[0],
        e.select(empty, 0, _clamped_shift(e, operation, raised, spare)),
    )


@instruction("fns")
def _fns(e, item):
    mask, base, offset = (e.read(o, "b32") for o in item.operands[1:4])
    e.write(item.operands[0], e.lanewise("sg_fns", mask, base, offset, element="i32"))


_PRMT_MODES = {  # for each selector value, the byte numbers of the result, lowest first
    "f4e": [(0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)],
    "b4e": [(0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)],
    "rc8": [(0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4],
    "ecl": [(0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)],
    "ecr": [(0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)],
    "rc16": [(0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)],
}


def _permuted(e, sources: list[Value], selector: int) -> Value:
    """prmt with a constant selector: bytes that move by the same distance are moved together."""
    moves, signs = (
        defaultdict[tuple[Value, int], int](int),
        defaultdict[tuple[Value, int], int](int),
    )
    for place in range(4):
        number = selector >> 4 * place
        source, byte, mask = sources[number >> 2 & 1], number & 3, 0xFF << 8 * place
        if number & 8:
            signs[source, byte] |= mask
        else:
            moves[source, place - byte] |= mask
    total = e.constant(0, "i32")
    for (source, byte), mask in signs.items():
        sign = e.op("ashr", e.op("shl", source, 24 - 8 * byte), 31)
        total = e.op("or", total, e.op("and", sign, e.constant(mask, "i32")))
    for (source, places), mask in moves.items():
        moved = e.op("shl" if places > 0 else "lshr", source, 8 * abs(places)) if places else source
        total = e.op("or", total, e.op("and", moved, e.constant(mask, "i32")))
    return total


def _picked(e, a: Value, b: Value, selector: Value) -> Value:
    """prmt with a selector per lane."""
    source = e.op("or", e.op("shl", e.resize(b, "i64"), 32), e.resize(a, "i64"))
    total = e.constant(0, "i32")
    for place in range(4):
        nibble = e.op("lshr", selector, 4 * place)
        number = e.op("shl", e.op("and", nibble, 7), 3)
        byte = e.resize(e.op("lshr", source, e.resize(number, "i64")), "i8")
        sign = e.op("ashr", byte, 7)
        wants_sign = e.compare("icmp ne", e.op("and", nibble, 8), 0)
        byte = e.resize(e.select(wants_sign, sign, byte), "i32")
        total = e.op("or", total, e.op("shl", byte, 8 * place))
    return total


@instruction("prmt")
def _prmt(e, item):
    chosen, mode = item.operands[3], item.modifiers[-1]
    a, b, selector = (e.read(o, "b32") for o in item.operands[1:4])
    if mode in _PRMT_MODES:
        low = e.op("and", selector, 3)
        rows = _PRMT_MODES[mode]
        packed = [sum(byte << (4 * place) for place, byte in enumerate(row)) for row in rows]
        selector = e.constant(packed[0], "i32")
        for number in (1, 2, 3):
            selector = e.select(e.compare("icmp eq", low, number), packed[number], selector)
    elif isinstance(chosen, Immediate):
        e.write(item.operands[0], _permuted(e, [a, b], chosen.value))
        return
    (total,) = e.routine("prmt", lambda *values: [_picked(e, *values)], a, b, selector)
    e.write(item.operands[0], total)


@instruction("dp4a", "dp2a")
def _dot(e, item):
    *rest, a_type, b_type = item.modifiers
    a, b, total = (e.read(o, "b32") for o in item.operands[1:4])

    def part(value, kind, bits, number):
        raised = e.op("shl", value, 32 - bits * (number + 1))
        return e.op("ashr" if is_signed(kind) else "lshr", raised, 32 - bits)

    a_bits, terms, first = (8, 4, 0) if item.opcode == "dp4a" else (16, 2, 2 if "hi" in rest else 0)
    for number in range(terms):
        term = e.op("mul", part(a, a_type, a_bits, number), part(b, b_type, 8, first + number))
        total = e.op("add", total, term)
    e.write(item.operands[0], total)


@instruction("vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2")
@instruction("vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset2", "vset4")
def _in_parts(e, item):
    """Video SIMD: arithmetic or comparison of the bytes or halves of words; .add sums them, plus
    c."""
    operation, parts = item.opcode[1:-1], int(item.opcode[-1])
    kinds = [m for m in item.modifiers if m in ("s32", "u32")]
    a, b, c = (e.read(o, "b32") for o in item.operands[1:4])
    width = 32 // parts
    total = c if "add" in item.modifiers else e.constant(0, "i32")
    for place in range(parts):

        def part(value, kind, place=place):
            raised = e.op("shl", value, 32 - width * (place + 1))
            return e.op("ashr" if is_signed(kind) else "lshr", raised, 32 - width)

        x, y = part(a, kinds[-2]), part(b, kinds[-1])
        if operation == "set":  # parts of either kind, extended, compare as signed words
            order = item.modifiers[2]
            sign = "" if order in ("eq", "ne") else "s"
            value = e.resize(e.compare(f"icmp {sign}{order}", x, y), "i32")
        elif operation == "absdiff":
            value = e.intrinsic("abs", e.op("sub", x, y), tail="i1 false")
        elif operation == "avrg":  # halves are rounded away from zero
            both = e.op("add", x, y)
            negative = e.op("lshr", both, 31)
            up = e.op("sub", e.op("add", both, 1), negative)
            value = e.op("ashr", up, 1)
        elif operation in ("min", "max"):
            value = e.intrinsic("s" + operation, x, y)
        else:
            value = e.op(operation, x, y)
        if "sat" in item.modifiers:
            value = _clamp_bits(e, value, width, is_signed(kinds[0]))
        if "add" in item.modifiers:
            total = e.op("add", total, value)
        else:
            low = e.op("and", value, (1 << width) - 1)
            total = e.op("or", total, e.op("shl", low, width * place))
    e.write(item.operands[0], total)


def _clamp_bits(e, value, width: int, signed: bool) -> Value:
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    return e.intrinsic("smax", e.intrinsic("smin", value, high), low)


# --- moves -------------------------------------------------------------------------------------


def unpack(e: FunctionEmitter, whole: Value, destinations, element: str) -> None:
    """Split the bits of an integer into several registers, lowest first."""
    width = int(element[1:])
    for place, destination in enumerate(destinations):
        if destination is not None:
            part = e.op("lshr", whole, place * width) if place else whole
            e.write(destination, e.resize(part, element))


def pack(e: FunctionEmitter, parts: list[Value], element: str) -> Value:
    """Combine several values into one integer, lowest first."""
    total = e.resize(e.integer(parts[0]), element)
    for place, part in enumerate(parts[1:], 1):
        part = e.integer(part)
        raised = e.op("shl", e.resize(part, element), place * int(part.element[1:]))
        total = e.op("or", total, raised)
    return total


@instruction("mov")
def _mov(e, item):
    kind = item.modifiers[-1]
    destination, source = item.operands
    if isinstance(source, Vector):
        part_kind = f"b{bits_of(kind) // len(source.elements)}"
        parts = [e.read(part, part_kind) for part in source.elements]
        if not isinstance(destination, Vector):
            e.write(destination, pack(e, parts, f"i{bits_of(kind)}"))
            return
        for target, part in zip(destination.elements, parts, strict=True):
            e.write(target, part)
        return
    if isinstance(destination, Vector):
        width = bits_of(kind) // len(destination.elements)
        unpack(e, e.integer(e.read(source, f"b{bits_of(kind)}")), destination.elements, f"i{width}")
        return
    if isinstance(source, Symbol):
        value = e.resize(symbol_address(e, source), element_of(kind))
    else:
        value = e.read(source, kind)
    e.write(destination, value)
