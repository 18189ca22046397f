"""float and double: exact arithmetic in every rounding mode, and the documented approximations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from .forms import Form, form, modules, spell
from .rules import documented, exact

__all__ = ["COMPARISONS", "MODULES", "same", "type_of"]

_ROUND = "- .rn .rz .rm .rp"
COMPARISONS = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"
_SMALLEST = 2.0**-126  # below it .ftz forms flush, so they may differ by this much


def type_of(name: str) -> str:
    return name.rpartition(".")[2]


def same(names: Iterator[str], operands: int) -> Iterator[Form]:
    for name in names:
        t = type_of(name)
        yield form(name, t, *[t] * operands, rule=exact(t.removesuffix("x2")))


def _arithmetic() -> Iterator[Form]:
    flags = {"z": "- .ftz", "s": "- .sat"}
    yield from same(spell("{op}{r}{z}{s}.f32", op="add sub mul", r=_ROUND, **flags), 2)
    yield from same(spell("{op}{r}{z}{s}.f32", op="fma mad", r=_ROUND[2:], **flags), 3)
    yield from same(spell("{op}{r}.f64", op="add sub mul", r=_ROUND), 2)
    yield from same(spell("{op}{r}.f64", op="fma mad", r=_ROUND[2:]), 3)
    yield from same(spell("div{r}{z}.f32", r=_ROUND[2:], z="- .ftz"), 2)
    yield from same(spell("div{r}.f64", r=_ROUND[2:]), 2)
    yield from same(spell("{op}{r}{z}.f32", op="sqrt rcp", r=_ROUND[2:], z="- .ftz"), 1)
    yield from same(spell("{op}{r}.f64", op="sqrt rcp", r=_ROUND[2:]), 1)
    choice = {"op": "min max", "z": "- .ftz", "n": "- .NaN", "x": "- .xorsign.abs"}
    yield from same(spell("{op}{z}{n}{x}.f32", **choice), 2)
    yield from same(["min.f64", "max.f64", "copysign.f32", "copysign.f64"], 2)
    yield from same(spell("{op}{z}.f32", op="abs neg", z="- .ftz"), 1)
    yield from same(["abs.f64", "neg.f64"], 1)
    for t, third in (("f32", "0f3EAAAAAB"), ("f64", "0d3FD5555555555555")):
        for op in ("add.rn", "mul.rn"):
            code = f"{op}.{t} %0, %1, {third};"
            yield form(f"{op}.{t}", t, t, assembly=code, rule=exact(t), note="constant")
        for constant in ("1.5", "-0.1", "1e3", "2.5E-2"):
            code = f"add.rn.{t} %0, %1, {constant};"
            yield form(f"add.rn.{t}", t, t, assembly=code, rule=exact(t), note=constant)


def _tests() -> Iterator[Form]:
    for t in ("f32", "f64"):
        for name in spell("testp.{p}", p="finite infinite number notanumber normal subnormal"):
            yield form(f"{name}.{t}", "pred", t)
        for name in spell("setp.{c}{z}", c=COMPARISONS, z="- .ftz" if t == "f32" else "-"):
            yield form(f"{name}.{t}", "pred", t, t)
        for name in spell("set.{c}.{d}", c="lt geu nan", d="u32 s32 f32"):
            yield form(f"{name}.{t}", "f32" if name.endswith("f32") else "32", t, t)
        code = f"{{ .reg .pred p, q; setp.lt.{t} p|q, %1, %2; selp.u32 %0, 2, 0, q;" + (
            " @p add.u32 %0, %0, 1; }"
        )
        yield form(f"setp.lt.{t}", "pred", t, t, assembly=code, note="p|q")
        code = f"{{ .reg .pred q; setp.ne.b32 q, %3, 0; setp.gtu.xor.{t} q, %1, %2, !q;" + (
            " selp.u32 %0, 1, 0, q; }"
        )
        yield form(f"setp.gtu.xor.{t}", "pred", t, t, "32", assembly=code)
    yield form("set.lt.ftz.u32.f32", "32", "f32", "f32")


def _approximations() -> Iterator[Form]:
    """The bounds are the PTX ISA's, section "Floating-Point Instructions"."""

    def both(name: str, operand: str, count: int = 1, **bounds: float) -> Iterator[Form]:
        note = operand.partition(":")[2]
        yield form(f"{name}.f32", "f32", *[operand] * count, note=note,
                   rule=documented("f32", **bounds))  # fmt: skip
        bounds["absolute"] = max(bounds.get("absolute", 0.0), _SMALLEST)
        yield form(f"{name}.ftz.f32", "f32", *[operand] * count, note=note,
                   rule=documented("f32", **bounds))  # fmt: skip

    yield from both("rcp.approx", "f32", ulp=1)
    yield from both("div.approx", "f32", 2, ulp=2)
    yield from both("div.full", "f32", 2, ulp=2)
    yield from both("sqrt.approx", "f32", relative=2**-23)
    yield from both("rsqrt.approx", "f32", relative=2**-22.9)
    yield from both("sin.approx", "f32:angle", absolute=2**-20.5)
    yield from both("cos.approx", "f32:angle", absolute=2**-20.5)
    yield from both("sin.approx", "f32:turns", absolute=2**-14.7)
    yield from both("cos.approx", "f32:turns", absolute=2**-14.7)
    yield from both("lg2.approx", "f32", absolute=2**-22, relative=2**-22)
    yield from both("ex2.approx", "f32", ulp=2)
    yield from both("ex2.approx", "f32:exponent", ulp=2)
    for operand in ("f32", "f32:ten"):
        note = operand.partition(":")[2]
        rule = documented("f32", relative=2**-11)
        yield form("tanh.approx.f32", "f32", operand, rule=rule, note=note)
    # no bound is given: the result has 20 bits of mantissa, of which the last may be wrong
    coarse = documented("f64", relative=2**-20, absolute=2.0**-1022)
    yield form("rcp.approx.ftz.f64", "f64", "f64", rule=coarse)
    yield form("rsqrt.approx.ftz.f64", "f64", "f64", rule=coarse)
    yield form("rsqrt.approx.f64", "f64", "f64", rule=documented("f64", ulp=2))


MODULES = modules("float", chain(_arithmetic(), _tests(), _approximations()))
