"""The bits of NaN: which ones instructions make, keep and pass on, and what programs see of them.

float, half and bfloat16 arithmetic makes one NaN, whatever its operands; double arithmetic passes a
NaN operand on. Loads, moves, selections and everything on bits leave a NaN as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from .forms import Form, expression, form, modules, spell
from .inputs import bits
from .rules import BITS, Rule, documented

__all__ = ["MODULES"]

_ONE, _NONE = Rule(nans="one"), Rule(nans="none")
_PREAMBLE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__device__ float floats[512];
__device__ double doubles[512];
"""


def _instructions() -> Iterator[Form]:
    def same(names: Iterator[str], operands: int) -> Iterator[Form]:
        for name in names:
            t = name.rpartition(".")[2]
            rule = _ONE if t == "f64" else BITS
            yield form(name, t, *[f"{t}:nan"] * operands, rule=rule)

    for t in ("f32", "f64"):
        yield from same(spell("{op}.{r}.{t}", op="add sub mul div", r="rn rz", t=t), 2)
        yield from same(spell("fma.{r}.{t}", r="rn rp", t=t), 3)
        yield from same(spell("{op}.rn.{t}", op="sqrt rcp", t=t), 1)
        yield from same(spell("{op}.{t}", op="abs neg", t=t), 1)
        yield from same(spell("{op}.{t}", op="min max copysign", t=t), 2)
    yield from same(["min.NaN.f32", "max.NaN.xorsign.abs.f32"], 2)
    for name, rule in {
        "rsqrt.approx.f32": documented("f32", relative=2**-22.9),
        "sin.approx.f32": documented("f32", absolute=1),  # of large angles nothing is promised
        "lg2.approx.f32": documented("f32", absolute=2**-22, relative=2**-22),
        "ex2.approx.f32": documented("f32", ulp=2),
        "tanh.approx.f32": documented("f32", relative=2**-11),
        "rsqrt.approx.f64": documented("f64", ulp=2),
        "rcp.approx.ftz.f64": documented("f64", relative=2**-20, absolute=2.0**-1022),
    }.items():
        t = name.rpartition(".")[2]
        yield form(name, t, f"{t}:nan", rule=rule)
    for t in ("f16", "f16x2", "bf16", "bf16x2"):
        yield from same(spell("{op}.{t}", op="add mul min max min.NaN", t=t), 2)
        yield from same(spell("{op}.{t}", op="abs neg", t=t), 1)
        yield from same([f"fma.rn.{t}"], 3)
    for name in spell("cvt{how}", how=(
        ".f32.f32 .ftz.f32.f32 .sat.f32.f32 .rni.f32.f32 .f64.f32 .ftz.f64.f32 .sat.f64.f32"
        " .rn.f32.f64 .rz.f32.f64 .rn.ftz.f32.f64 .sat.f64.f64 .rzi.f64.f64 .rn.f16.f64 .rz.f16.f64"
        " .rn.bf16.f64 .rn.f16.f32 .rz.f16.f32 .rn.bf16.f32 .rn.relu.f16.f32 .f32.f16 .f64.f16"
        " .rni.f16.f16 .sat.f16.f16 .f32.bf16 .f64.bf16 .rn.f16.bf16 .rn.bf16.f16"
    )):  # fmt: skip
        to, of = name.split(".")[-2:]
        yield form(name, to, f"{of}:nan")
    for name in ("rna", "rn", "rz", "rna.satfinite", "rn.relu"):
        yield form(f"cvt.{name}.tf32.f32", "32", "f32:nan")
    for t in ("u32", "s64"):
        for of in ("f32", "f64", "f16"):
            yield form(f"cvt.rzi.{t}.{of}", t[1:], f"{of}:nan")
    yield form("slct.f32.f32", "f32", *["f32:nan"] * 3)
    yield form("selp.f32", "f32", "f32:nan", "f32:nan", assembly=(
        "{ .reg .pred p; setp.lt.f32 p, %1, %2; selp.f32 %0, %1, %2, p; }"
    ))  # fmt: skip


def _observations() -> Iterator[Form]:
    """What a program can see of a NaN that arithmetic made."""
    made = "x * y - x"
    for name in (
        f"__float_as_uint({made})", f"__float_as_int({made}) < 0", f"signbit({made}) != 0",
        f"__float_as_uint(copysignf(1.0f, {made}))", f"__float_as_uint(copysignf({made}, y))",
        f"__float_as_uint(-({made}))", f"__float_as_uint(fabsf({made}))",
        f"__float_as_uint(__shfl_xor_sync(~0u, {made}, 1))",
        f"__float_as_uint(x < 1.0f ? x : {made})", f"__float_as_uint(x < 1.0f ? -x : {made})",
        f"__float_as_uint({made}) >> 22", f"__popc(__float_as_uint({made}))",
        "__float_as_uint(x * 1.0f)", "__float_as_uint(x + 0.0f)", "__float_as_uint(x - 0.0f)",
        "__float_as_uint(0.0f - x)", "__float_as_uint(x / 1.0f)", "__float_as_uint(x * -1.0f)",
        "__float_as_uint(-(-x))", "__float_as_uint(fabsf(-x))", "__float_as_uint(fmaxf(x, x))",
        "__float_as_uint(fminf(x, 1.0f))", "__float_as_uint(x != x ? x : y)",
        "__float_as_uint((float)(double)x)", "__float_as_uint(__half2float(__float2half_rn(x)))",
        "__half_as_ushort(__float2half_rn(x - y))", "__bfloat16_as_ushort(__float2bfloat16(x - y))",
        "float a = x; for (int k = 0; k < (i & 3); k++) a = a * y + x; d = __float_as_uint(a);",
        "float a = x; if (y > 0.0f) a = a * 2.0f; d = __float_as_uint(a);",
        f"__shared__ float s[512]; s[i] = {made}; d = ((unsigned *)s)[i];",
        "__shared__ float s[512]; s[i] = x; atomicAdd(s + i, y); d = __float_as_uint(s[i]);",
        "floats[i] = x; atomicAdd(floats + i, y); d = __float_as_uint(floats[i]);",
        f"__shared__ float s[512]; s[i] = x; atomicExch(s + i, {made}); d = __float_as_uint(s[i]);",
        f"float2 p = make_float2({made}, x); d = (unsigned)(*(unsigned long long *)&p >> 3);",
        f"float local[4] = {{x, {made}, y, x + y}}; d = __float_as_uint(local[i & 3]);",
        f"__reduce_max_sync(~0u, __float_as_uint({made}))",
        f"__match_any_sync(~0u, __float_as_uint({made}))",
        f"(unsigned)(__double_as_longlong((double)({made})) >> 29)",
    ):  # fmt: skip
        yield expression(name, "32", "f32:nan", "f32:nan")
    for name in (
        "__double_as_longlong(x * y - x)", "__double_as_longlong(copysign(1.0, x - y))",
        "signbit(x * y) != 0", "__double_as_longlong(-(x * y))",
        "__double_as_longlong(fabs(x - y))",
        "__double_as_longlong(x * 1.0)", "__double_as_longlong(x * -1.0)",
        "__double_as_longlong(0.0 - x)", "__double_as_longlong(-(-x))",
        "__float_as_uint((float)(x - y))", "__double_as_longlong(fmax(x, y))",
        "doubles[i] = x; atomicAdd(doubles + i, y); d = __double_as_longlong(doubles[i]);",
        "__shared__ double s[512]; s[i] = x; atomicAdd(s + i, y); d = __double_as_longlong(s[i]);",
    ):  # fmt: skip
        yield expression(name, "64", "f64:nan", "f64:nan", rule=_ONE)
    for name in (
        "__half_as_ushort(x * y - x)", "__half_as_ushort(-(x * y))", "__half_as_ushort(__habs(x))",
        "__float_as_uint(__half2float(x))", "__half_as_ushort(__hmax(x, y))",
        "__half2 h = __hadd2(__halves2half2(x, y), __halves2half2(y, x)); d = *(unsigned *)&h;",
        "__half2 h = __halves2half2(x - y, y); h = __hmul2(h, h); d = *(unsigned *)&h;",
        "__half_as_ushort(x > y ? x : __hadd(x, y))", "__half_as_ushort(hsin(x * y))",
    ):  # fmt: skip
        yield expression(name, "32", "half:nan", "half:nan")


# ---- random programs ---------------------------------------------------------------------------

_FLOAT = [
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "fmaf({a}, {b}, {c})", "sqrtf({a})",
    "-{a}", "fabsf({a})", "fminf({a}, {b})", "fmaxf({a}, {b})", "copysignf({a}, {b})",
    "{a} < {b} ? {a} : {c}", "signbit({a}) ? {b} : {c}", "__shfl_xor_sync(~0u, {a}, 1)",
    "floorf({a})", "__int_as_float(__float_as_int({a}) ^ 0x80000000)", "(float)(double){a}",
    "__half2float(__float2half_rn({a}))", "__fmul_rz({a}, {b})", "{a} * 0.0f", "{a} - {a}",
    "(float)__float_as_int({a})", "__int_as_float(__float_as_int({a}) | 1)",
]  # fmt: skip
_DOUBLE = [
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "fma({a}, {b}, {c})", "sqrt({a})",
    "-{a}", "fabs({a})", "fmin({a}, {b})", "fmax({a}, {b})", "copysign({a}, {b})",
    "{a} < {b} ? {a} : {c}", "signbit({a}) ? {b} : {c}", "__shfl_xor_sync(~0u, {a}, 1)",
    "floor({a})", "__longlong_as_double(__double_as_longlong({a}) ^ (1ll << 63))",
    "(double)(float){a}", "{a} * 0.0", "{a} - {a}",
]  # fmt: skip
_HALF = [
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "__hfma({a}, {b}, {c})", "-{a}", "__habs({a})",
    "__hmin({a}, {b})", "__hmax({a}, {b})", "{a} < {b} ? {a} : {c}", "hfloor({a})",
    "__shfl_xor_sync(~0u, {a}, 1)", "__float2half_rn(__half2float({a}))",
    "__ushort_as_half(__half_as_ushort({a}) ^ 0x8000)", "{a} - {a}",
    "__low2half(__hmul2(__halves2half2({a}, {b}), __halves2half2({c}, {a})))",
]  # fmt: skip
_CONTROL = [
    "{t} {v} = {e};",
    "{t} {v} = {e};",
    "{t} {v} = {a}; if ({b} > {c}) {v} = {f};",
    "{t} {v} = {a}; for (int k = 0; k < (i & 3); k++) {v} = {v} * {b} + {c};",
]


def _program(name: str, c: str, operations: list[str], seen: str, out: str, spec: str) -> Form:
    """Some statements drawn by the name; the result is made of the bits of the last two values."""
    numbers = iter(bits(name, 256).tolist())
    known = ["x", "y", "z"]

    def pick(choices: list[str]) -> str:
        return choices[next(numbers) % len(choices)]

    def drawn(pattern: str) -> str:
        return pattern.format(a=pick(known[-5:]), b=pick(known[-5:]), c=pick(known[-5:]))

    lines = []
    for step in range(5 + next(numbers) % 4):
        alone = [o for o in operations if "shfl" not in o]  # what may stand under a condition
        value, other = drawn(pick(operations)), drawn(pick(alone))
        pattern = pick(_CONTROL).replace("{e}", value).replace("{f}", other)
        pattern = pattern.replace("{t}", c).replace("{v}", f"v{step}")
        lines.append(drawn(pattern))
        known.append(f"v{step}")
    last, before = (seen.format(v=v) for v in known[-1:-3:-1])
    code = f"/* {name} */ " + " ".join(lines) + f" d = {last} ^ 3 * {before};"
    return expression(code, out, *[spec] * 3, rule=_NONE if c == "double" else BITS)


def _programs() -> Iterator[Form]:
    for n in range(60):
        yield _program(f"float {n}", "float", _FLOAT, "__float_as_uint({v})", "32", "f32:nan")
    for n in range(24):
        seen = "__double_as_longlong({v})"
        yield _program(f"double {n}", "double", _DOUBLE, seen, "64", "f64:nan")
    for n in range(24):
        yield _program(f"half {n}", "__half", _HALF, "__half_as_ushort({v})", "32", "half:nan")


def _forms() -> Iterator[Form]:
    for part in (_instructions, _observations, _programs):
        yield from part()


MODULES = modules("nan", _forms(), _PREAMBLE)
