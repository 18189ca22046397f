"""Conversions from, to and among half, bfloat16, tf32, float and double: all exact."""

from __future__ import annotations

from collections.abc import Iterator

from .forms import Form, form, modules, spell
from .rules import exact

__all__ = ["MODULES"]

_INT = "u8 s8 u16 s16 u32 s32 u64 s64".split()
_FLOAT = "f16 bf16 f32 f64".split()
_TO_INT = ".rni .rzi .rmi .rpi"
_ROUND = ".rn .rz .rm .rp"


def _register(t: str) -> str:
    return t if t in _FLOAT else {"8": "16"}.get(t[1:], t[1:])


def _integers_with(t: str) -> list[str]:
    """The integer types that convert from and to a floating-point type."""
    return _INT[2:] if t == "bf16" else _INT


def _integers() -> Iterator[Form]:
    for s in _FLOAT:
        for d in _integers_with(s):
            for name in spell("cvt{r}{z}{s}", r=_TO_INT, z="- .ftz" if s == "f32" else "-",
                              s="- .sat" if s != "bf16" else "-"):  # fmt: skip
                yield form(f"{name}.{d}.{s}", _register(d), f"{s}:to_int")
    for d in _FLOAT:
        for s in _integers_with(d):
            sat = "-" if d == "bf16" else "- .sat"
            for name in spell("cvt{r}{s}", r=_ROUND, s=sat):
                yield form(f"{name}.{d}.{s}", d, _register(s))


def _whole_numbers() -> Iterator[Form]:
    """Rounding to a whole number that stays a floating-point number."""
    for name in spell("cvt{r}{z}{s}.f32.f32", r=_TO_INT, z="- .ftz", s="- .sat"):
        yield form(name, "f32", "f32:to_int", rule=exact("f32"))
    for t in ("f16", "f64"):
        for name in spell("cvt{r}{s}.{t}.{t}", r=_TO_INT, s="- .sat", t=t):
            yield form(name, t, f"{t}:to_int", rule=exact(t))


def _floats() -> Iterator[Form]:
    def one(name: str, note: str = "") -> Form:
        d, s = name.split(".")[-2:]
        return form(name, d, s, rule=exact(d), note=note)

    for name in spell("cvt{z}{s}.f32.f32", z="- .ftz", s="- .sat"):
        yield one(name)
    yield one("cvt.sat.f64.f64")
    yield one("cvt.sat.f16.f16")
    for name in spell("cvt{r}{z}{s}.f32.f64", r=_ROUND, z="- .ftz", s="- .sat"):
        yield one(name)
    for name in spell("cvt{z}{s}.f64.f32", z="- .ftz", s="- .sat"):
        yield one(name)
    for name in spell("cvt{r}{z}{s}.f16.f32", r=_ROUND, z="- .ftz", s="- .sat"):
        yield one(name)
    for name in spell("cvt{r}{s}.f16.f64", r=_ROUND, s="- .sat"):
        yield one(name)
    for name in spell("cvt{z}{s}.f32.f16", z="- .ftz", s="- .sat"):
        yield one(name)
    for name in spell("cvt{s}.f64.f16", s="- .sat"):
        yield one(name)
    for name in spell("cvt.{r}{s}{f}.{d}.f32", r="rn rz", s="- .relu", f="- .satfinite",
                      d="f16 bf16"):  # fmt: skip
        # two of these are above, too
        yield one(name, "again" if name in ("cvt.rn.f16.f32", "cvt.rz.f16.f32") else "")
    yield one("cvt.f32.bf16")
    yield one("cvt.f64.bf16")
    yield one("cvt.rn.f16.bf16")
    yield one("cvt.rn.bf16.f16")
    for name in spell("cvt{r}.bf16.f64", r=_ROUND):
        yield one(name)
    for name in spell("cvt.{r}{s}.{d}x2.f32", r="rn rz", s="- .relu", d="f16 bf16"):
        t = name.split(".")[-2]
        yield form(name, t, "f32", "f32", rule=exact(t.removesuffix("x2")))
    for name in ("rna", "rn", "rz", "rna.satfinite", "rn.relu", "rz.relu"):
        yield form(f"cvt.{name}.tf32.f32", "32", "f32", rule=exact("f32"))


def _forms() -> Iterator[Form]:
    for part in (_integers, _whole_numbers, _floats):
        yield from part()


MODULES = modules("cvt", _forms())
