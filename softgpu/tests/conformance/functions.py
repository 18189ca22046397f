"""CUDA's own functions: mathematics, conversions, integer, packed-word and half intrinsics."""

from __future__ import annotations

from collections.abc import Iterator

from .forms import Form, expression, modules, spell
from .rules import Rule, documented, exact

__all__ = ["MODULES"]

_HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"

# largest documented error in ulp (CUDA C++ Programming Guide, "Mathematical Functions")
_FLOAT = {
    "rsqrtf": 2, "cbrtf": 1, "rcbrtf": 1, "expf": 2, "exp2f": 2, "exp10f": 2, "expm1f": 1,
    "logf": 1, "log2f": 1, "log10f": 2, "log1pf": 1, "sinf": 2, "cosf": 2, "tanf": 4,
    "sinpif": 2, "cospif": 2, "asinf": 4, "acosf": 3, "atanf": 2, "sinhf": 3, "coshf": 2,
    "tanhf": 2, "asinhf": 3, "acoshf": 4, "atanhf": 3, "erff": 2, "erfcf": 4, "erfinvf": 2,
    "erfcinvf": 4, "erfcxf": 4, "normcdff": 5, "normcdfinvf": 5, "tgammaf": 11, "lgammaf": 6,
}  # fmt: skip
_DOUBLE = {
    "rsqrt": 1, "cbrt": 1, "rcbrt": 1, "exp": 1, "exp2": 1, "exp10": 1, "expm1": 1, "log": 1,
    "log2": 1, "log10": 1, "log1p": 1, "sin": 2, "cos": 2, "tan": 2, "sinpi": 2, "cospi": 2,
    "asin": 2, "acos": 2, "atan": 2, "sinh": 2, "cosh": 1, "tanh": 1, "asinh": 3, "acosh": 3,
    "atanh": 2, "erf": 2, "erfc": 5, "erfinv": 5, "erfcinv": 6, "normcdf": 5, "tgamma": 10,
    "lgamma": 4,
}  # fmt: skip
_FLOAT_2 = {"atan2f": 3, "hypotf": 3, "rhypotf": 2, "powf": 9}
_DOUBLE_2 = {"atan2": 2, "hypot": 2, "rhypot": 1, "pow": 2}
_EXACT_1 = "sqrt fabs ceil floor trunc rint nearbyint round logb"
_EXACT_2 = "fmod remainder fdim fmin fmax copysign nextafter"
# where the argument has to be of moderate size for the error bound to be meant
_RANGED = {"lgammaf": "ten", "tgammaf": "ten", "lgamma": "ten", "tgamma": "ten", "erfinvf": "unit",
           "erfinv": "unit", "asinf": "unit", "acosf": "unit", "asin": "unit", "acos": "unit",
           "atanh": "unit", "atanhf": "unit"}  # fmt: skip
_MODES = "rn rz rd ru"


def _mathematics() -> Iterator[Form]:
    for t, one, two, suffix in (
        ("f32", _FLOAT, _FLOAT_2, "f"),
        ("f64", _DOUBLE, _DOUBLE_2, ""),
    ):
        for name, ulp in one.items():
            meaning = _RANGED.get(name)
            operand = f"{t}:{meaning}" if meaning else t
            yield expression(f"{name}(x)", t, operand, rule=_gamma(name, t, ulp))
        for name, ulp in two.items():
            yield expression(f"{name}(x, y)", t, t, t, rule=documented(t, ulp=ulp))
        for name in _EXACT_1.split():
            yield expression(f"{name}{suffix}(x)", t, t, rule=exact(t))
        for name in _EXACT_2.split():
            yield expression(f"{name}{suffix}(x, y)", t, t, t, rule=exact(t))
        yield expression(f"fma{suffix}(x, y, z)", t, t, t, t, rule=exact(t))
        yield expression("x / y", t, t, t, rule=exact(t))
        yield expression("1 / x", t, t, rule=exact(t))
        yield expression(f"norm3d{suffix}(x, y, z)", t, t, t, t, rule=documented(t, ulp=3))
        yield expression(f"ldexp{suffix}(x, (int)(y % 600u) - 300)", t, t, "32", rule=exact(t))
        yield expression(f"scalbn{suffix}(x, (int)(y % 600u) - 300)", t, t, "32", rule=exact(t))
        c = "float" if t == "f32" else "double"
        for part in ("fraction", "whole"):
            code = f"{c} fraction, whole; fraction = modf{suffix}(x, &whole); d = {part};"
            yield expression(code, t, t, rule=exact(t))
        code = f"int e; {c} m = frexp{suffix}(x, &e);"
        yield expression(f"{code} d = m;", t, t, rule=exact(t))
        yield expression(f"{code} d = isfinite(x) ? e : 0;", "s32", t)
        code = f"int q; {c} r = remquo{suffix}(x, y, &q);"
        yield expression(f"{code} d = r;", t, t, t, rule=exact(t))
        yield expression(f"{code} d = isfinite(r) ? q & 7 : 0;", "s32", t, t)
        code = f"{c} s, c; sincos{suffix}(x, &s, &c);"
        yield expression(f"{code} d = s;", t, t, rule=documented(t, ulp=2))
        yield expression(f"{code} d = c;", t, t, rule=documented(t, ulp=2))
        for name in ("isnan", "isinf", "isfinite", "signbit"):
            yield expression(f"{name}(x) != 0", "pred", t)
        yield expression(f"ilogb{suffix}(x)", "s32", t)
    for name, rule in {
        "__fdividef(x, y)": documented("f32", ulp=2, absolute=2**-126),
        "__powf(fabsf(x), 1.5f)": documented("f32", relative=2**-15, absolute=2**-126),
    }.items():
        yield expression(name, "f32", "f32", "f32", rule=rule)
    for name, operand, rule in (
        ("__expf(x)", "f32:ten", documented("f32", ulp=2 + 11)),
        ("__exp10f(x)", "f32:ten", documented("f32", ulp=2 + 29)),
        ("__logf(x)", "f32", documented("f32", ulp=3, absolute=2**-21.41)),
        ("__log2f(x)", "f32", documented("f32", ulp=2, absolute=2**-22)),
        ("__log10f(x)", "f32", documented("f32", ulp=3, absolute=2**-24)),
        ("__sinf(x)", "f32:unit", documented("f32", absolute=2**-21.41)),
        ("__cosf(x)", "f32:unit", documented("f32", absolute=2**-21.19)),
        ("__tanf(x)", "f32:unit", documented("f32", absolute=2**-19)),
    ):
        yield expression(name, "f32", operand, rule=rule)
    yield expression("__saturatef(x)", "f32", "f32", rule=exact("f32"))


def _eps(t: str) -> float:
    return 2.0**-23 if t == "f32" else 2.0**-52


def _gamma(name: str, t: str, ulp: int) -> Rule:
    """lgamma passes through zero between -10 and -2, where its bound is an absolute one."""
    return documented(t, ulp=ulp, absolute=16 * _eps(t) if name.startswith("lgamma") else 0.0)


def _rounded() -> Iterator[Form]:
    f, d = exact("f32"), exact("f64")
    for m in _MODES.split():
        for op in ("add", "sub", "mul", "div"):
            yield expression(f"__f{op}_{m}(x, y)", "f32", "f32", "f32", rule=f)
            yield expression(f"__d{op}_{m}(x, y)", "f64", "f64", "f64", rule=d)
        yield expression(f"__fmaf_{m}(x, y, z)", "f32", "f32", "f32", "f32", rule=f)
        yield expression(f"__fma_{m}(x, y, z)", "f64", "f64", "f64", "f64", rule=d)
        for op in ("sqrt", "rcp"):
            yield expression(f"__f{op}_{m}(x)", "f32", "f32", rule=f)
            yield expression(f"__d{op}_{m}(x)", "f64", "f64", rule=d)
        yield expression(f"__double2float_{m}(x)", "f32", "f64", rule=f)
        for name, out in {"int": "s32", "uint": "32", "ll": "s64", "ull": "64"}.items():
            yield expression(f"__float2{name}_{m}(x)", out, "f32:to_int")
            yield expression(f"__double2{name}_{m}(x)", out, "f64:to_int")
            yield expression(f"__half2{name}_{m}(x)", out, "half:to_int")
            yield expression(f"__{name}2float_{m}(x)", "f32", out)
            yield expression(f"__{name}2half_{m}(x)", "half", out)
            if name in ("ll", "ull"):
                yield expression(f"__{name}2double_{m}(x)", "f64", out)
        yield expression(f"__float2half_{m}(x)", "half", "f32", rule=exact("f16"))
        yield expression(f"__float2bfloat16_{m}(x)", "bfloat16", "f32", rule=exact("bf16"))
        yield expression(f"__bfloat162int_{m}(x)", "s32", "bfloat16:to_int")
        yield expression(f"__int2bfloat16_{m}(x)", "bfloat16", "s32", rule=exact("bf16"))
    yield expression("__double2half(x)", "half", "f64", rule=exact("f16"))
    yield expression("__double2bfloat16(x)", "bfloat16", "f64", rule=exact("bf16"))
    yield expression("__frsqrt_rn(x)", "f32", "f32", rule=f)
    yield expression("__int2double_rn(x)", "f64", "s32")
    yield expression("__uint2double_rn(x)", "f64", "32")
    yield expression("__double2hiint(x)", "s32", "f64")
    yield expression("__double2loint(x)", "s32", "f64")
    yield expression("__hiloint2double(x, y)", "f64", "s32", "s32", rule=d)
    yield expression("__float_as_int(x)", "s32", "f32")
    yield expression("__int_as_float(x)", "f32", "s32", rule=f)
    yield expression("__double_as_longlong(x)", "s64", "f64")
    yield expression("lrintf(x)", "s64", "f32:ten")
    yield expression("llround(x)", "s64", "f64:ten")


def _integers() -> Iterator[Form]:
    for name, types in {
        "__mulhi": "s32 s32 s32", "__umulhi": "32 32 32", "__mul64hi": "s64 s64 s64",
        "__umul64hi": "64 64 64", "__mul24": "s32 s32 s32", "__umul24": "32 32 32",
        "__hadd": "s32 s32 s32", "__rhadd": "s32 s32 s32", "__uhadd": "32 32 32",
        "__urhadd": "32 32 32", "min": "s32 s32 s32", "max": "64 64 64", "__sad": "32 s32 s32 32",
        "__usad": "32 32 32 32", "__byte_perm": "32 32 32 32", "__dp4a": "s32 s32 s32 s32",
        "__dp2a_lo": "s32 s32 s32 s32", "__dp2a_hi": "32 32 32 32",
        "__funnelshift_l": "32 32 32 32",
        "__funnelshift_lc": "32 32 32 32", "__funnelshift_r": "32 32 32 32",
        "__funnelshift_rc": "32 32 32 32", "__brev": "32 32", "__brevll": "64 64",
        "__clz": "s32 s32", "__clzll": "s32 s64", "__popc": "s32 32", "__popcll": "s32 64",
        "__ffs": "s32 s32", "__ffsll": "s32 s64", "abs": "s32 s32", "llabs": "s64 s64",
        "__viaddmax_s32": "s32 s32 s32 s32", "__viaddmin_u32": "32 32 32 32",
        "__viaddmax_s16x2": "32 32 32 32", "__vimax3_s32": "s32 s32 s32 s32",
        "__vimin3_u32": "32 32 32 32", "__vimax_s32_relu": "s32 s32 s32",
        "__vimax3_s16x2": "32 32 32 32", "__vimin_s16x2_relu": "32 32 32",
        "__viaddmin_s32_relu": "s32 s32 s32 s32",
    }.items():  # fmt: skip
        out, *ins = types.split()
        yield expression(f"{name}({', '.join('xyz'[: len(ins)])})", out, *ins)
    for n in (2, 4):
        for name in spell("__v{op}{n}(x)", n=str(n), op="abs absss neg negss"):
            yield expression(name, "32", "32")
        for name in spell("__v{op}{n}(x, y)", n=str(n), op=(
            "absdiffs absdiffu add addss addus avgs avgu cmpeq cmpges cmpgeu cmpgts cmpgtu cmples"
            " cmpleu cmplts cmpltu cmpne haddu maxs maxu mins minu sads sadu seteq setges setgeu"
            " setgts setgtu setles setleu setlts setltu setne sub subss subus")):  # fmt: skip
            yield expression(name, "32", "32", "32")
    for t in ("s32", "32", "s64", "64"):  # operators, division guarded as C++ asks for
        for op in "+ - * & | ^".split():
            yield expression(f"(x {op} y)", t, t, t)
        for op in ("/", "%"):
            guard = "y == 0 || y == -1 ? x : " if t[0] == "s" else "y == 0 ? x : "
            yield expression(f"({guard}x {op} y)", t, t, t)
        mask = 31 if t.endswith("32") else 63
        if t[0] != "s":
            yield expression(f"(x << (y & {mask}))", t, t, "32")
        yield expression(f"(x >> (y & {mask}))", t, t, "32")
    yield expression("(int)(signed char)x + (int)(short)y", "s32", "s32", "s32")
    yield expression("(unsigned char)x * (unsigned short)y", "s32", "s32", "s32")


def _halves() -> Iterator[Form]:
    for t, pair, kind in (("half", "half2", "f16"), ("bfloat16", "bfloat162", "bf16")):
        rule = exact(kind)
        near = Rule(kind, ulp=1)  # rounded from a float that is itself an approximation
        for name in "__hneg __habs hceil hfloor htrunc hrint".split():
            yield expression(f"{name}(x)", t, t, rule=rule)
        for name in "__hneg2 __habs2 h2ceil h2floor h2trunc h2rint".split():
            yield expression(f"{name}(x)", pair, pair, rule=rule)
        ops = "add sub mul min max min_nan max_nan add_rn mul_rn add_sat mul_sat"
        for op in ops.split():
            yield expression(f"__h{op}(x, y)", t, t, t, rule=rule)
            name = op.replace("_", "2_", 1) if "_" in op else f"{op}2"
            yield expression(f"__h{name}(x, y)", pair, pair, pair, rule=rule)
        yield expression("__hdiv(x, y)", t, t, t, rule=near)
        yield expression("__hfma(x, y, z)", t, t, t, t, rule=rule)
        yield expression("__hfma_relu(x, y, z)", t, t, t, t, rule=rule)
        yield expression("__hfma2(x, y, z)", pair, pair, pair, pair, rule=rule)
        for name in "hsqrt hrcp hrsqrt hexp hexp2 hexp10 hlog hlog2 hlog10 htanh".split():
            yield expression(f"{name}(x)", t, t, rule=near)
        for name in ("h2exp", "h2log", "h2sqrt"):
            yield expression(f"{name}(x)", pair, pair, rule=near)
        for name in ("hsin", "hcos"):
            yield expression(f"{name}(x)", t, f"{t}:angle", rule=Rule(kind, ulp=1, absolute=2e-7))
        for c in "eq ne lt le gt ge equ neu ltu leu gtu geu".split():
            yield expression(f"__h{c}(x, y)", "pred", t, t)
            yield expression(f"__h{c}2(x, y)", pair, pair, pair, rule=rule)
        yield expression("__hbeq2(x, y)", "pred", pair, pair)
        yield expression("__hbltu2(x, y)", "pred", pair, pair)
        yield expression("__hisnan(x)", "pred", t)
        yield expression("__hisnan2(x)", pair, pair, rule=rule)
        for op in "+ - *".split():
            yield expression(f"x {op} y", t, t, t, rule=rule)
            yield expression(f"x {op} y", pair, pair, pair, rule=rule)
        yield expression(f"__{t}2float(x)", "f32", t, rule=exact("f32"))
        yield expression(f"__low2{t}(x)", t, pair)
        yield expression(f"__high2{t}(x)", t, pair)
        yield expression("__lows2" + ("half2" if t == "half" else "bfloat162") + "(x, y)",
                         pair, pair, pair)  # fmt: skip
        yield expression("__highs2" + ("half2" if t == "half" else "bfloat162") + "(x, y)",
                         pair, pair, pair)  # fmt: skip
        yield expression("__lowhigh2highlow(x)", pair, pair)
        yield expression(f"__halves2{pair}(x, y)", pair, t, t)
        yield expression(f"__floats2{pair}_rn(x, y)", pair, "f32", "f32", rule=rule)
        yield expression(f"__float22{pair}_rn(make_float2(x, y))", pair, "f32", "f32", rule=rule)
        yield expression("__low2float(x) - __high2float(x)", "f32", pair, rule=exact("f32"))
    yield expression("__half_as_short(x)", "16", "half")
    yield expression("__float2bfloat16(__half2float(x))", "bfloat16", "half", rule=exact("bf16"))


MODULES = [
    *modules("math", _mathematics()),
    *modules("rounded", _rounded(), _HEADERS),
    *modules("intrinsics", _integers()),
    *modules("half functions", _halves(), _HEADERS),
]
