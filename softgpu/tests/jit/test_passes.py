"""The passes of each build: in order, told of, and blamed."""

import pytest

from softgpu.jit.analysis.found import Found, Pass, run_passes
from softgpu.jit.emit.module_text import ModuleText
from softgpu.jit.facts.layout import Image, Layout
from softgpu.jit.passes import BUILDS
from softgpu.ptx import parse
from softgpu.ptx.program import InternalError
from softgpu.tests.facts import refused
from softgpu.tests.jit.text import kernel

LOOP = """.version 9.0
.target sm_90
.address_size 64
.entry k(.param .u64 x)
{
    .reg .pred %p<1>;
    .reg .b32 %r<4>;
    .reg .f32 %f<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [x];
    mov.u32 %r0, %tid.x;
$LOOP:
    ld.global.f32 %f0, [%rd0];
    add.s32 %r0, %r0, -1;
    setp.ne.s32 %p0, %r0, 0;
    @%p0 bra $LOOP;
    ret;
}
"""


def ran(build, quick=False):
    """The names of the passes over a kernel with a loop, in the order in which they ran."""
    module, found = parse(LOOP), []
    layout = Layout(module, Image(module), "k")
    ModuleText(layout, BUILDS[build], quick, after=found.append).emit("k")
    assert all(one.function == "k" and one.seconds >= 0 for one in found)
    return [one.name for one in found]


@pytest.mark.parametrize("name", BUILDS)
def test_a_pass_needs_what_is_found_before_it(name):
    *analyses, writing = BUILDS[name].passes
    known = {"function", "layout", "calls_may_exit", "watchers", "meeters"}
    for step in analyses:
        assert known >= set(step.needs), step.name
        known.add(step.name)
    assert writing.name == "llvm" and known | {"copies"} >= set(writing.needs)
    others = {need for step in analyses for need in step.needs} | {*writing.needs, "turns"}
    assert others >= {step.name for step in analyses}, "found for nobody"


@pytest.mark.parametrize("name", BUILDS)
def test_passes_run_in_the_order_in_which_they_are_listed(name):
    listed = [step.name for step in BUILDS[name].passes]
    assert ran(name) == listed


def test_no_code_that_is_made_quickly_pays_for_what_makes_it_fast():
    assert set(ran("plain")) - set(ran("plain", quick=True)) == {
        *("sums", "strides", "looping", "proofs")
    }


def test_what_is_found_is_found_once_for_all_tiers_and_builds():
    module, found = parse(LOOP), []
    layout = Layout(module, Image(module), "k")
    for build, quick in ("plain", True), ("plain", False), ("sanitize", False), ("record", False):
        ModuleText(layout, BUILDS[build], quick, after=found.append).emit("k")
    names = [one.name for one in found if one.name != "llvm"]
    assert len(names) == len(set(names)) and {"proofs", "polling"} <= set(names)


def test_of_a_function_that_a_pass_rewrites_all_is_found_anew():
    module, found = parse(LOOP), []
    layout = Layout(module, Image(module), "k")
    ModuleText(layout, BUILDS["profile"], after=found.append).emit("k")
    first, second = (len(one.result) for one in found if one.name == "blocks")
    assert second > first


def test_an_emitter_gets_what_its_build_says_and_nothing_else():
    with refused(AttributeError, "live"):
        Found(blocks=[]).live  # noqa: B018


def test_a_pass_that_fails_is_named():
    broken = Pass("broken", ("function",), lambda function: function.nothing)
    with refused(InternalError, "broken", "k") as caught:
        run_passes([broken], {"function": kernel("ret;")}, by_driver=False)
    assert isinstance(caught.value.__cause__, AttributeError)
