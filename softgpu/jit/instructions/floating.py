"""Floating-point instructions and conversions.

float and double use the host's IEEE arithmetic; half and bfloat16 are computed in float, which is
wide enough that rounding once is exact. Other rounding modes and the approximate functions are C
functions over 32 lanes (driver/run/lanes.c).
"""

from __future__ import annotations

from ..emit.floats import (
    canonical,
    clamped,
    finite,
    float_of,
    flushed,
    is_nan,
    is_subnormal,
    made,
    narrowed,
    quiet,
    relu,
    saturate,
    widened,
)
from ..emit.function import LANES, Value, instruction
from ..facts.types import bits_of, element_of, is_float, is_signed, kind_of
from . import integer

_DIRECTED = ("rz", "rm", "rp")


def _rounding(item) -> str:
    return next((m for m in item.modifiers if m in _DIRECTED), "rn")


def _name(item) -> str:
    """Return the instruction's name without its operands, for the name of a routine."""
    return ".".join([item.opcode, *item.modifiers])


def _compute(e, item, operation, count: int = 2) -> None:
    """Apply `operation(values) -> value` in the item's type, with its .ftz, .sat and .relu."""
    kind = kind_of(item)
    flush = "ftz" in item.modifiers
    operands = [e.read(o, kind) for o in item.operands[1 : 1 + count]]

    def one(values, scalar):
        result = operation([widened(e, v, scalar, flush) for v in values])
        if "sat" in item.modifiers:
            result = saturate(e, result)
        if "relu" in item.modifiers:
            result = relu(e, result)
        return narrowed(e, result, scalar, flush)

    def both(*pairs):
        low, high = zip(*(e.halves(v) for v in pairs), strict=True)
        return [e.join(one(low, kind[:-2]), one(high, kind[:-2]))]

    if kind.endswith("x2"):
        (result,) = e.routine(_name(item), both, *operands)
        e.write(item.operands[0], result)
    else:
        e.write(item.operands[0], one(operands, kind))


def _rounded(e, item, operation: str, values: list[Value]) -> Value:
    """Emit add, mul, div, fma, sqrt or rcp in the item's rounding mode."""
    rounding = _rounding(item)
    name = "f64" if values[0].element == "double" else "f32"
    if rounding != "rn":
        return e.lanewise(f"sg_{operation}_{rounding}_{name}", *values, element=values[0].element)
    if operation == "fma":
        return made(e, e.intrinsic("fma", *values), *values[:2], summand=values[2])
    if operation == "sqrt":
        result = e.intrinsic("sqrt", *values)
    elif operation == "rcp":
        result = e.op("fdiv", float_of(e, 1.0, values[0]), values[0])
    else:
        result = e.op("f" + operation, *values)
    return made(e, result, *values)


@instruction("add", "sub")
def _add(e, item):
    if not is_float(kind_of(item)):
        integer.arithmetic(e, item)
        return

    _compute(e, item, lambda values: _rounded(e, item, item.opcode, values))


@instruction("mul")
def _mul(e, item):
    if is_float(kind_of(item)):
        _compute(e, item, lambda values: _rounded(e, item, "mul", values))
    else:
        integer.multiply(e, item)


@instruction("fma", "mad")
def _fma(e, item):
    kind = kind_of(item)
    if not is_float(kind):
        integer.multiply_add(e, item)
    elif kind in ("f32", "f64"):
        _compute(e, item, lambda values: _rounded(e, item, "fma", values), 3)
    else:
        _short_fma(e, item, kind)


def _short_fma(e, item, kind) -> None:
    """fma of half and bfloat16: the result must be rounded once, for which float is too narrow."""
    name = kind.removesuffix("x2")
    operands = [e.read(o, kind) for o in item.operands[1:4]]
    flush = "ftz" in item.modifiers
    if flush:
        operands = [flushed(e, operand, kind) for operand in operands]
    count, element = (2 * LANES, "i32") if kind.endswith("x2") else (LANES, "i16")
    pointers = e.spill_all(*operands)
    out = e.temporary(element, 1, "result")
    e.call_void(f"sg_fma_{name}", f"i32 {count}", *pointers, f"ptr {out}")
    result = e.unspill(out, element)
    if all(value.uniform for value in operands):
        result = e.extract(result, "0")

    def finish(part):
        value = widened(e, part, name, flush)
        if "sat" in item.modifiers:
            value = saturate(e, value)
        if "relu" in item.modifiers:
            value = relu(e, value)
        return narrowed(e, value, name)

    if set(item.modifiers) & {"sat", "relu", "ftz"}:
        result = e.join(*map(finish, e.halves(result))) if element == "i32" else finish(result)
    e.write(item.operands[0], result)


@instruction("div")
def _div(e, item):
    if not is_float(kind_of(item)):
        integer.divide(e, item)
        return

    def quotient(values):
        a, b = values
        if "approx" not in item.modifiers:
            exact = _rounded(e, item, "div", values)
            if "ftz" not in item.modifiers or _rounding(item) not in ("rm", "rp"):
                return exact
            # results that are subnormal before rounding away from zero are flushed, too
            cut = e.lanewise("sg_div_rz_f32", a, b, element="float")
            return e.select(is_subnormal(e, cut), cut, exact)
        # beyond 2^126 the hardware multiplies by a reciprocal that has been flushed to 0
        huge = e.compare("fcmp ogt", e.intrinsic("fabs", b), float_of(e, 2.0**126, b))
        zero = e.intrinsic("copysign", float_of(e, 0.0, b), b)
        return e.select(huge, e.op("fmul", a, zero), e.op("fdiv", a, b))

    _compute(e, item, quotient)


@instruction("min", "max")
def _minmax(e, item):
    if not is_float(kind_of(item)):
        integer.arithmetic(e, item)
        return

    def extreme(values):
        a, b = values
        name = item.opcode + ("imum" if "NaN" in item.modifiers else "imumnum")
        if kind_of(item) == "f64":  # if both are NaN: the second
            result = e.intrinsic(name, a, b)
            return e.select(is_nan(e, result), e.bitcast(quiet(e, b), "double"), result)
        if "xorsign" not in item.modifiers:
            return e.intrinsic(name, a, b)
        size = e.intrinsic(name, e.intrinsic("fabs", a), e.intrinsic("fabs", b))
        sign = e.op("xor", e.integer(a), e.integer(b))
        return e.intrinsic("copysign", size, e.bitcast(sign, a.element))

    _compute(e, item, extreme)


def _sign_operation(e, item, clear: bool) -> None:
    """abs or neg: change only the sign bit, but keep a double's NaN."""
    kind = kind_of(item)
    value = e.read(item.operands[1], kind)
    if "ftz" in item.modifiers:
        value = flushed(e, value, kind)
    bits = e.integer(value)
    width = bits_of(kind)
    signs = (1 << (width - 1)) | ((1 << 15) if kind.endswith("x2") else 0)
    if clear:
        bits = e.op("and", bits, ~signs)
    else:
        bits = e.op("xor", bits, signs)
    if kind == "f64":
        bits = e.select(is_nan(e, value), quiet(e, value), bits)
    e.write(item.operands[0], bits)


@instruction("abs")
def _abs(e, item):
    if is_float(kind_of(item)):
        _sign_operation(e, item, clear=True)
    else:
        integer.absolute(e, item)


@instruction("neg")
def _neg(e, item):
    kind = kind_of(item)
    if is_float(kind):
        _sign_operation(e, item, clear=False)
    else:
        value = e.read(item.operands[1], kind)
        e.write(item.operands[0], e.op("sub", 0, value), is_signed(kind))


@instruction("copysign")
def _copysign(e, item):
    sign, size = (e.read(o, item.modifiers[-1]) for o in item.operands[1:3])
    e.write(item.operands[0], e.intrinsic("copysign", size, sign))


@instruction("testp")
def _testp(e, item):
    test, kind = item.modifiers
    value = e.read(item.operands[1], kind)
    bits = e.integer(value)
    mask, low = (0x7F800000, 0x7FFFFF) if kind == "f32" else (0x7FF << 52, (1 << 52) - 1)
    exponent = e.op("and", bits, mask)
    rest = e.compare("icmp ne", e.op("and", bits, low), 0)
    top = e.compare("icmp eq", exponent, mask)
    bottom = e.compare("icmp eq", exponent, 0)
    result = {
        "finite": lambda: e.invert(top),
        "infinite": lambda: e.op("and", top, e.invert(rest)),
        "number": lambda: e.invert(e.op("and", top, rest)),
        "notanumber": lambda: e.op("and", top, rest),
        "normal": lambda: e.invert(e.op("or", top, e.op("and", bottom, rest))),
        "subnormal": lambda: e.op("and", bottom, rest),
    }[test]()
    e.write(item.operands[0], result)


@instruction("sqrt", "rcp")
def _root(e, item):
    if kind_of(item) == "f64" and "approx" in item.modifiers:
        _approximate(e, item)
    else:
        _compute(e, item, lambda values: _rounded(e, item, item.opcode, values), 1)


@instruction("rsqrt")
def _rsqrt(e, item):
    if kind_of(item) == "f64" and "ftz" in item.modifiers:
        _approximate(e, item)
    else:

        def inverse(values):
            (value,) = values
            result = e.op("fdiv", float_of(e, 1.0, value), e.intrinsic("sqrt", value))
            return made(e, result, value)

        _compute(e, item, inverse, 1)


@instruction("sin", "cos", "lg2", "ex2", "tanh")
def _approximate(e, item):
    kind = kind_of(item)
    value = e.read(item.operands[1], kind)
    flush = "_ftz" if "ftz" in item.modifiers and kind in ("f32", "f64") else ""
    if kind == "f64":  # only the upper halves of the operands count
        whole = e.op("and", e.bitcast(value, "i64"), -1 << 32)
        value = e.bitcast(whole, "double")
    if kind in ("f32", "f64"):
        result = e.lanewise(f"sg_{item.opcode}_approx{flush}_{kind}", value, element=value.element)
    else:
        count = 2 * LANES if kind.endswith("x2") else LANES
        out = e.temporary(value.element, 1, "result")
        name = f"sg_{item.opcode}_approx_{kind.removesuffix('x2')}"
        e.call_void(name, f"i32 {count}", f"ptr {e.spill(value)}", f"ptr {out}")
        result = e.unspill(out, value.element)
        result = e.extract(result, "0") if value.uniform else result
    e.write(item.operands[0], result)


# --- conversion ----------------------------------------------------------------------------------

_TO_INTEGER = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


@instruction("cvt")
def _cvt(e, item):
    if "pack" in item.modifiers:
        _cvt_pack(e, item)
        return
    to, kind = item.modifiers[-2:]
    if to in _FP8:
        _to_fp8(e, item, kind, to)
        return
    if kind in _FP8:
        _from_fp8(e, item, kind, to)
        return
    if to in ("f16x2", "bf16x2"):
        numbers = (e.read(item.operands[place], kind) for place in (2, 1))

        def joined(*numbers):
            return [e.join(*(_to_float(e, item, number, kind, to[:-2]) for number in numbers))]

        (result,) = e.routine(_name(item), joined, *numbers)
        e.write(item.operands[0], result)
        return
    value = e.read(item.operands[1], kind)
    if to == "tf32":
        e.write(item.operands[0], _to_tf32(e, value, item))
    elif is_float(to) and is_float(kind):
        e.write(item.operands[0], _to_float(e, item, value, kind, to))
    elif is_float(to):
        e.write(item.operands[0], _from_integer(e, item, value, kind, to))
    elif is_float(kind):
        e.write(item.operands[0], _to_int(e, item, value, kind, to), is_signed(to))
    else:
        value = _clamp(e, value, kind, to) if "sat" in item.modifiers else value
        e.write(item.operands[0], e.resize(value, element_of(to), is_signed(kind)), is_signed(to))


_FP8 = ("e4m3x2", "e5m2x2")


def _to_fp8(e, item, kind, to):
    """Round two floats, or the two halves of a register, to a pair of bytes."""
    if kind == "f16x2":
        low, high = (widened(e, v, "f16") for v in e.halves(e.read(item.operands[1], kind)))
    else:
        high, low = (e.read(o, "f32") for o in item.operands[1:3])
    if "relu" in item.modifiers:
        low, high = relu(e, low), relu(e, high)
    name = f"sg_cvt_{to[:-2]}_f32"
    parts = (e.resize(e.lanewise(name, v, element="i8"), "i16") for v in e.alike(low, high))
    low, high = parts
    e.write(item.operands[0], e.op("or", low, e.op("shl", high, 8)))


def _from_fp8(e, item, kind, to):
    """Widen a pair of bytes to two halves, which represent them exactly."""
    pair = e.read(item.operands[1], "b16")

    def half(bits: Value) -> Value:
        """Return a half from the upper 8 bits."""
        if kind == "e5m2x2":  # the upper half of a half
            value = widened(e, bits, "f16")
        else:  # one exponent bit fewer, and one mantissa bit more
            low = e.op("lshr", e.op("shl", bits, 1), 2)
            size = widened(e, low, "f16")
            size = e.op("fmul", size, float_of(e, 256.0, size))
            nan = e.compare("icmp eq", low, 0x3F80)
            size = e.select(nan, e.bitcast(e.constant(0x7FFFFFFF, "i32"), "float"), size)
            sign = e.op("shl", e.resize(bits, "i32"), 16)
            value = e.intrinsic("copysign", size, e.bitcast(sign, "float"))
        return narrowed(e, relu(e, value) if "relu" in item.modifiers else value, "f16")

    def halves(pair):
        return [e.join(half(e.op("shl", pair, 8)), half(e.op("and", pair, 0xFF00)))]

    (result,) = e.routine(_name(item), halves, pair)
    e.write(item.operands[0], result)


def _limits(kind: str) -> tuple[int, int]:
    bits = bits_of(kind)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(kind) else (0, (1 << bits) - 1)


def _clamp(e, value, kind, to):
    (low, high), (lowest, highest) = _limits(to), _limits(kind)
    sign = "s" if is_signed(kind) else "u"
    if low > lowest:
        value = e.intrinsic(sign + "max", value, low)
    if high < highest:
        value = e.intrinsic(sign + "min", value, high)
    return value


def _cvt_pack(e, item):
    """cvt.pack.sat: clamp two integers (more, into fewer bits) into one register."""
    to, kind = item.modifiers[2:4]
    bits = bits_of(to)
    a, b = (e.read(o, kind) for o in item.operands[1:3])
    mask = e.constant((1 << bits) - 1, "i32")
    high, low = (e.op("and", _clamp(e, v, kind, to), mask) for v in (a, b))
    both = e.op("or", e.op("shl", high, bits), low)
    if len(item.operands) > 3:
        c = e.read(item.operands[3], "b32")
        both = e.op("or", e.op("shl", c, 2 * bits), both)
    e.write(item.operands[0], both)


def _to_tf32(e, value, item):
    """Round a float to its upper 19 bits, carrying into the exponent.

    NaN: .rna truncates it as well; the other roundings return a canonical one."""
    bits, nan = e.bitcast(value, "i32"), is_nan(e, value)
    mask = e.constant(~0x1FFF, "i32")
    cut = e.op("and", bits, mask)
    if "rz" in item.modifiers:
        kept = cut
    elif "rn" in item.modifiers:
        odd = e.op("and", e.op("lshr", bits, 13), 1)
        kept = e.op("and", e.op("add", bits, e.op("add", odd, 0xFFF)), mask)
    else:
        kept = e.op("and", e.op("add", bits, 0x1000), mask)
    kept = e.select(nan, cut if "rna" in item.modifiers else e.constant(0x7FFFE000, "i32"), kept)
    if "satfinite" in item.modifiers:  # values beyond the largest number go back by one step
        exponent = e.constant(0x7F800000, "i32")
        beyond = e.compare("icmp eq", e.op("and", kept, exponent), exponent)
        kept = e.select(beyond, e.op("sub", kept, 0x2000), kept)
    if "relu" in item.modifiers:
        kept = e.bitcast(relu(e, e.bitcast(kept, "float")), "i32")
    return kept


def _to_float(e, item, value, kind, to):
    """cvt between float types; return the result as an element of type `to`."""
    flush = "ftz" in item.modifiers and to in ("f32", "f64", "bf16")
    value = widened(e, value, kind, flush and kind == "f32")
    if flush and (kind, to) == ("bf16", "f32"):
        value = canonical(e, value, "f32")
    integral = next((m for m in item.modifiers if m in _TO_INTEGER), None)
    if integral:
        value = e.intrinsic(_TO_INTEGER[integral], value)
    rounding = _rounding(item)
    if to == "f64" and value.element == "float":
        value = canonical(e, value, "f32") if flush else value
        value = e.convert("fpext", value, "double")
    elif to == "f32" and value.element == "double":
        if rounding == "rn":
            value = e.convert("fptrunc", value, "float")
        else:
            value = e.lanewise(f"sg_cvt_{rounding}_f32_f64", value, element="float")
    elif to in ("f16", "bf16") and value.element == "double":
        value = saturate(e, value) if "sat" in item.modifiers else value
        return e.lanewise(f"sg_cvt_{rounding}_{to}_f64", value, element="i16")
    if "sat" in item.modifiers:
        value = saturate(e, value)
    if "relu" in item.modifiers:
        value = relu(e, value)
    if "satfinite" in item.modifiers:
        value = finite(e, value, {"f16": 65504.0, "bf16": 255 * 2.0**120}[to])
    if to in ("f16", "bf16") and rounding != "rn" and not integral:
        return e.lanewise(f"sg_cvt_{rounding}_{to}_f32", value, element="i16")
    return narrowed(e, value, to, flush)


def _from_integer(e, item, value, kind, to):
    signed = is_signed(kind)
    rounding = _rounding(item)
    if bits_of(kind) < 32:
        value = e.resize(value, "i32", signed)
    source = f"{kind[0]}{max(bits_of(kind), 32)}"
    convert = "sitofp" if signed else "uitofp"
    if to in ("f32", "f64"):
        if rounding == "rn":
            result = e.convert(convert, value, element_of(to))
        else:
            result = e.lanewise(f"sg_cvt_{rounding}_{to}_{source}", value, element=element_of(to))
        return saturate(e, result) if "sat" in item.modifiers else result
    cut = e.lanewise(f"sg_cvt_rz_f32_{source}", value, element="float")
    back = clamped(e, cut, value.element, signed)
    exact = e.compare("icmp eq", back, value)
    bits = e.bitcast(cut, "i32")
    odd = e.bitcast(e.select(exact, bits, e.op("or", bits, 1)), "float")
    odd = saturate(e, odd) if "sat" in item.modifiers else odd
    if rounding == "rn":
        return narrowed(e, odd, to)
    return e.lanewise(f"sg_cvt_{rounding}_{to}_f32", odd, element="i16")


def _to_int(e, item, value, kind, to):
    """Round and clamp; NaN becomes 0, or the top bit alone where 64 bits are involved."""
    value = widened(e, value, kind, "ftz" in item.modifiers)
    rounding = next(m for m in item.modifiers if m in _TO_INTEGER)
    if rounding != "rzi":
        value = e.intrinsic(_TO_INTEGER[rounding], value)
    result = clamped(e, value, element_of(to), is_signed(to))
    if bits_of(to) < 64 and kind != "f64":
        return result
    nan = e.compare("fcmp uno", value, value)
    return e.select(nan, 1 << (bits_of(to) - 1), result)
