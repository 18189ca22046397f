"""What is no instruction of PTX, or none that runs here, is refused by name and line."""

import re

import pytest

from softgpu.jit.facts.opcodes import OPCODES
from softgpu.ptx import PtxError, parse
from softgpu.ptx.forms import check_forms, opcodes, result_count
from softgpu.tests import ROOT
from softgpu.tests.facts import missing, refused

TEXT = """.version 9.0
.target sm_90
.address_size 64
.func (.param .b32 r) f(.param .b32 a) {{ ret; }}
.global .b32 x;
.visible .entry k(.param .u64 k_param_0)
{{
.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .param .b64 wide;
HERE: {statement}
ret;
}}
"""


def check(statement):
    module = parse(TEXT.format(statement=statement))
    check_forms(module, module.functions["k"])


@pytest.mark.parametrize(
    "statement",
    [
        "add.sat.s32 %r1, %r2, -1;",
        "mad.wide.u32 %rd1, %r1, 4, %rd2;",
        "lop3.b32 _, %r1, 1, 2, 3;",
        "setp.lt.and.f16x2 %p1|%p2, %r1, %r2, !%p3;",
        "setp.eq.s32 %p1, %r1, %r2;",
        "mov.b64 {%r1, _}, %rd1;",
        "mov.u64 %rd1, x;",
        "mov.pred %p1, %p2;",
        "cvt.f32.f32 %r1, %r2;",
        "ld.relaxed.gpu.global.L1::no_allocate.L2::128B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];",
        "st.shared::cta.b8 [x], %rs1;",
        "atom.global.add.noftz.v2.f16 {%rs1, _}, [%rd1], {%rs2, %rs3};",
        "st.async.mbarrier::complete_tx::bytes.v2.s64 [%rd1], {%rd2, 3}, [%rd4+8];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32"
        " [%r1], %r2, [%r3];",
        "bar.red.popc.u32 %r1, 0, 64, !%p1;",
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
        "bra.uni HERE;",
        "@!%p1 bra HERE;",
        "exit;",
        "no_such.opcode %r1;",
    ],
)
def test_forms(statement):
    check(statement)


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("st.global.b32 [%rd1], %r1;", 0),
        ("red.global.add.u32 [%rd1], %r1;", 0),
        ("mbarrier.init.shared.b64 [%rd1], 3;", 0),
        ("st.async.mbarrier::complete_tx::bytes.b32 [%rd1], %r2, [%rd3];", 0),
        ("bar.sync 0;", 0),
        ("bar.red.popc.u32 %r1, 0, %p1;", 1),
        ("ld.global.v2.u32 {%r1, %r2}, [%rd1];", 1),
        ("mov.b64 {%r1, _}, %rd1;", 1),
        ("lop3.b32 %r1, %r2, 1, 2, 3;", 1),
        ("lop3.or.b32 %r1|%p1, %r2, 1, 2, 3, %p2;", 2),
        ("setp.lt.s32 %p1, %r1, %r2;", 1),
        ("setp.lt.s32 %p1|%p2, %r1, %r2;", 2),
        ("setp.lt.and.s32 %p1, %r1, %r2, %p3;", 1),
        ("setp.lt.and.s32 %p1|%p2, %r1, %r2, %p3;", 2),
        ("shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;", 1),
        ("shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;", 2),
        ("match.all.sync.b32 %r1|%p1, %r2, -1;", 2),
        ("elect.sync %r1|%p1, -1;", 2),
        ("mbarrier.arrive.shared.b64 _, [%rd1];", 1),
    ],
)
def test_what_an_instruction_writes_comes_first(statement, count):
    module = parse(TEXT.format(statement=statement))
    check_forms(module, module.functions["k"])
    item = next(i for i in module.functions["k"].body if getattr(i, "opcode", None))
    assert result_count(item) == count


def test_what_has_a_form_has_a_row_and_the_other_way_round():
    assert set(OPCODES) == opcodes()


def test_the_page_says_which_opcodes_have_no_form():
    page = (ROOT / "softgpu/README.md").read_text()
    listed = page.partition("these have no form yet:\n")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", listed)
    assert named == sorted(set(named) - opcodes()) and "multimem" in named


REFUSED = {
    "add.s32 %r1, %r2;": "operands",
    "add.s32 %r1, %r2, %r3, %r4;": "operands",
    "add.s32 1, %r2, %r3;": "operands",
    "add.s32 %r1, %p2, %r3;": "operands",
    "add.s32 %r1, [%r2], %r3;": "operands",
    "add %r1, %r2, %r3;": "form",
    "add.rn.s32 %r1, %r2, %r3;": "form",
    "add.f8 %r1, %r2, %r3;": "form",
    "mul.s32 %r1, %r2, %r3;": "form",
    "sin.f32 %r1, %r2;": "form",
    "selp.b32 %r1, %r2, %r3, %r4;": "operands",
    "shfl.sync.b32 %r1, %r2, 1, 31, -1;": "form",
    "cvt.rn.satfinite.e4m3x2.f16 %rs1, %rs2;": "form",
    "cvt.u32 %r1, %r2;": "form",
    "ld.global.u32 %r1, %rd1;": "operands",
    "ld.global.v2.u32 %r1, [%rd1];": "width 1 2",
    "ld.global.u32 {%r1, %r2}, [%rd1];": "width 2 1",
    "st.global.v4.u32 [%rd1], {%r1, %r2};": "width 2 4",
    "mov.b64 {%r1, %r2, %r3}, %rd1;": "parts 3 64",
    "mov.b16 {%rs1, %rs2, %rs3, %rs4}, %rs5;": "parts 4 16",
    "mov.u64 {%r1, %r2}, %rd1;": "operands",
    "ld.global.u32 %r1, [nowhere];": "name nowhere",
    "mov.u32 %r1, nowhere;": "name nowhere",
    "atom.global.u32 %r1, [%rd1], %r2;": "form",
    "red.global.min.noftz.f16 [%rd1], %rs1;": "form",
    "st.async.mbarrier::complete_tx::bytes.b16 [%rd1], %rs2, [%rd3];": "form",
    "st.async.mbarrier::complete_tx::bytes.v4.b64 [%rd1], {1, 2, 3, 4}, [%rd3];": "form",
    "st.async.mbarrier::complete_tx::bytes.v2.b32 [%rd1], %r2, [%rd3];": "width 1 2",
    "st.async.mbarrier::complete_tx::bytes.b32 [%rd1], %r2;": "operands",
    "red.async.mbarrier::complete_tx::bytes.add.u32 [%rd1], %r2, [%rd3];": "form",
    "@%r1 add.s32 %r1, %r2, %r3;": "predicate %r1",
    "bra NOWHERE;": "label NOWHERE",
    "brx.idx %r1, nothing;": "list nothing",
    "call g;": "function g",
    "call k, (wide);": "parameters k",
    "call f;": "parameters f",
    "call (wide), f, (wide);": "parameters f",
    "call (%r1), f, (%r2);": "passed",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_refused(statement):
    with pytest.raises(PtxError) as error:
        check(statement)
    name = re.sub(r"^@\S+ ", "", statement).split()[0].rstrip(";")
    assert not missing(error.value, name, 9, "k", error.value.why)
    assert error.value.why.code == REFUSED[statement]


def test_a_tensor_map_that_only_nvidias_driver_can_write_is_refused_as_that():
    text = TEXT.replace("k_param_0)", "k_param_0,\n.hidden .param .align 64 .b8 map[128])")
    with refused(PtxError, "TMA", "allow_tma=False"):
        parse(text.format(statement="ret;"))
