"""Atomic instructions: every operation and type on every space, one address a lane."""

from __future__ import annotations

from collections.abc import Iterator

from .forms import Form, modules
from .rules import BITS, exact

__all__ = ["MODULES"]

_PREAMBLE = """
typedef unsigned long long Word;
__device__ Word scratch[256];
template <class T>
__device__ bool same(T x, T y) {
    return x == y;
}
template <>
__device__ bool same(float x, float y) {
    return __float_as_uint(x) == __float_as_uint(y);
}
template <>
__device__ bool same(double x, double y) {
    return __double_as_longlong(x) == __double_as_longlong(y);
}
"""
_OPERATIONS = [
    *(f"{op}.{t}" for t in ("u32", "s32", "u64") for op in ("add", "min", "max")),
    *("min.s64", "max.s64", "inc.u32", "dec.u32"),
    *(f"{op}.b{size}" for size in (32, 64) for op in ("and", "or", "xor", "exch", "cas")),
    *("cas.b16", "add.f32", "add.f64", "add.noftz.f16", "add.noftz.f16x2"),
    *("add.noftz.bf16", "add.noftz.bf16x2"),
]
# type in memory: type in C, constraint of inline assembly
_TYPES = {
    "16": ("unsigned short", "h"),
    "32": ("unsigned", "r"),
    "64": ("Word", "l"),
    "f32": ("float", "f"),
    "f64": ("double", "d"),
    "f16": ("unsigned short", "h"),
    "bf16": ("unsigned short", "h"),
    "f16x2": ("unsigned", "r"),
    "bf16x2": ("unsigned", "r"),
}
_SPACES = {
    ".global": ("scratch + i", '"l"(p)'),
    ".shared": ("shared + i", '"r"((unsigned)__cvta_generic_to_shared(p))'),
    "": ("(i & 2 ? shared : scratch) + i", '"l"(p)'),
}


def _atomic(instruction: str, op: str, space: str, order: str = "") -> Form:
    """x is the operand, y is in memory; the result is what memory then holds, or 77 if the
    instruction did not return y. Half of the values that cas compares are those in memory."""
    suffix = op.rpartition(".")[2]
    t = suffix if suffix in _TYPES else suffix[1:]
    c, mark = _TYPES[t]
    pointer, address = _SPACES[space]
    name = f"{instruction}{order}{space}.{op}"
    operands = f'{address}, "{mark}"(x)'
    more = ""
    if op.startswith("cas"):
        operands = f'{address}, "{mark}"(i & 1 ? x : y), "{mark}"(z)'
        more = ", %3"
    if instruction == "atom":
        asm = f'{c} old; asm volatile("{name} %0, [%1], %2{more};" : "={mark}"(old) : {operands}'
        check = f" if (!same(old, y)) d = ({c})77;"
    else:
        asm = f'asm volatile("{name} [%0], %1;" :: {operands}'
        check = ""
    shared = "" if space == ".global" else "__shared__ Word shared[256]; "
    code = f"{shared}{c} *p = ({c} *)({pointer}); *(volatile {c} *)p = y;"
    code += f' {asm} : "memory"); d = *(volatile {c} *)p;{check}'
    rule = exact(t.removesuffix("x2")) if "f" in t else BITS
    return Form(name, code, t, (t, t, t), rule, assembly=False)


def _forms() -> Iterator[Form]:
    for op in _OPERATIONS:
        for space in _SPACES:
            yield _atomic("atom", op, space)
            if not op.startswith(("exch", "cas")):
                yield _atomic("red", op, space)
    for order in (".relaxed", ".acquire", ".release", ".acq_rel"):
        for scope in (".cta", ".gpu", ".sys"):
            yield _atomic("atom", "add.u32", ".global", order + scope)
            yield _atomic("atom", "cas.b64", ".global", order + scope)
            yield _atomic("atom", "exch.b32", ".shared", order + scope)
            if order in (".relaxed", ".release"):
                yield _atomic("red", "max.s32", ".global", order + scope)
    for scope in (".cta", ".gpu", ".sys"):
        yield _atomic("atom", "add.f32", ".global", scope)
        yield _atomic("red", "or.b32", "", scope)


MODULES = modules("atomics", _forms(), _PREAMBLE)
