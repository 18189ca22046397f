"""Several texts made one: what they share, what each keeps to itself."""

from softgpu.ptx import PtxError, link, parse
from softgpu.tests.facts import refused

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
CALLER = (
    HEAD
    + """
.file 1 "/home/me/caller.cu"
.extern .func (.param .b32 out) twice(.param .b32 in);
.global .align 4 .u32 shared_name = 1;
.visible .entry kernel()
{
    .reg .b32 %r;
    .param .b32 in, out;
    .loc 1 7 0
    ld.global.u32 %r, [shared_name];
    st.param.b32 [in], %r;
    call (out), twice, (in);
    ret;
}
"""
)
CALLED = (
    HEAD
    + """
.file 1 "/home/me/called.cu"
.global .align 4 .u32 shared_name = 2;
.func (.param .b32 out) helper(.param .b32 in)
{
    .reg .b32 %r;
    .loc 1 3 0
    ld.global.u32 %r, [shared_name];
    st.param.b32 [out], %r;
    ret;
}
.visible .func (.param .b32 out) twice(.param .b32 in)
{
    .reg .b32 %r;
    .param .b32 a, b;
    .loc 1 9 0, function_name helper, inlined_at 1 12 0
    st.param.b32 [a], %r;
    call (b), helper, (a);
    ret;
}
"""
)


def test_one_text_stays_as_it_is():
    assert link(CALLER) is CALLER


def test_a_function_of_another_text_is_called():
    program = parse(link(CALLER + CALLED))
    assert program.functions["twice"].body
    assert [function.name for function in program.kernels] == ["kernel"]


def test_names_that_nobody_else_sees_are_each_texts_own():
    program = parse(link(CALLER + CALLED + CALLED.replace("twice", "thrice")))
    initial = {name: v.initial for name, v in program.variables.items()}
    assert sorted(initial.values()) == [b"\1\0\0\0", b"\2\0\0\0", b"\2\0\0\0"]
    helpers = {name for name in program.functions if name.startswith("helper")}
    assert len(helpers) == 2
    loads = [
        item.operands[1].base
        for name in ("kernel", *helpers)
        for item in program.functions[name].body
        if item.opcode == "ld"
    ]
    assert sorted(loads) == sorted(initial)


def test_lines_stay_those_of_their_own_files():
    program = parse(link(CALLER + CALLED))
    lines = {
        (item.source.file, item.source.line)
        for function in program.functions.values()
        for item in function.body
        if item.source.line
    }
    assert lines == {
        ("/home/me/caller.cu", 7),
        ("/home/me/called.cu", 3),
        ("/home/me/called.cu", 9),
    }


def test_what_is_defined_twice_is_refused():
    with refused(PtxError, "twice"):
        link(CALLED + CALLED)


def test_the_barrier_of_a_grid_is_there_for_whoever_calls_it():
    text = HEAD + (
        ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);\n"
        ".visible .entry kernel() { ret; }\n"
    )
    assert parse(link(text)).functions["cudaCGSynchronize"].body
