"""Random programs: seeded C++ over integers, floats, doubles and halves, all of it well defined.

Floating-point operations are the exact ones and nothing is contracted, so that every compiler has
to arrive at the same bits.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .case import Case, Kernel, Module
from .inputs import values

__all__ = ["MODULES", "program"]

_KERNELS = 120
_THREADS = 64

# arithmetic that wraps, divisions and shifts that are always defined, conversions that saturate
_PREAMBLE = r"""
#include <cuda_fp16.h>
typedef unsigned u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;
typedef float f32;
typedef double f64;
typedef __half f16;
#define WRAPPING(T, U, BITS)                                                     \
    __device__ T plus(T x, T y) { return (T)((U)x + (U)y); }                     \
    __device__ T minus(T x, T y) { return (T)((U)x - (U)y); }                    \
    __device__ T times(T x, T y) { return (T)((U)x * (U)y); }                    \
    __device__ T left(T x, T y) { return (T)((U)x << ((U)y & (BITS - 1))); }     \
    __device__ T right(T x, T y) { return x >> ((U)y & (BITS - 1)); }            \
    __device__ bool unsafe(T y) { return y == 0 || y == (T)-1; }                 \
    __device__ T over(T x, T y) { return unsafe(y) ? times(x, y) : x / y; }      \
    __device__ T modulo(T x, T y) { return unsafe(y) ? x : x % y; }              \
    __device__ __noinline__ T mixed(T x, T y) {                                  \
        return x > y ? plus(x, (T)3) ^ y : minus(y, left(x, (T)2));              \
    }
WRAPPING(u32, u32, 32)
WRAPPING(s32, u32, 32)
WRAPPING(u64, u64, 64)
WRAPPING(s64, u64, 64)
#undef WRAPPING
template <class T>
__device__ bool whole(T x) { return x > (T)-2e9 && x < (T)2e9; }
__device__ s32 to_s32(f32 x) { return whole(x) ? (s32)x : 7; }
__device__ s32 to_s32(f64 x) { return whole(x) ? (s32)x : 7; }
__device__ s32 to_s32(f16 x) { return whole(__half2float(x)) ? (s32)__half2float(x) : 7; }
__device__ u32 bits(f32 x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }
__device__ u64 bits(f64 x) { return x != x ? 0x7ff8ull << 48 : (u64)__double_as_longlong(x); }
__device__ u32 bits(f16 x) { return __hisnan(x) ? 0x7e00u : __half_as_ushort(x); }
__device__ __noinline__ u64 hashed(u64 h, u64 x) {
    return (h ^ x) * 0x9e3779b97f4a7c15ull + (h >> 29);
}
"""

_INTEGERS = ("u32", "s32", "u64", "s64")
_VARIABLES = {
    "u32": ("u0", "u1", "u2"),
    "s32": ("i0", "i1"),
    "u64": ("w0", "w1"),
    "s64": ("l0", "l1"),
    "f32": ("f0", "f1", "f2"),
    "f64": ("d0", "d1"),
    "f16": ("h0", "h1"),
}
_SUFFIX = {"u32": "u", "s32": "", "u64": "ull", "s64": "ll"}


class _Writer:
    """Writes one program; every choice comes from one seeded generator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random  # the one method that never changes
        self._loops = 0
        self._lines: list[str] = []

    def _below(self, n: int) -> int:
        return int(self._random() * n)

    def _pick(self, options):
        return options[self._below(len(options))]

    # expressions ------------------------------------------------------------

    def _expression(self, t: str, depth: int) -> str:
        if depth == 0 or self._below(6) == 0:
            return self._leaf(t)
        if self._below(7) == 0:
            yes, no = self._expression(t, depth - 1), self._expression(t, depth - 1)
            return f"({self._condition(depth - 1)} ? {yes} : {no})"
        if self._below(6) == 0:
            return self._converted(t, depth - 1)
        if t in _INTEGERS:
            return self._integer(t, depth - 1)
        return self._half(depth - 1) if t == "f16" else self._float(t, depth - 1)

    def _leaf(self, t: str) -> str:
        if self._below(4):
            return self._pick(_VARIABLES[t])
        if t in _INTEGERS:
            number = self._pick(
                (0, 1, 2, 3, 5, 7, 31, 100, 255, 65537, 2**31 - 1, self._below(2**31))
            )
            return f"{number}{_SUFFIX[t]}"
        number = self._pick(("0.5", "1.0", "3.0", "0.1", "-2.25", "1e6", "1.0e-3", "7.0"))
        return {"f32": f"{number}f", "f64": number, "f16": f"__float2half({number}f)"}[t]

    def _integer(self, t: str, depth: int) -> str:
        x, y = self._expression(t, depth), self._expression(t, depth)
        choice = self._below(12)
        if choice < 5:
            return f"{self._pick(('plus', 'minus', 'times'))}({x}, {y})"
        if choice < 7:
            return f"{self._pick(('over', 'modulo', 'left', 'right', 'mixed'))}({x}, {y})"
        if choice < 9:
            return f"({x} {self._pick(('&', '|', '^'))} {y})"
        if choice == 9:
            return f"{self._pick(('min', 'max'))}({x}, {y})"
        if choice == 10:
            return self._pick((f"(~{x})", f"minus(0{_SUFFIX[t]}, {x})", f"({t})({x} < {y})"))
        wide = "ll" if t.endswith("64") else ""
        return f"({t}){self._pick(('__popc', '__clz', '__ffs', '__brev'))}{wide}({x})"

    def _float(self, t: str, depth: int) -> str:
        f = "f" if t == "f32" else ""
        x, y = self._expression(t, depth), self._expression(t, depth)
        choice = self._below(10)
        if choice < 6:
            return f"({x} {self._pick(('+', '-', '*', '*', '/'))} {y})"
        if choice == 6:
            return f"{self._pick(('fmin', 'fmax'))}{f}({x}, {y})"
        if choice == 7:
            return f"{self._pick(('floor', 'trunc', 'rint', 'fabs', 'ceil'))}{f}({x})"
        if choice == 8:
            return f"sqrt{f}(fabs{f}({x}))"
        return f"fma{f}({x}, {y}, {self._expression(t, depth)})"

    def _half(self, depth: int) -> str:
        x, y = self._expression("f16", depth), self._expression("f16", depth)
        if self._below(4) == 0:
            return f"__hfma({x}, {y}, {self._expression('f16', depth)})"
        if self._below(5) == 0:
            return f"__hneg({x})"
        return f"{self._pick(('__hadd', '__hsub', '__hmul', '__hmin', '__hmax'))}({x}, {y})"

    def _converted(self, t: str, depth: int) -> str:
        source = self._pick([s for s in _VARIABLES if s != t])
        x = self._expression(source, depth)
        if t == "f16":
            if source == "f64":
                return f"__double2half({x})"
            return f"__float2half((f32){x})"
        if source == "f16":
            return f"({t})to_s32({x})" if t in _INTEGERS else f"({t})__half2float({x})"
        if t in _INTEGERS and source[0] == "f":
            return f"({t})to_s32({x})"
        narrow = (
            self._pick(("", "(short)", "(unsigned char)", "(signed char)"))
            if source[0] in "us"
            else ""
        )
        return f"({t}){narrow}{x}"

    def _condition(self, depth: int) -> str:
        t = self._pick(tuple(_VARIABLES))
        x, y = self._pick(_VARIABLES[t]), self._expression(t, depth)
        if x == y:
            y = self._converted(t, 0)
        if t == "f16":
            test = f"{self._pick(('__hlt', '__hge', '__heq', '__hneu'))}({x}, {y})"
        else:
            test = f"({x} {self._pick(('<', '<=', '>', '>=', '==', '!='))} {y})"
        if depth and self._below(4) == 0:
            return f"({test} {self._pick(('&&', '||'))} {self._condition(depth - 1)})"
        return test

    # statements -------------------------------------------------------------

    def _put(self, indent: int, text: str) -> None:
        self._lines.append("    " * indent + text)

    def _assign(self, indent: int) -> None:
        t = self._pick(tuple(_VARIABLES))
        self._put(
            indent, f"{self._pick(_VARIABLES[t])} = {self._expression(t, 1 + self._below(2))};"
        )

    def _block(self, indent: int, count: int, loop: bool = False) -> None:
        for _ in range(count):
            self._statement(indent, loop)

    def _statement(self, indent: int, loop: bool) -> None:
        nested: tuple[Callable[[int, bool], None], ...] = (
            self._if,
            self._for,
            self._while,
            self._switch,
        )
        choice = self._below(10)
        if choice < 3 and indent < 3 + self._below(2):
            self._pick(nested)(indent, loop)
        elif choice == 3 and indent == 1:
            self._exchange(indent)
        elif choice == 4:
            self._array(indent)
        elif choice == 5 and loop:
            self._put(
                indent,
                f"if {_parenthesised(self._condition(1))} {self._pick(('break', 'continue'))};",
            )
        else:
            self._assign(indent)

    def _if(self, indent: int, loop: bool) -> None:
        self._put(indent, f"if {_parenthesised(self._condition(2))} {{")
        self._block(indent + 1, 1 + self._below(3), loop)
        if self._below(2):
            self._put(indent, "} else {")
            self._block(indent + 1, 1 + self._below(2), loop)
        self._put(indent, "}")

    def _for(self, indent: int, loop: bool) -> None:
        k, self._loops = f"k{self._loops}", self._loops + 1
        bound = self._pick(_VARIABLES["u32"] + _VARIABLES["s32"])
        self._put(indent, "#pragma unroll 1")
        self._put(indent, f"for (u32 {k} = 0; {k} < ((u32){bound} & 7u); {k}++) {{")
        self._put(indent + 1, f"u2 = plus(u2, {k});")
        self._block(indent + 1, 1 + self._below(3), True)
        self._put(indent, "}")

    def _while(self, indent: int, loop: bool) -> None:
        k, self._loops = f"k{self._loops}", self._loops + 1
        self._put(indent, f"u32 {k} = 0;")
        self._put(indent, "#pragma unroll 1")
        self._put(indent, f"while ({k}++ < 6u && {self._condition(1)}) {{")
        self._block(indent + 1, 1 + self._below(2), True)
        self._put(indent, "}")

    def _switch(self, indent: int, loop: bool) -> None:
        self._put(indent, f"switch ({self._pick(_VARIABLES['u32'])} % 5u) {{")
        for label in ("case 0", "case 1", "case 3", "default"):
            self._put(indent, f"{label}: {{")
            self._block(indent + 1, 1)
            self._put(indent, "}" if self._below(3) == 0 else "} break;")
        self._put(indent, "}")

    def _array(self, indent: int) -> None:
        index = f"{self._pick(_VARIABLES['u32'])} & 7u"
        if self._below(2):
            self._put(indent, f"v[{index}] = {self._expression('u32', 2)};")
        else:
            self._put(indent, f"{self._pick(_VARIABLES['u32'])} ^= v[{index}];")

    def _exchange(self, indent: int) -> None:
        """Between threads: only where all of them are."""
        t = self._pick(("u32", "s32", "f32", "u64", "f64"))
        x = self._pick(_VARIABLES[t])
        if self._below(2):
            kind = self._pick(("xor", "up", "down"))
            self._put(indent, f"{x} = __shfl_{kind}_sync(~0u, {x}, {1 + self._below(31)});")
        else:
            u = self._pick(_VARIABLES["u32"])
            other = f"(i + {1 + self._below(63)}) % {_THREADS}u"
            self._put(indent, f"s[i] = {u}; __syncthreads(); {u} ^= s[{other}]; __syncthreads();")

    def program(self, entry: str) -> str:
        names = {t: ", ".join(v) for t, v in _VARIABLES.items()}
        self._put(0, f'extern "C" __global__ void {entry}(u64 *out, const u32 *a, const u64 *b,')
        self._put(2, "const f32 *c, const f64 *d, const f16 *e) {")
        self._put(1, f"__shared__ u32 s[{_THREADS}];")
        self._put(1, "u32 i = threadIdx.x, v[8] = {i, 1, a[i], 3, 4, i * i, 6, 7};")
        self._put(
            1, "u32 u0 = a[i], u1 = a[i + 64], u2 = i; s32 i0 = (s32)a[i + 128], i1 = -(s32)i;"
        )
        self._put(1, "u64 w0 = b[i], w1 = b[i + 64]; s64 l0 = (s64)b[i + 128], l1 = (s64)i - 32;")
        self._put(1, "f32 f0 = c[i], f1 = c[i + 64], f2 = (f32)i; f64 d0 = d[i], d1 = d[i + 64];")
        self._put(1, "f16 h0 = e[i], h1 = e[i + 64];")
        self._block(1, 5 + self._below(10))
        self._put(1, "u64 x = 1, y = 2;")
        integers = ", ".join(names[t] for t in _INTEGERS).split(", ")
        for name in integers:
            self._put(1, f"x = hashed(x, (u64){name});")
        self._put(0, "#pragma unroll 1")
        self._put(1, "for (u32 k = 0; k < 8; k++) x = hashed(x, v[k]);")
        for name in ", ".join(names[t] for t in ("f32", "f64", "f16")).split(", "):
            self._put(1, f"y = hashed(y, bits({name}));")
        self._put(1, f"out[i] = x; out[i + {_THREADS}] = y;")
        self._put(0, "}\n")
        return "\n".join(self._lines)


def _parenthesised(text: str) -> str:
    return text if text.startswith("(") else f"({text})"


_INPUTS = tuple(
    values(spec, n, 3, 256)
    for n, spec in enumerate(("32", "64", "f32:plain", "f64:plain", "f16:plain"))
)


def _kernel(seed: int) -> Kernel:
    entry = f"program_{seed}"
    cases = (Case(f"programs/{seed:03}", "u8", 2 * _THREADS),)
    source = _Writer(seed).program(entry)
    return Kernel(entry, source, _INPUTS, cases, block=(_THREADS, 1, 1))


def program(seed: int) -> Module:
    """A module of one of them: of the first _KERNELS seeds answers are recorded."""
    return Module(f"program {seed}", (_kernel(seed),), _PREAMBLE)


MODULES = [Module("programs", tuple(map(_kernel, range(_KERNELS))), _PREAMBLE)]
