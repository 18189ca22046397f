"""Sums of products, and limits, become what ptxas makes of them."""

import re

import numpy as np
import pytest

from softgpu.jit.analysis.contraction import contracted
from softgpu.ptx import parse
from softgpu.tests import autoinit

from .text import HEAD

REGISTERS = ".reg .f32 %f<40>; .reg .b16 %h<9>; .reg .pred %p; .reg .b64 %a; .reg .b32 %r;"
STORED = "st.global.f32 [%a], %f11; st.global.f32 [%a], %f12;"


def opcodes(body: str) -> list[str]:
    """What a kernel computes in floats, after contraction."""
    text = f"{HEAD}.visible .entry k() {{ {REGISTERS}\n{body}\n}}"
    items = contracted(parse(text)).functions["k"].instructions
    return [item.opcode for item in items if re.search(r"f\d\d", ".".join(item.modifiers[-1:]))
            and item.opcode not in ("st", "ld", "setp")]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "becomes"),
    [
        ("mul.f32 %f10, %f1, %f2; add.f32 %f11, %f3, %f10;", "fma"),
        ("mul.f32 %f10, %f1, %f2; sub.f32 %f11, %f3, %f10;", "neg fma"),
        ("mul.f32 %f10, %f1, %f2; neg.f32 %f9, %f10; add.f32 %f11, %f9, %f3;", "mul neg neg fma"),
        ("mul.f16 %h1, %h2, %h3; sub.f16 %h4, %h5, %h1;", "neg fma"),
        ("mul.ftz.f32 %f10, %f1, %f2; add.ftz.sat.f32 %f11, %f3, %f10;", "fma"),
        ("mul.f32 %f10, %f1, %f2; @%p add.f32 %f11, %f3, %f10;", "fma"),
        # of two products the first operand; of a shared one and one's own, one's own
        ("mul.f32 %f9, %f1, %f2; mul.f32 %f10, %f3, %f4; add.f32 %f11, %f10, %f9;", "mul fma"),
        ("mul.f32 %f9, %f1, %f2; sub.f32 %f12, %f3, %f9; mul.f32 %f10, %f4, %f5;"
         "add.f32 %f11, %f10, %f9;", "mul sub fma"),
        ("mul.f32 %f9, %f1, %f2; sub.f32 %f12, %f9, %f3; add.f32 %f11, %f9, %f4;", "neg fma fma"),
        # the product is needed, may not be rounded with the sum, or is of another block
        ("mul.f32 %f11, %f1, %f2; sub.f32 %f12, %f3, %f11;", "mul sub"),
        ("mul.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f10;", "mul add"),
        ("mul.rn.f32 %f10, %f1, %f2; add.f32 %f11, %f3, %f10;", "mul add"),
        ("mul.f32 %f10, %f1, %f2; add.rn.f32 %f11, %f3, %f10;", "mul add"),
        ("mul.ftz.f32 %f10, %f1, %f2; add.f32 %f11, %f3, %f10;", "mul add"),
        ("mul.f32 %f10, %f1, %f2; @%p bra L; add.f32 %f11, %f3, %f10; L:", "mul add"),
        ("@%p mul.f32 %f10, %f1, %f2; add.f32 %f11, %f3, %f10;", "mul add"),
        ("mul.f32 %f10, %f1, %f2; mov.f32 %f1, %f5; add.f32 %f11, %f3, %f10;", "mul mov add"),
        # limits to 0 and 1
        ("min.f32 %f10, %f1, 0f3F800000; max.f32 %f11, %f10, 0f00000000;", "min cvt"),
        ("mov.b16 %h1, 0x3C00; mov.b16 %h2, 0; min.f16 %h3, %h4, %h1; max.f16 %h5, %h3, %h2;",
         "min cvt"),
        ("max.f32 %f10, %f1, 0f00000000; min.f32 %f11, %f10, 0f3F800000;", "max min"),
        ("min.f32 %f10, %f1, 0f40000000; max.f32 %f11, %f10, 0f00000000;", "min max"),
    ],
)  # fmt: skip
def test_what_ptxas_rounds_once(body, becomes):
    first = "ld.global.f32 %f1, [%a];" + "".join(f"ld.global.f32 %f{n}, [%a];" for n in (2, 3, 4))
    assert " ".join(opcodes(f"{first} {body} {STORED}")) == becomes


SOURCE = """
#include <cuda_fp16.h>
extern "C" __global__ void rounded(float *o, __half *h, const float *x, const __half *y)
{
    int i = threadIdx.x;
    o[i] = x[i] - x[i + 64] * x[i + 128];
    o[i + 64] = x[i] * x[i + 64] - x[i + 128];
    o[i + 128] = x[i] * x[i + 64] + x[i + 128] * x[i + 192];
    o[i + 192] = fmaxf(fminf(i == 5 ? NAN : x[i], 1.0f), 0.0f);
    h[i] = y[i] * y[i + 64] - y[i + 128];
    h[i + 64] = __hmax(__hmin(i == 5 ? CUDART_NAN_FP16 : y[i], CUDART_ONE_FP16), CUDART_ZERO_FP16);
}
"""


def test_differences_of_products_are_rounded_once():
    cuda = pytest.importorskip("pycuda.driver")
    from pycuda.compiler import SourceModule

    assert autoinit.device
    rng = np.random.default_rng(3)
    x = rng.normal(size=256).astype(np.float32)
    y = rng.normal(size=192).astype(np.float16)
    got, halves = np.empty(256, np.float32), np.empty(128, np.float16)
    rounded = SourceModule(SOURCE, no_extern_c=True).get_function("rounded")
    rounded(cuda.Out(got), cuda.Out(halves), cuda.In(x), cuda.In(y), block=(64, 1, 1))
    a, b, c, d = x.astype(np.float64).reshape(4, 64)  # which hold products of floats exactly
    once = [a - b * c, a * b - c, a * b + (c * d).astype(np.float32)]
    a, b, c = y.astype(np.float64).reshape(3, 64)
    limited = np.clip(x[:64], 0, 1)
    limited[5] = 0
    assert (got[:192] == np.concatenate(once).astype(np.float32)).all()
    assert (got[192:] == limited).all()
    assert (halves[:64] == (a * b - c).astype(np.float16)).all()
    limited = np.clip(y[:64], 0, 1)
    limited[5] = 0
    assert (halves[64:] == limited).all()
