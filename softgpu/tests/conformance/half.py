"""half and bfloat16, single and in pairs: exact arithmetic, tests, ex2 and tanh."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from .floating import COMPARISONS, same, type_of
from .forms import Form, form, modules, spell
from .rules import documented

__all__ = ["MODULES"]


def _arithmetic() -> Iterator[Form]:
    half = {"t": "f16 f16x2"}
    flags = {"r": "- .rn", "z": "- .ftz", "s": "- .sat"}
    yield from same(spell("{op}{r}{z}{s}.{t}", op="add sub mul", **flags, **half), 2)
    yield from same(spell("{op}{r}.{t}", op="add sub mul", r="- .rn", t="bf16 bf16x2"), 2)
    yield from same(spell("fma.rn{z}{s}.{t}", z="- .ftz", s="- .sat .relu", **half), 3)
    yield from same(spell("fma.rn{s}.{t}", s="- .relu", t="bf16 bf16x2"), 3)
    yield from same(spell("{op}{z}.{t}", op="abs neg", z="- .ftz", **half), 1)
    yield from same(spell("{op}.{t}", op="abs neg", t="bf16 bf16x2"), 1)
    choice = {"op": "min max", "n": "- .NaN", "x": "- .xorsign.abs"}
    yield from same(spell("{op}{z}{n}{x}.{t}", z="- .ftz", **choice, **half), 2)
    yield from same(spell("{op}{n}{x}.{t}", **choice, t="bf16 bf16x2"), 2)


def _tests() -> Iterator[Form]:
    for t in ("f16", "bf16"):
        for name in spell("setp.{c}{z}.{t}", c=COMPARISONS, z="- .ftz" if t == "f16" else "-", t=t):
            yield form(name, "pred", t, t)
        for name in spell("setp.{c}.{t}x2", c="lt geu nan", t=t):
            code = f"{{ .reg .pred p, q; {name} p|q, %1, %2; selp.u32 %0, 2, 0, q;" + (
                " @p add.u32 %0, %0, 1; }"
            )
            yield form(name, "pred", f"{t}x2", f"{t}x2", assembly=code)
        for c in ("lt", "neu", "ge"):
            for d, out in {"u16": "16", "s16": "16", "u32": "32", "s32": "32", t: t}.items():
                yield form(f"set.{c}.{d}.{t}", out, t, t)
            yield form(f"set.{c}.u32.{t}x2", "32", f"{t}x2", f"{t}x2")
            yield form(f"set.{c}.s32.{t}x2", "32", f"{t}x2", f"{t}x2")
            yield form(f"set.{c}.{t}x2.{t}x2", "32", f"{t}x2", f"{t}x2")


def _approximations() -> Iterator[Form]:
    """The bounds are the PTX ISA's, section "Half Precision Floating-Point Instructions"."""
    bounds = {
        "tanh.approx.f16": {"absolute": 2**-10.987},
        "tanh.approx.bf16": {"absolute": 2**-8},
        "ex2.approx.f16": {"relative": 2**-9.9, "absolute": 2**-25},
        "ex2.approx.ftz.bf16": {"relative": 2**-7, "absolute": 2**-126},
    }
    for name, bound in bounds.items():
        t = type_of(name)
        for operand in (t, f"{t}:ten"):
            rule, note = documented(t, **bound), operand.partition(":")[2]
            yield form(name, t, operand, rule=rule, note=note)
        yield form(f"{name}x2", f"{t}x2", f"{t}x2", rule=documented(t, **bound))


MODULES = modules("half", chain(_arithmetic(), _tests(), _approximations()))
