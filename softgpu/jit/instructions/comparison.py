"""Comparison and selection."""

from __future__ import annotations

from ..emit.floats import widened
from ..emit.function import Value, instruction
from ..facts.types import bits_of, is_float, is_signed

_SIGNED = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED = {"lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
_UNSIGNED |= {"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}
_FLOAT = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_FLOAT |= {name + "u": "u" + name for name in ("eq", "ne", "lt", "le", "gt", "ge")}
_FLOAT |= {"equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge"}
_FLOAT |= {"num": "ord", "nan": "uno"}


def _compare(e, relation: str, kind: str, a, b, flush: bool) -> Value:
    if is_float(kind):
        a, b = (widened(e, v, kind, flush) for v in (a, b))
        return e.compare(f"fcmp {_FLOAT[relation]}", a, b)
    if relation in ("eq", "ne"):
        return e.compare(f"icmp {relation}", a, b)
    table = _SIGNED if is_signed(kind) and relation in _SIGNED else _UNSIGNED
    return e.compare(f"icmp {table[relation]}", a, b)


def _comparison(e, item, kind, operands) -> list[Value]:
    """Return the results of setp/set: one, or one per half of a packed type."""
    relation = item.modifiers[0]
    a, b = (e.read(o, kind) for o in operands[:2])
    flush = "ftz" in item.modifiers
    if kind.endswith("x2"):
        pairs = zip(e.halves(a), e.halves(b), strict=True)
        results = [_compare(e, relation, kind[:-2], x, y, flush) for x, y in pairs]
    else:
        results = [_compare(e, relation, kind, a, b, flush)]
    combine = next((m for m in item.modifiers if m in ("and", "or", "xor")), None)
    if combine:
        other = e.read(operands[2], "pred")
        negated = e.invert(results[0]) if len(results) == 1 else None
        results = [e.op(combine, r, other) for r in results]
        if negated is not None and item.opcode == "setp":
            results.append(e.op(combine, negated, other))
    elif len(results) == 1:
        results.append(e.invert(results[0]))
    return results


@instruction("setp")
def _setp(e, item):
    count = len(item.operands) - (3 if set(item.modifiers) & {"and", "or", "xor"} else 2)
    results = _comparison(e, item, item.modifiers[-1], item.operands[count:])
    for destination, result in zip(item.operands[:count], results, strict=False):
        e.write(destination, result)


@instruction("set")
def _set(e, item):
    result_type, kind = item.modifiers[-2:]
    results = _comparison(e, item, kind, item.operands[1:])
    ones = {"f32": 0x3F800000, "f16": 0x3C00, "f16x2": 0x3C00, "bf16": 0x3F80, "bf16x2": 0x3F80}
    if kind.endswith("x2"):
        one = e.constant(ones.get(result_type, 0xFFFF), "i16")
        parts = [e.select(r, one, 0) for r in results]
        e.write(item.operands[0], e.join(*parts))
        return
    element = f"i{bits_of(result_type)}"
    one = e.constant(ones.get(result_type, -1), element)
    e.write(item.operands[0], e.select(results[0], one, 0), True)


@instruction("selp")
def _selp(e, item):
    a, b = (e.read(o, item.modifiers[-1]) for o in item.operands[1:3])
    e.write(item.operands[0], e.select(e.read(item.operands[3], "pred"), a, b))


@instruction("slct")
def _slct(e, item):
    kind, by = item.modifiers[-2:]
    a, b = (e.read(o, kind) for o in item.operands[1:3])
    c = e.read(item.operands[3], by)
    if by == "f32":
        value = widened(e, c, by, "ftz" in item.modifiers)
        chosen = e.compare("fcmp oge", value, e.bitcast(e.constant(0, "i32"), "float"))
    else:
        chosen = e.compare("icmp sge", c, 0)
    e.write(item.operands[0], e.select(chosen, a, b))
