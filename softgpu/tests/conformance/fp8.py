"""The 8-bit formats e4m3 and e5m2, in pairs: of float, of every half, and every code back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .case import Case, Kernel, Module
from .forms import Form, expression, form, modules, spell

__all__ = ["MODULES"]

_HALVES = np.arange(65536, dtype=np.uint16).view(np.uint32)
_CODES = np.arange(65536, dtype=np.uint16)


def _forms() -> Iterator[Form]:
    formats = {"s": "- .relu", "d": "e4m3x2 e5m2x2"}
    for name in spell("cvt.rn.satfinite{s}.{d}.f32", **formats):
        yield form(name, "16", "f32", "f32")
        yield form(name, "16", "f32:nan", "f32:ten", note="nan")
    for name in spell("cvt.rn.satfinite{s}.{d}.f16x2", **formats):
        yield form(name, "16", "f16x2:nan")
    for fp8 in ("__NV_E4M3", "__NV_E5M2"):
        for saturate in ("__NV_SATFINITE", "__NV_NOSAT"):
            for kind in ("float", "double", "halfraw"):
                value = "(__half_raw)x" if kind == "halfraw" else "x"
                spec = {"float": "f32", "double": "f64", "halfraw": "half"}[kind]
                yield expression(f"__nv_cvt_{kind}_to_fp8({value}, {saturate}, {fp8})", "8", spec)
        code = f"__half_raw h = __nv_cvt_fp8_to_halfraw(x, {fp8}); d = h.x;"
        yield expression(code, "16", "8")
    both = "float(__nv_fp8_e4m3(x)) + float(__nv_fp8_e5m2(y))"
    yield expression(both, "f32", "f32:ten", "f32:ten")


def _all(name: str, into: str, words: np.ndarray) -> Kernel:
    """A conversion of every word."""
    mark, c = ("h", "unsigned short") if into == "u2" else ("r", "unsigned")
    given, source = ("r", "unsigned") if into == "u2" else ("h", "unsigned short")
    entry = name.replace(".", "_")
    text = (
        f'extern "C" __global__ void {entry}({c} *out, const {source} *x) {{\n'
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  {c} d;\n"
        f'  asm("{name} %0, %1;" : "={mark}"(d) : "{given}"(x[i]));\n  out[i] = d;\n}}\n'
    )
    case = Case(f"fp8/{name} all", into, words.size)
    return Kernel(entry, text, (words,), (case,), grid=(words.size // 256, 1, 1))


_EXHAUSTIVE = [
    *(
        _all(name, "u2", _HALVES)
        for name in spell("cvt.rn.satfinite{s}.{d}.f16x2", s="- .relu", d="e4m3x2 e5m2x2")
    ),
    *(
        _all(name, "u4", _CODES)
        for name in spell("cvt.rn{s}.f16x2.{d}", s="- .relu", d="e4m3x2 e5m2x2")
    ),
]

MODULES = [
    *modules("fp8", _forms(), "#include <cuda_fp8.h>\n"),
    Module("fp8 exhaustive", tuple(_EXHAUSTIVE)),
]
