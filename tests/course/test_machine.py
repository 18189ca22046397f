"""A kernel's PTX beside its machine code, by CUDA line."""

from helpers import machine, sources
from softgpu.tests.facts import refused

DIVIDED = """
__global__ void divided(const int *a, int *out, int n)
{
    out[threadIdx.x] = a[threadIdx.x] / n;
}
__global__ void other(int *out)
{
    out[threadIdx.x] = 7;
}
"""


def test_a_line_has_its_ptx_and_that_its_machine_code():
    code = machine.code(sources.kernel(DIVIDED, "divided"))
    (division,) = code["div.s32"].steps
    assert division.source == "4  out[threadIdx.x] = a[threadIdx.x] / n;"
    assert any("MUFU.RCP" in text for text in division.machine)
    assert code.count == sum(len(step.machine) for step in code.steps)
    assert not any("0x7" in text for step in code.steps for text in step.machine)  # the other's


def test_a_routine_counts_with_those_that_call_it():
    code = sources.show("elementwise/one_dimension.cu", machine=True)
    (name,) = code.routines
    assert "rem_s64" in name and code.count > len(code.routines[name]) > 50
    only = sources.show("elementwise/one_dimension.cu", "rem.", machine=True)
    assert [step.ptx.split()[0] for step in only.steps] == ["rem.s64", "rem.u32"]
    assert only.routines == code.routines
    assert not code["st.global"].routines


def test_choices_and_lines_of_headers():
    code = sources.show("elementwise/same.cu", machine=True, Op="Multiply")
    (product,) = code["mul.f32"].steps
    assert product.source.startswith("operators.cuh:") and "wrapping(b)" in product.source
    assert any("FMUL" in text for text in product.machine)


def test_it_is_shown_as_text_and_as_a_table():
    code = sources.show("elementwise/one_dimension.cu", "rem.", machine=True)
    (name,) = code.routines
    for shown in repr(code), code._repr_html_():
        assert code.heading in shown and "MUFU.RCP" in shown
        assert f"{name}: {len(code.routines[name])} instructions" in shown


def test_a_piece_that_is_nowhere_is_refused():
    with refused(LookupError, "PTX", "same", "'div'"):
        sources.show("elementwise/same.cu", "div", machine=True)


def test_without_a_disassembler_there_is_ptx_and_what_to_install(monkeypatch):
    monkeypatch.setattr(machine, "find_nvdisasm", lambda nvcc: None)
    code = sources.show("elementwise/same.cu", machine=True)
    assert code.count is None and code["add.f32"].steps
    assert "nvidia-cuda-nvdisasm" in repr(code)
