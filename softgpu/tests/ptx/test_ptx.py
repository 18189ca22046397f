"""The PTX reader: what each construct of the language becomes."""

import re
import struct

import pytest

from softgpu.ptx import PtxError, parse
from softgpu.ptx.program import (
    Address,
    Immediate,
    Instruction,
    Label,
    Not,
    Register,
    SourceLine,
    Special,
    Symbol,
    Vector,
)
from softgpu.tests.facts import missing, refused

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
REGISTERS = """
    .reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
    .reg .f64 %fd<4>;
"""


def module(text):
    return parse(HEAD + text)


def kernel(body, before=""):
    """The function `k` with these statements, after declarations of registers."""
    text = f"{before}\n.visible .entry k(.param .u64 k_param_0)\n{{{REGISTERS}{body}\n}}\n"
    return module(text).functions["k"]


def instructions(body, before=""):
    return [i for i in kernel(body, before).body if isinstance(i, Instruction)]


def one(body, before=""):
    (found,) = instructions(body, before)
    return found


def r(number):
    return Register(f"%r{number}", "b32")


def rd(number):
    return Register(f"%rd{number}", "b64")


def p(number):
    return Register(f"%p{number}", "pred")


def f(number):
    return Register(f"%f{number}", "f32")


OPERANDS = {
    "add.s32 %r1, %r2, %r3;": (r(1), r(2), r(3)),
    "add.s32 %r1, %r2, -4;": (r(1), r(2), Immediate(-4)),
    "mov.b32 %r1, 0xFFFFFFFFU;": (r(1), Immediate(0xFFFFFFFF)),
    "mov.b32 %r1, 0X1f;": (r(1), Immediate(31)),
    "mov.b32 %r1, 017;": (r(1), Immediate(15)),
    "mov.b32 %r1, 0;": (r(1), Immediate(0)),
    "mov.b32 %r1, 0b101;": (r(1), Immediate(5)),
    "mov.b32 %r1, 0b101U;": (r(1), Immediate(5)),
    "mov.b32 %r1, 2147483648U;": (r(1), Immediate(1 << 31)),
    "mov.u64 %rd1, 18446744073709551615;": (rd(1), Immediate((1 << 64) - 1)),
    "mov.b32 %r1, 4*8+1;": (r(1), Immediate(33)),
    "mov.b32 %r1, 1+4*8;": (r(1), Immediate(33)),
    "mov.b32 %r1, 10-4-3;": (r(1), Immediate(3)),
    "mov.b32 %r1, (1<<3)|~-2;": (r(1), Immediate(9)),
    "mov.b32 %r1, -7/2;": (r(1), Immediate(-3)),
    "mov.b32 %r1, -7 % 4;": (r(1), Immediate(-3)),
    "mov.b32 %r1, 0xF0 ^ 0x3C & 0xF;": (r(1), Immediate(0xFC)),
    "mov.b32 %r1, !0;": (r(1), Immediate(1)),
    "mov.u32 %r1, WARP_SZ;": (r(1), Immediate(32)),
    "mov.u32 %r1, WARP_SZ-1;": (r(1), Immediate(31)),
    "mov.f32 %f1, 0f3F800000;": (f(1), Immediate(0x3F800000, "f32")),
    "mov.f32 %f1, 0Fbf800000;": (f(1), Immediate(0xBF800000, "f32")),
    "mov.f32 %f1, -0f3F800000;": (f(1), Immediate(0xBF800000, "f32")),
    "mov.f64 %fd1, 0d3FF0000000000000;": (
        Register("%fd1", "f64"),
        Immediate(0x3FF0000000000000, "f64"),
    ),
    "mov.f64 %fd1, 0D3ff0000000000000;": (
        Register("%fd1", "f64"),
        Immediate(0x3FF0000000000000, "f64"),
    ),
    "mov.f32 %f1, -1.5;": (f(1), Immediate(0xBFF8000000000000, "f64")),
    "mov.f32 %f1, 1e3;": (f(1), Immediate(0x408F400000000000, "f64")),
    "mov.u32 %r1, %tid.x;": (r(1), Special("tid.x")),
    "mov.u32 %r1, %nctaid.z;": (r(1), Special("nctaid.z")),
    "mov.u32 %r1, %laneid;": (r(1), Special("laneid")),
    "mov.u32 %r1, %lanemask_lt;": (r(1), Special("lanemask_lt")),
    "mov.u64 %rd1, %clock64;": (rd(1), Special("clock64")),
    "mov.u32 %r1, %dynamic_smem_size;": (r(1), Special("dynamic_smem_size")),
    "mov.b32 %r1, %envreg31;": (r(1), Special("envreg31")),
    "mov.u32 %r1, %cluster_ctarank;": (r(1), Special("cluster_ctarank")),
    "mov.u64 %rd1, table;": (rd(1), Symbol("table")),
    "mov.u64 %rd1, table+8;": (rd(1), Symbol("table", 8)),
    "mov.u64 %rd1, $str$1;": (rd(1), Symbol("$str$1")),
    "ld.param.u64 %rd1, [k_param_0];": (rd(1), Address("k_param_0")),
    "ld.param.u64 %rd1, [k_param_0+8];": (rd(1), Address("k_param_0", 8)),
    "ld.global.u32 %r1, [%rd2];": (r(1), Address(rd(2))),
    "ld.global.u32 %r1, [%rd2+4];": (r(1), Address(rd(2), 4)),
    "ld.global.u32 %r1, [%rd2+-4];": (r(1), Address(rd(2), -4)),
    "ld.global.u32 %r1, [%rd2 - 4];": (r(1), Address(rd(2), -4)),
    "ld.shared.u32 %r1, [64];": (r(1), Address(None, 64)),
    "st.global.v2.f32 [%rd1+8], {%f1, %f2};": (Address(rd(1), 8), Vector((f(1), f(2)))),
    "mov.b64 {%r1, _}, %rd1;": (Vector((r(1), None)), rd(1)),
    "mov.b64 %rd1, {%r1, 0};": (rd(1), Vector((r(1), Immediate(0)))),
    "shfl.sync.down.b32 %r1|%p2, %r3, 16, 31, -1;": (
        r(1),
        p(2),
        r(3),
        Immediate(16),
        Immediate(31),
        Immediate(-1),
    ),
    "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;": (p(1), p(2), r(1), r(2), Not(p(3))),
    "setp.lt.s32 _|%p2, %r1, %r2;": (None, p(2), r(1), r(2)),
    "bar.red.popc.u32 %r1, 0, !%p1;": (r(1), Immediate(0), Not(p(1))),
    "mbarrier.arrive.shared.b64 _, [%r1];": (None, Address(r(1))),
    "bra.uni $L__BB0_1;": (Symbol("$L__BB0_1"),),
    "brx.idx %r1, targets;": (r(1), Symbol("targets")),
    "ret;": (),
    "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, %f6}];": (
        Vector((f(1), f(2), f(3), f(4))),
        Vector((Address(rd(1)), Vector((f(5), f(6))))),
    ),
    "vadd.u32.u32.u32 %r1, %r2.b0, %r3;": (r(1), Symbol("%r2.b0"), r(3)),
    "call foo;": (Vector(()), Symbol("foo"), Vector(())),
    "call.uni foo, (%r1);": (Vector(()), Symbol("foo"), Vector((r(1),))),
    "call (%r1), foo;": (Vector((r(1),)), Symbol("foo"), Vector(())),
    "call (%r1, %r2), foo, (%r3, 4);": (
        Vector((r(1), r(2))),
        Symbol("foo"),
        Vector((r(3), Immediate(4))),
    ),
    "call (%r1), %rd1, (%r3), prototype_0;": (
        Vector((r(1),)),
        rd(1),
        Vector((r(3),)),
        Symbol("prototype_0"),
    ),
    "call %rd1, prototype_0;": (Vector(()), rd(1), Vector(()), Symbol("prototype_0")),
}


@pytest.mark.parametrize("text", OPERANDS)
def test_operands(text):
    assert one(text).operands == OPERANDS[text]


@pytest.mark.parametrize(
    "name",
    [
        "prmt.b32.f4e",
        "ld.global.L1::no_allocate.v4.u32",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
        "no_such_instruction.x2",
    ],
)
def test_names_of_instructions_are_kept(name):
    found = one(f"{name} %r1, [%rd1];")
    assert found.name == name
    assert (found.opcode, *found.modifiers) == tuple(name.split("."))


def test_predicates():
    plain, guarded, negated = instructions("ret; @%p1 ret; @!%p2 bra L;")
    assert (plain.predicate, plain.negated) == (None, False)
    assert (guarded.predicate, guarded.negated) == (p(1), False)
    assert (negated.predicate, negated.negated) == (p(2), True)


def test_statements_may_share_lines_and_comments_may_stand_anywhere():
    body = kernel(
        "L1: L2: mov.u32 %r1, 1; @%p1 /* a; b */ ret; // c; d\n add.s32 /*\n\n*/ %r1, %r1, 2;"
        ' ; .pragma "nounroll"; } // }\n'
        ".entry after() {"
    ).body
    assert body[:2] == [Label("L1"), Label("L2")]
    assert [i.name for i in body[2:]] == ["mov.u32", "ret", "add.s32"]


def test_register_declarations():
    found = kernel(".reg .b32 a, b<2>, c; .reg .v2 .f32 %v; mov.b32 a, b1;").registers
    assert {"%p0", "%p7", "a", "b0", "b1", "c", "%v.x", "%v.y"} <= set(found)
    assert not {"%p8", "b", "b2", "%v", "%v.z"} & set(found)
    assert found["%v.y"] == Register("%v.y", "f32") and found["%p7"] == p(7)


def test_vector_registers_are_their_components():
    whole, part = instructions(".reg .v4 .u32 v; mov.u32 v, %ntid; mov.u32 %r1, v.g;")
    components = tuple(Register(f"v.{letter}", "u32") for letter in "xyzw")
    assert whole.operands[0] == Vector(components)
    assert part.operands[1] == components[1]


SCOPES = """
    {.reg .b32 t; .param .b32 param0; st.param.b32 [param0+0], %r1; mov.b32 t, %r1;
     { .reg .b64 t; mov.b64 t, 1; }
     mov.b32 %r2, t; call foo, (param0); }
    {.reg .b32 t; .param .b32 param0; st.param.b32 [param0+4], t;}
    mov.b64 %rd1, t;
"""


def test_names_of_scopes_are_unique():
    function = kernel(SCOPES)
    store, outer, inner, after, call, other, outside = function.body
    assert outer.operands[0].type == "b32" and inner.operands[0].type == "b64"
    assert after.operands[1] == outer.operands[0]
    assert other.operands[1].type == "b32"
    names = {outer.operands[0].name, inner.operands[0].name, other.operands[1].name}
    assert len(names) == 3 and names <= set(function.registers)
    assert outside.operands[1] == Symbol("t")
    params = [v.name for v in function.variables]
    assert params == [store.operands[0].base, other.operands[0].base]
    assert params[0] != params[1]
    assert call.operands[2] == Vector((Symbol(params[0]),))
    assert other.operands[0].offset == 4


WAIT = "{ .reg .pred P; WAIT: mbarrier.try_wait.b64 P, [%r1]; @P bra DONE; bra WAIT; DONE: }"


def test_labels_of_scopes_are_unique():
    body = kernel(f"START: {WAIT} {{ {WAIT} bra START; }} bra START;").body
    labels = [item.name for item in body if isinstance(item, Label)]
    targets = [i.operands[0].name for i in body if isinstance(i, Instruction) and i.opcode == "bra"]
    start, wait, done, wait2, done2 = labels
    assert len(set(labels)) == 5 and start == "START"
    assert targets == [done, wait, done2, wait2, start, start]


def test_tables():
    function = kernel(
        "t: .branchtargets A, B; @%p1 brx.idx %r1, t; A: B: f: .calltargets g, h;\n"
        "{ P : .callprototype (.param .b32 _) _\n"
        "      (.param .b64 _, .param .align 8 .b8 _[12]) .noreturn;\n"
        "  call (%r1), %rd1, (%rd2, %rd3), P; }\n"
        "{ t: .branchtargets C; C: brx.idx %r2, t; }"
    )
    first, call, second = (i for i in function.body if isinstance(i, Instruction))
    assert function.branch_targets["t"] == ["A", "B"]
    assert function.call_targets == {"f": ["g", "h"]}
    returns, params = function.prototypes[call.operands[3].name]
    assert [(v.type, v.bytes) for v in returns] == [("b32", 4)]
    assert [(v.type, v.bytes, v.align) for v in params] == [("b64", 8, 8), ("b8", 12, 8)]
    inner = function.branch_targets[second.operands[1].name]
    assert first.operands[1] == Symbol("t") and second.operands[1] != Symbol("t")
    assert inner == [function.body[-2].name] and inner != ["C"]


LOCATED = """
.visible .entry k()
{
    .reg .b32 %r<4>;
    .loc 1 2 0
    mov.u32 %r1, 1;
    .loc 1 5 3
    .loc 1 1 42, function_name $L__info_string0, inlined_at 1 5 3
    .loc 2 440 9, function_name $L__info_string1, inlined_at 1 1 42
    mov.u32 %r1, 2;
    .loc 3 7 9, function_name $L__info_string1+16, inlined_at 2 440 9
    mov.u32 %r1, 3;
    .loc 1 1 42, function_name $L__info_string0, inlined_at 1 5 3
    mov.u32 %r1, 4;
    .loc 2 450 1
    mov.u32 %r1, 5;
    .loc 1 0 0
    mov.u32 %r1, 6;
}
.entry later() { ret; }
    .file 1 "/home/me/course/./kernel.cu", 1700000000, 321
    .file 2 "/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp"
    .file 3 "/venv/lib/site-packages/nvidia/cu13/bin/../include/cccl/cub/block.cuh"
    .section .debug_str
    {
$L__info_string0:
.b8 95,90,0
    }
"""


def test_source_lines():
    found = module(LOCATED).functions
    user = "/home/me/course/kernel.cu"
    header = "/usr/local/cuda-13.0/targets/x86_64-linux/include/sm_30_intrinsics.hpp"
    cub = "/venv/lib/site-packages/nvidia/cu13/include/cccl/cub/block.cuh"
    assert [(i.source, i.caller) for i in found["k"].body] == [
        (SourceLine(user, 2), None),
        (SourceLine(header, 440), SourceLine(user, 1)),
        (SourceLine(cub, 7), SourceLine(user, 1)),
        (SourceLine(user, 1), None),
        (SourceLine(header, 450), None),
        (SourceLine(header, 450), None),  # of line 0, which is nobody's: as before
    ]
    assert [i.user_line.line for i in found["k"].body] == [2, 1, 1, 1, 450, 450]
    assert found["k"].source == SourceLine(user, 2)
    assert found["later"].body[0].source == SourceLine("", 0) == found["later"].source


FUNCTIONS = """
.func (.param .b32 func_retval0) f (.param .b32 f_param_0, .param .align 8 .b8 p[16]) ;
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.extern .func __assertfail (.param .b64 a) .noreturn;
.weak .entry empty() { ret; }
.visible .entry bounded(
    .param .u8 a, .param .align 8 .b8 s[12], .param .u64 .ptr .global .align 16 q
)
.maxntid 128, 2, 1
.minnctapersm 2
.maxnreg 64
.explicitcluster
.reqnctapercluster 2, 1, 1
.pragma "x";
{ ret; }
.entry exact() .reqntid 96 { ret; }
.visible .func (.param .b32 func_retval0) f(.param .b32 f_param_0, .param .align 8 .b8 p[16])
{ st.param.b32 [func_retval0+0], 1; ret; }
.func (.reg .b32 out) g (.reg .b32 in, .reg .pred q) { @q mov.b32 out, in; ret; }
.func .attribute(.unified(1, 2)) h (.param .b32 n, .param .align 8 .b8 %va[])
{ .reg .b64 %rd<2>; mov.u64 %rd1, %va; }
.alias same, f;
"""


def test_functions():
    found = module(FUNCTIONS)
    functions = found.functions
    assert (found.version, found.target) == ("9.0", "sm_90")
    assert [k.name for k in found.kernels] == ["empty", "bounded", "exact"]
    assert not (functions["vprintf"].is_defined or functions["__assertfail"].is_defined)
    assert "noreturn" in functions["__assertfail"].directives
    f_ = functions["f"]
    assert [v.bytes for v in f_.params] == [4, 16] and [v.name for v in f_.returns] == [
        "func_retval0"
    ]
    assert [i.name for i in f_.body] == ["st.param.b32", "ret"]
    assert functions["same"].body == f_.body and functions["same"].name == "same"
    assert functions["empty"].params == [] and functions["empty"].max_threads is None
    bounded = functions["bounded"]
    assert bounded.max_threads == 256 and functions["exact"].max_threads is None
    assert bounded.directives == {
        "maxntid": (128, 2, 1),
        "minnctapersm": (2,),
        "maxnreg": (64,),
        "explicitcluster": (),
        "reqnctapercluster": (2, 1, 1),
    }
    assert bounded.param_offsets == {"a": 0, "s": 8, "q": 24} and bounded.param_bytes == 32
    g = functions["g"]
    assert [v.space for v in g.params + g.returns] == ["reg"] * 3
    assert g.body[0].predicate == Register("q", "pred")
    assert g.body[0].operands == (Register("out", "b32"), Register("in", "b32"))
    assert functions["h"].body[0].operands[1] == Symbol("%va")


FORWARD_FIRST = module(".func f(); .func f() { ret; }")
FORWARD_LAST = module(".func f() { ret; } .func f();")


@pytest.mark.parametrize("found", [FORWARD_FIRST, FORWARD_LAST], ids=["first", "last"])
def test_a_declaration_never_hides_the_definition(found):
    assert [i.name for i in found.functions["f"].body] == ["ret"]


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


POINTER = "{97, 0XFF(generic(t)+8)," + ",".join(
    f"0xFF{'00' * i}(generic(t)+8)" for i in range(1, 8)
)
# declaration: (space, type, bytes, align, initial, relocations)
VARIABLES = {
    ".global .align 4 .b8 x[40];": ("global", "b8", 40, 4, None, ()),
    ".const .align 4 .b8 x[16] = {0, 0, 128, 63};": (
        *("const", "b8", 16, 4),
        floats(1),
        (),
    ),
    ".visible .global .align 4 .f32 x = 0f80000000;": ("global", "f32", 4, 4, floats(-0.0), ()),
    ".global .f32 x[3] = {1.5, -2, 0f3F800000};": ("global", "f32", 12, 4, floats(1.5, -2, 1), ()),
    ".global .f64 x = 0f3F800000;": ("global", "f64", 8, 8, struct.pack("<d", 1), ()),
    ".global .s16 x[2] = {-1, 258};": ("global", "s16", 4, 2, b"\xff\xff\x02\x01", ()),
    ".global .u8 x = 255;": ("global", "u8", 1, 1, b"\xff", ()),
    ".global .s64 x = -5;": ("global", "s64", 8, 8, struct.pack("<q", -5), ()),
    ".global .u8 x[2][3] = {{1, 2}, {4}};": ("global", "u8", 6, 1, b"\1\2\0\4", ()),
    ".global .u8 x[2][3] = {1, 2, 3, 4};": ("global", "u8", 6, 1, b"\1\2\3\4", ()),
    ".global .u16 x[] = {1, 2, 3};": ("global", "u16", 6, 2, b"\1\0\2\0\3\0", ()),
    ".global .v2 .u16 x[] = {{1, 2}, {3}};": ("global", "u16", 8, 4, b"\1\0\2\0\3\0", ()),
    ".global .v4 .f32 x;": ("global", "f32", 16, 16, None, ()),
    ".global .u64 x = generic(t)+12;": ("global", "u64", 8, 8, bytes(8), ((0, "t", 12),)),
    ".const .u64 x[4] = {7, generic($str), t, t-8};": (
        *("const", "u64", 32, 8),
        b"\7" + bytes(31),
        ((8, "$str", 0), (16, "t", 0), (24, "t", -8)),
    ),
    ".global .align 1 .u8 x[19] = " + POINTER + ", 2, 1};": (
        *("global", "u8", 19, 1),
        b"a" + bytes(8) + b"\2\1",
        ((1, "t", 8),),
    ),
    ".extern .shared .align 16 .b8 x[];": ("shared", "b8", 0, 16, None, ()),
    ".shared .align 8 .b8 x[4*8][2];": ("shared", "b8", 64, 8, None, ()),
    ".global .attribute(.managed) .align 4 .u32 x = 3;": (
        *("global", "u32", 4, 4),
        b"\3\0\0\0",
        (),
    ),
    ".weak .global .b32 x;": ("global", "b32", 4, 4, None, ()),
    ".common .global .b32 x;": ("global", "b32", 4, 4, None, ()),
    ".extern .global .b32 x; .global .b32 x = 1;": ("global", "b32", 4, 4, b"\1\0\0\0", ()),
    ".global .b32 x = 1; .extern .global .b32 x;": ("global", "b32", 4, 4, b"\1\0\0\0", ()),
    ".global .b32 w, x[2] = {1, 2}, y;": ("global", "b32", 8, 4, b"\1\0\0\0\2\0\0\0", ()),
}


@pytest.mark.parametrize("text", VARIABLES)
def test_variables(text):
    found = module(text).variables["x"]
    assert (
        *(found.space, found.type, found.bytes, found.align),
        *(found.initial, found.relocations),
    ) == VARIABLES[text]


def test_variables_of_functions():
    function = kernel(
        ".shared .align 4 .b8 s[128]; .local .align 16 .b8 __local_depot0[32]; mov.u32 %r1, s;"
    )
    assert [(v.name, v.space, v.bytes, v.align) for v in function.variables] == [
        ("s", "shared", 128, 4),
        ("__local_depot0", "local", 32, 16),
    ]
    assert function.body[0].operands[1] == Symbol("s")


# what is wrong: (text, line of the fault, what the message names)
FAULTS = {
    "undeclared register": (".entry k() {\n mov.b32 %r1, 1;\n}", 5, "%r1"),
    "undeclared predicate": (".entry k() {\n\n @%p1 ret;\n}", 6, "%p1"),
    "missing semicolon": (".entry k() { ret\n}", 5, "'}'"),
    "unknown directive": (".nonsense 4", 4, ".nonsense"),
    "unknown type": (".global .b7 x;", 4, ".b7"),
    "unfinished function": (".entry k() { ret;", 4, "{ ret;"),
    "unfinished comment": (".entry k() { ret; /* }", 4, "'/'"),
    "too many values": (".global .b32 x[2] = {1, 2, 3};", 4, "x"),
    "half an address": (".global .u32 x = t;", 4, "8-byte"),
    "bad octal": (".global .u32 x = 08;", 4, "'08'"),
    "division by zero": (".global .u32 x = 1/0;", 4, "1/0"),
    "arithmetic on floats": (".global .f32 x = 1.0+2;", 4, "1.0+2"),
    "beyond 64 bits": (".global .u64 x = 1<<64;", 4, 64),
    "float array size": (".global .u64 x[1.5];", 4, "x[1.5]"),
    "beyond f32": (".global .f32 x = 1e300;", 4, "f32"),
    "address of a number": (".entry k() { .reg .b32 %r<2>;\n ld.u32 %r1, [%tid.x];}", 5, "%tid.x"),
    "alias of nothing": (".alias a, b;", 4, "a"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_name_the_line(what):
    text, line, part = FAULTS[what]
    with pytest.raises(PtxError) as caught:
        module(text)
    message = str(caught.value)
    assert re.match(rf"PTX \w+ {line}: ", message) and not missing(message, part)
    assert message.endswith((HEAD + text).splitlines()[line - 1].strip())


@pytest.mark.parametrize(
    "text, part",
    [
        ("", ".version"),
        ("\x7fELF", ".version"),
        (".version 9.0 .target sm_90 .address_size 32", "64-bit"),
        (HEAD + ".extern .global .b32 x;", "x"),
    ],
)
def test_modules_that_are_refused(text, part):
    with refused(PtxError, part):
        parse(text)


def test_any_beginning_of_a_text_is_read_or_refused_as_ptx():
    text = HEAD + FUNCTIONS + LOCATED + ";".join(VARIABLES)
    refused = 0
    for end in range(0, len(text), 7):
        try:
            parse(text[:end])
        except PtxError:
            refused += 1
    assert 0.5 < refused / (len(text) // 7) < 1
