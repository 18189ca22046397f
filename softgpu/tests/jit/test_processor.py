"""Kernels become machine code of the other kind of processor, too, and mean the same there."""

import re

import llvmlite.binding as llvm
import pytest

from softgpu.jit.compile import module_of
from softgpu.jit.emit import floats
from softgpu.jit.emit.module_text import ModuleText
from softgpu.jit.facts.layout import Image, Layout
from softgpu.jit.instructions import memory
from softgpu.jit.passes import BUILDS
from softgpu.ptx import parse

from .text import HEAD

LOADS = "ld.{}.global.u32 %r1, [%rd0]; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2;"
DOUBLES = """ld.global.f64 %d0, [%rd0]; ld.global.f64 %d1, [%rd1]; {}.f64 %d2, %d0, %d1;
st.global.f64 [%rd2], %d2;"""


def emitted(body):
    """LLVM of a kernel with three addresses."""
    module = parse(
        f"""{HEAD}.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z)
        {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f64 %d<9>; ld.param.u64 %rd0, [x];
        ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [z]; {body} ret; }}"""
    )
    return ModuleText(Layout(module, Image(module), "k"), BUILDS["plain"]).emit("k")


@pytest.fixture
def aarch64(monkeypatch):
    """What makes assembly of it."""
    monkeypatch.setattr(memory, "LOADS_IN_ORDER", False)
    monkeypatch.setattr(floats, "NEGATIVE_NAN", False)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple("aarch64-unknown-linux-gnu")
    except RuntimeError:
        pytest.skip("this LLVM has no such processor")
    machine = target.create_target_machine(opt=2)

    def assembly(text):
        module = module_of(text)
        module.triple, module.data_layout = target.triple, str(machine.target_data)
        return machine.emit_assembly(module)

    return assembly


@pytest.mark.parametrize("order", ["acquire.gpu", "relaxed.gpu", "volatile"])
def test_a_load_that_others_may_answer_comes_before_the_next(order, aarch64):
    assembly = aarch64(emitted(LOADS.format(order)))
    assert re.search(r"\bdmb\s+ishld\b", assembly)
    assert not re.search(r"\bdmb\b", aarch64(emitted(LOADS.format("weak"))))


@pytest.mark.parametrize("operation", ["add", "mul", "div.rn"])
def test_the_nan_of_a_double_is_the_hardwares(operation, aarch64):
    text = emitted(DOUBLES.format(operation))
    assert str((0xFFF8 << 48) - (1 << 64)) in text
    assert aarch64(text)
