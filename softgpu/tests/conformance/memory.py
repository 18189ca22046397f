"""Loads and stores: every width, vector, space and qualifier; fences; address spaces."""

from __future__ import annotations

from collections.abc import Iterator

from .forms import Form, modules
from .inputs import bits
from .rules import BITS

__all__ = ["MODULES"]

_SCALARS = "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64".split()
_VECTORS = "v2.b8 v4.u8 v2.u16 v4.s16 v2.b32 v4.u32 v2.f32 v4.f32 v2.u64 v2.f64".split()
_TABLE = 128  # 64-bit words in an array that is read

_WORDS = ", ".join(f"{word:#x}" for word in bits("memory table", _TABLE))
_PREAMBLE = f"""
typedef unsigned long long Word;
__constant__ Word in_constant[{_TABLE}] = {{{_WORDS}}};
__device__ Word in_global[{_TABLE}] = {{{_WORDS}}};
__device__ Word scratch[2 * 128];
"""

# how to get at an array of the space: a declaration, and the address as an operand
_SPACES = {
    ".global": ("", '"l"((const char *)in_global + {o})'),
    "": ("", '"l"((const char *)x_in + {o})'),
    ".const": ("", '"l"(__cvta_generic_to_constant((const char *)in_constant + {o}))'),
    ".shared": (
        "__shared__ Word s[128]; s[i] = x; __syncthreads();",
        '"r"((unsigned)__cvta_generic_to_shared((const char *)s + {o}))',
    ),
    ".local": (
        "Word s[16]; for (int k = 0; k < 16; k++) s[k] = x_in[(i + k * k) % 128];",
        '"l"(__cvta_generic_to_local((const char *)s + {o} % 128))',
    ),
}


def _parts(t: str) -> tuple[int, int, str]:
    """Of a type like v2.f32: elements, bytes of one, kind of register."""
    vector, _, scalar = t.rpartition(".")
    size = int(scalar[1:]) // 8
    register = {"f32": "float", "f64": "double"}.get(scalar, "Word" if size == 8 else "unsigned")
    return int(vector[1:] or 1) if vector else 1, size, register


_MARK = {"float": "f", "double": "d", "Word": "l", "unsigned": "r"}
_BITS = {"float": "__float_as_uint(%s)", "double": "__double_as_longlong(%s)"}


def _operands(count: int, first: int) -> str:
    names = ", ".join(f"%{n}" for n in range(first, first + count))
    return names if count == 1 else f"{{{names}}}"


def _load(space: str, t: str, qualifier: str = "", offset: int = 0) -> Form:
    count, size, c = _parts(t)
    setup, address = _SPACES[space]
    # multiples of the access' size in a scrambled order, 64 bytes off the ends of the array
    unit = size * count
    at = f"(64 + i * {5 * unit} % {8 * _TABLE - 128} / {unit} * {unit})"
    outs = ", ".join(f'"={_MARK[c]}"(v[{n}])' for n in range(count))
    shown = f"[%{count}+{offset}]" if offset else f"[%{count}]"
    name = f"ld{qualifier}{space}.{t}" + (f" {offset:+d}" if offset else "")
    asm = f"ld{_order(qualifier, space)}.{t} {_operands(count, 0)}, {shown};"
    total = " + ".join(f"{2 * n + 1}ull * (Word)" + _BITS.get(c, "%s") % f"v[{n}]"
                       for n in range(count))  # fmt: skip
    code = f'{setup} {c} v[4]; asm volatile("{asm}" : {outs} : {address.format(o=at)});'
    return Form(name, f"{code} d = {total};", "64", ("64",), BITS, assembly=False)


def _order(qualifier: str, space: str) -> str:
    """PTX puts ordering qualifiers before the space, cache operators after it."""
    first = qualifier.split(".")[1:2]
    before = first and first[0] in ("volatile", "relaxed", "acquire", "release", "weak")
    return qualifier + space if before else space + qualifier


def _store(space: str, t: str, qualifier: str = "") -> Form:
    count, size, c = _parts(t)
    where = {
        ".global": ("", "scratch + 2 * i", '"l"(p)'),
        "": ("", "scratch + 2 * i", '"l"(p)'),
        ".shared": ("__shared__ Word s[256];", "s + 2 * i",
                    '"r"((unsigned)__cvta_generic_to_shared(p))'),
        ".local": ("Word s[2];", "s", '"l"(__cvta_generic_to_local(p))'),
    }  # fmt: skip
    setup, pointer, address = where[space]
    sources = []
    for n in range(count):
        word = f"x_in[(i + {n}) % 128]"
        value = {"float": f"__uint_as_float((unsigned){word})",
                 "double": f"__longlong_as_double({word})"}.get(c, f"({c}){word}")  # fmt: skip
        sources.append(f'"{_MARK[c]}"({value})')
    asm = f"st{_order(qualifier, space)}.{t} [%0], {_operands(count, 1)};"
    code = (
        f"{setup} volatile Word *p_ = {pointer}; p_[0] = 0; p_[1] = 0; Word *p = (Word *)p_;"
        f' asm volatile("{asm}" :: {address}, {", ".join(sources)} : "memory");'
        f" d = p_[0] + 3 * p_[1];"
    )
    return Form(f"st{qualifier}{space}.{t}", code, "64", ("64",), BITS, assembly=False)


def _forms() -> Iterator[Form]:
    for space in _SPACES:
        for t in [*_SCALARS, *_VECTORS]:
            yield _load(space, t)
    for space in ("", ".global", ".shared", ".local"):
        for t in "b8 u16 b32 f32 s64 f64".split() + _VECTORS:
            yield _store(space, t)
    for offset in (8, -16, 24):
        for space in (".global", ".shared", ".const"):
            yield _load(space, "u32", offset=offset)
    for q in (".ca .cg .cs .lu .cv .nc .volatile .weak .relaxed.cta .relaxed.gpu .relaxed.sys"
              " .acquire.cta .acquire.gpu .acquire.sys .nc.L1::no_allocate .nc.L1::evict_last"
              " .L1::evict_first .L2::128B .nc.L2::256B").split():  # fmt: skip
        for t in ("b8", "b32", "v2.b64"):
            if t != "v2.b64" or not q.startswith((".relaxed", ".acquire")):
                yield _load(".global", t, q)
    for q in (".wb .cg .cs .wt .volatile .weak .relaxed.cta .relaxed.gpu .release.gpu"
              " .release.sys .L1::no_allocate").split():  # fmt: skip
        yield _store(".global", "b32", q)
        yield _store(".global", "b64", q)
    for q in (".volatile", ".relaxed.cta", ".acquire.cta"):
        yield _load(".shared", "b32", q)
    for q in (".volatile", ".relaxed.cta", ".release.cta"):
        yield _store(".shared", "b32", q)
    for fence in ("membar.cta membar.gl membar.sys fence.acq_rel.cta fence.acq_rel.gpu fence.sc.sys"
                  " fence.acq_rel.sys fence.sc.cta fence.sc.gpu").split():  # fmt: skip
        code = f'scratch[2 * i] = x; asm volatile("{fence};" ::: "memory"); d = scratch[2 * i];'
        yield Form(fence, code, "64", ("64",), BITS, assembly=False)
    for hint in ("prefetch.global.L1", "prefetch.global.L2", "prefetch.L1", "prefetchu.L1"):
        code = f'asm volatile("{hint} [%0];" :: "l"(x_in + i)); d = x_in[i];'
        yield Form(hint, code, "64", ("64",), BITS, assembly=False)
    for space in ("global", "shared", "local", "const"):
        code = (
            f"__shared__ Word s[1]; Word v[1] = {{x}};"
            f" const void *p = i % 4 == 0 ? (const void *)x_in"
            f" : i % 4 == 1 ? (const void *)s : i % 4 == 2 ? (const void *)v"
            f" : (const void *)in_constant; unsigned r;"
            f' asm volatile("{{ .reg .pred p; isspacep.{space} p, %1; selp.u32 %0, 1, 0, p; }}"'
            f' : "=r"(r) : "l"(p)); d = r;'
        )
        yield Form(f"isspacep.{space}", code, "pred", ("64",), BITS, assembly=False)
    for function in ("__isShared", "__isGlobal", "__isLocal", "__isConstant"):
        code = f"__shared__ Word s[128]; s[i] = x; d = {function}(s + i) + 2 * {function}(x_in);"
        yield Form(function, code, "pred", ("64",), BITS, assembly=False)


MODULES = modules("memory", _forms(), _PREAMBLE)
