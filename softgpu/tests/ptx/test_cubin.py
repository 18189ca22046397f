"""PTX out of machine code, with the source lines that ptxas has put elsewhere."""

import struct
import subprocess
from pathlib import PurePath

import pytest

from softgpu import toolkit
from softgpu.ptx import PtxError, cubin, fatbin, parse
from softgpu.tests.facts import refused

SOURCE = """
__device__ __noinline__ float square(float x)
{
    return x * x;
}
extern "C" __global__ void last(float *x, const float *y, int n)
{
    for (int i = 0; i < n; i++) {
        float a = square(y[i]);
        x[2 * i] *= a;
    }
}
extern "C" __global__ void first(float *x, int n)
{
    __shared__ float all[64];
    all[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n)
        x[threadIdx.x] = all[63 - threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A function that compiles SOURCE to a kind of binary."""
    folder = tmp_path_factory.mktemp("cubin")
    (folder / "reverse.cu").write_text(SOURCE)

    def compiled(kind, *words):
        out = folder / "made"
        nvcc = toolkit.find_toolkit().nvcc
        command = [nvcc, f"--{kind}", "-arch=sm_90", *words, "reverse.cu", "-o", out]
        subprocess.run(command, cwd=folder, check=True)
        return out.read_bytes()

    return compiled


def lines_of_memory(text):
    """(kernel, instruction, file, line) of each access to memory and each barrier."""
    return [
        (name, item.opcode, PurePath(item.source.file).name, item.source.line)
        for name, function in parse(text).functions.items()
        for item in function.instructions
        if item.opcode in ("ld", "st", "bar", "barrier") and "param" not in item.modifiers
    ]


def test_each_access_has_the_line_that_the_compiler_gave_it(made):
    ours = lines_of_memory(cubin.ptx_of(made("cubin", "-lineinfo")))
    assert len({line for _, _, _, line in ours}) == 5
    assert sorted(ours) == sorted(lines_of_memory(made("ptx", "-lineinfo").decode()))


def test_a_fat_binary_gives_the_ptx_of_its_machine_code_where_it_has_no_other(made):
    image = made("fatbin", "-lineinfo")
    assert lines_of_memory(fatbin.ptx_for(image, 90)) == lines_of_memory(
        cubin.ptx_of(made("cubin", "-lineinfo"))
    )


def test_the_line_of_a_body_stands_in_it():
    source = cubin._Table(["", "a.py"], [(0, 0, 1, 7)])
    ptx = cubin._Table(["", "a.ptx"], [(0, 0, 1, 2)])
    text = list(cubin._with_lines([".entry a()", "{", "ret;", "}"], source, ptx))
    assert text == [".entry a()", "{", ".loc 1 7 0", "ret;", "}", '.file 1 "a.py"']


def test_the_line_of_an_instruction_on_several_lines_stands_before_it():
    """Such as the compiler of CuTe DSL writes for products."""
    source = cubin._Table(["", "a.py"], [(0, 0, 1, 7)])
    ptx = cubin._Table(["", "a.ptx"], [(0, 0, 1, 5)])
    code = [".entry a()", "{", "A:", "mma.sync", "{%r1, %r2};", "}"]
    text = list(cubin._with_lines(code, source, ptx))
    assert text[:-1] == [*code[:3], ".loc 1 7 0", *code[3:]]


def test_what_follows_the_ptx_of_tiles_is_left_out_and_lines_are_not(made, monkeypatch):
    sections = cubin._sections(made("cubin", "-lineinfo"))
    monkeypatch.setattr(cubin, "_sections", lambda image: sections)
    whole = cubin.ptx_of(b"")
    text = sections[".nv_debug_ptx_txt"].rstrip(b"\0")
    sections[".nv_debug_ptx_txt"] = text + b"\0.nv_intermediate_source_section {\0...\0"
    assert cubin.ptx_of(b"") == whole and ".file 1 " in whole


def test_machine_code_without_ptx_says_how_to_compile_it(made):
    with refused(PtxError, "PTX", "nvcc --ptx", "ptxas -lineinfo", "nvcc -lineinfo"):
        cubin.ptx_of(made("cubin"))


def test_machine_code_that_is_cut_off_is_refused_as_that(made):
    image = made("cubin", "-lineinfo")
    (heads,) = struct.unpack_from("<Q", image, 0x28)  # of its sections, which they lie before
    for length in range(0, heads, 61):
        with pytest.raises(cubin.Damaged):
            cubin.ptx_of(image[:length])


def test_line_tables_that_are_cut_off_are_refused_as_that(made, monkeypatch):
    sections = cubin._sections(made("cubin", "-lineinfo"))
    table = sections[".debug_line"]
    (length,) = struct.unpack_from("<I", table, 6)
    for end in range(1, 10 + length):
        broken = sections | {".debug_line": table[:end]}
        monkeypatch.setattr(cubin, "_sections", lambda image, given=broken: given)
        with pytest.raises(cubin.Damaged):
            cubin.ptx_of(b"")
