"""Where NaN is put right: where it is looked at, and at once only where that would be too late."""

import pytest

from softgpu.jit.analysis.flow import blocks_in_order, live_registers
from softgpu.jit.analysis.nans import plan_nans

from .text import kernel

REGISTERS = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;"
MADE = "add.f32 %f1, %f2, %f3;"
LOOP = "L: @%p1 bra M; {body} bra L; M: st.global.f32 [%rd1], %f1;"

# PTX: (instructions that read a NaN put right, instructions whose result is)
PLANS = {
    "": ([], []),
    f"{MADE} st.global.f32 [%rd1], %f1;": (["st.global.f32"], []),
    f"{MADE} {MADE} mul.f32 %f2, %f1, %f1; setp.lt.f32 %p1, %f1, %f2;": ([], []),
    "ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd1], %f1;": ([], []),
    f"{MADE} mov.b32 %r1, %f1; mov.b32 %r2, %r1; xor.b32 %r3, %r2, 1;": (["xor.b32"], []),
    f"{MADE} cvt.f32.f32 %f4, %f1; copysign.f32 %f5, %f4, %f2;": (["copysign.f32"], []),
    f"{MADE} cvt.rzi.s32.f32 %r1, %f1; cvt.rn.bf16.f32 %h1, %f1;": ([], []),
    f"{MADE} cvt.f64.f32 %rd2, %f1;": (["cvt.f64.f32"], []),
    f"{MADE} selp.f32 %f4, %f1, 0f3F800000, %p1; st.f32 [%rd1], %f4;": (["st.f32"], []),
    f"{MADE} mov.b64 %rd2, {{%f1, %f2}};": (["mov.b64"], []),
    f"ld.f32 %f5, [%rd1]; {MADE} selp.f32 %f4, %f1, %f5, %p1; st.f32 [%rd1], %f4;": (
        [],
        ["add.f32"],
    ),
    # a sum or maximum that starts as a constant is put right after its loop
    "mov.f32 %f1, 0f00000000; " + LOOP.format(body="fma.rn.f32 %f1, %f2, %f3, %f1;"): (
        ["st.global.f32"],
        [],
    ),
    "mov.f32 %f1, 0fFF800000; " + LOOP.format(body="max.f32 %f1, %f1, %f2;"): (
        ["st.global.f32"],
        [],
    ),
    # what starts as a NaN, or may have been loaded, is not known to be made any more
    "mov.f32 %f1, 0f7FC00000; " + LOOP.format(body="max.f32 %f1, %f1, %f2;"): ([], ["max.f32"]),
    "ld.global.f32 %f1, [%rd1]; " + LOOP.format(body="@%p2 add.f32 %f1, %f1, %f2;"): (
        [],
        ["add.f32"],
    ),
    f"ld.f32 %f1, [%rd1]; @%p1 {MADE} st.f32 [%rd1], %f1;": ([], ["add.f32"]),
    f"{MADE} @%p1 ld.f32 %f1, [%rd1]; add.f32 %f4, %f1, %f1;": ([], []),
    # halves, and one register as two formats
    "fma.rn.f16x2 %r1, %r2, %r3, %r4; st.b32 [%rd1], %r1;": (["st.b32"], []),
    "add.f16x2 %r1, %r2, %r3; add.f32 %r4, %r1, %r1;": (["add.f32"], []),
    "@%p1 bra L; add.f16x2 %r1, %r2, %r3; bra M; L: add.f32 %r1, %r2, %r3;M: st.b32 [%rd1], %r1;": (
        [],
        ["add.f16x2", "add.f32"],
    ),
    # two negations leave what there was
    "ld.f32 %f1, [%rd1]; neg.f32 %f2, %f1; neg.f32 %f3, %f2; st.f32 [%rd1], %f3;": ([], []),
    "ld.f32 %f1, [%rd1]; neg.f32 %f2, %f1; st.f32 [%rd1], %f2;": (["st.f32"], []),
    "L: neg.f32 %f1, %f1; @%p1 bra L; st.f32 [%rd1], %f1;": (["st.f32"], []),
    "ld.f32 %f1, [%rd1]; neg.f32 %f2, %f1; neg.f32 %f3, %f2; selp.f32 %f4, %f2, %f1, %p1;"
    "st.f32 [%rd1], %f3; st.f32 [%rd1], %f4;": (["st.f32"], ["neg.f32"]),
    # integers and doubles have nothing to put right
    "add.s32 %r1, %r2, %r3; st.b32 [%rd1], %r1; add.f64 %rd2, %rd3, %rd4; st.f64 [%rd1], %rd2;": (
        [],
        [],
    ),
}


@pytest.mark.parametrize("text", PLANS)
def test_plan(text):
    blocks = blocks_in_order(kernel(f"{text} ret;", REGISTERS))
    plan = plan_nans(blocks, live_registers(blocks))
    reads = [item.name for item, _ in plan.reads]
    assert (reads, sorted(item.name for item in plan.results)) == PLANS[text]
