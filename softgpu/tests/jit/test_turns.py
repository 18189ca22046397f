"""How often loops may iterate, as far as is known: whatever they compare with, of any type."""

import pytest

from softgpu.contract import ffi
from softgpu.kernel_facts import facts_of
from softgpu.loaded import LoadedModule

from .text import HEAD

REGISTERS = {
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), "b16"),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2"), "b32"),
    **dict.fromkeys(("b64", "u64", "s64", "f64"), "b64"),
}


def loop(type_, limit):
    """(loops in each other, the largest constant) of a loop, as the driver gets it."""
    order = "lt" if "f" in type_ else "ne"
    second = "|%p2" if "x2" in type_ else ""
    text = f"""{HEAD}
.visible .entry k()
{{
.reg .pred %p<3>; .reg .{REGISTERS[type_]} %v;
again:
setp.{order}.{type_} %p1{second}, %v, {limit};
@%p1 bra again;
ret;
}}
"""
    module = LoadedModule(text)
    facts = facts_of(module.program.functions["k"], module.code("k", "plain"))
    told = ffi.new("KernelFacts *", facts)
    return told.loop_depth, told.loop_constant


@pytest.mark.parametrize(
    ("type_", "limit", "most"),
    [
        ("s32", "100", 100),
        ("s32", "-100", 100),
        ("u32", "4294967295", 1),  # which is -1
        ("u32", "0x80000000", 1 << 31),
        ("s64", "4294967296", 1 << 32),
        ("s64", "5000000000", 5_000_000_000),
        ("s64", "-5000000000", 5_000_000_000),
        ("u64", "9223372036854775807", (1 << 63) - 1),
        ("b64", "0x8000000000000000", 1 << 63),
        ("u64", "18446744073709551615", 1),
        ("u16", "65000", 536),
        ("b16", "1000", 1000),
        ("s16", "WARP_SZ", 32),
        ("f32", "0f7F7FFFFF", 0),
        ("f64", "1e300", 0),
        ("f16", "%v", 0),
        ("f16x2", "%v", 0),
        ("bf16", "%v", 0),
        ("bf16x2", "%v", 0),
    ],
)
def test_a_loop_compares_in_any_type_with_any_number(type_, limit, most):
    assert loop(type_, limit) == (1, most)


STRIDE = "mul.lo.s32 %stride, %ntid, %nctaid;"
OF_THE_GRID = "add.s32 %i, %i, %stride; setp.lt.s32 %p, %i, %n; @%p bra"
COUNTED = "add.s32 %j, %j, -1; setp.ne.s32 %p, %j, 0; @%p bra"


@pytest.mark.parametrize(
    ("body", "depth", "few"),
    [
        (f"{STRIDE} a: {OF_THE_GRID} a;", 1, True),
        ("mov.u32 %stride, %ntid.x; a: " + OF_THE_GRID + " a;", 1, False),
        (f"{STRIDE} a: {OF_THE_GRID} a; b: setp.lt.s32 %p, %j, %n; @%p bra b;", 1, False),
        (
            f"{STRIDE} a: mov.u32 %j, 0; b: setp.lt.s32 %p, %j, %n; @%p bra b; {OF_THE_GRID} a;",
            2,
            True,
        ),
        (
            f"{STRIDE} a: mov.u32 %i, 0; b: {OF_THE_GRID} b; setp.lt.s32 %p, %j, %n; @%p bra a;",
            2,
            True,
        ),
        ("ld.global.u32 %i, [%base]; a: setp.lt.s32 %p, %i, %n; @%p bra a;", 1, False),
        (f"{STRIDE} a: {OF_THE_GRID} a; b: setp.lt.s32 %p, %j, 8; @%p bra b;", 1, True),
        (f"and.b32 %j, %n, 3; b: {COUNTED} b; {STRIDE} a: {OF_THE_GRID} a;", 1, True),
        (f"mov.u32 %j, %n; b: {COUNTED} b; {STRIDE} a: {OF_THE_GRID} a;", 1, False),
        (STRIDE, 0, False),
    ],
)
def test_loops_whose_turns_the_grid_shares(body, depth, few):
    text = f"""{HEAD}
.visible .entry k()
{{
.reg .pred %p; .reg .b32 %i, %j, %n, %stride, %ntid, %nctaid; .reg .b64 %base;
mov.u32 %ntid, %ntid.x; mov.u32 %nctaid, %nctaid.x;
{body}
ret;
}}
"""
    assert LoadedModule(text).code("k", "plain").notes["loops"] == [depth, 8 * ("8;" in body), few]
