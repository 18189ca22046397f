"""What the software GPU tells of itself: stages of a kernel, calls of the driver."""

import re
import sys
import textwrap
from pathlib import Path

import pytest

from softgpu import show, toolkit
from softgpu.jit.emit import function
from softgpu.jit.passes import BUILDS
from softgpu.jit.stages import STAGES
from softgpu.tests import python
from softgpu.tests.facts import missing, refused

pytestmark = pytest.mark.slow

KERNEL = """
extern "C" __global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
extern "C" __global__ void shift(float *x) { x[threadIdx.x] += 1; }
"""
PROGRAM = f"""
import softgpu
softgpu.install()
import pycuda.autoinit
import numpy as np
from pycuda import driver
from pycuda.compiler import SourceModule
x = np.ones(3, "f4")
module = SourceModule('''{KERNEL}''', no_extern_c=True)
module.get_function("scale")(driver.InOut(x), np.int32(3), grid=(1, 1), block=(32, 1, 1))
assert (x == 2).all()
try:
    module.get_function("nothing")
except driver.LogicError:
    pass
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a kernel.cu"
    path.write_text(KERNEL)
    return path


def test_show_prints_each_stage_of_a_kernel(source):
    shown = python("-m", "softgpu", "show", source, "scale", "all")
    assert not shown.returncode, shown.stderr
    parts = re.split(r"^==== (\S+), [\d.]+ ms\n", shown.stdout, flags=re.MULTILINE)
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert tuple(texts) == STAGES
    assert ".entry scale" in texts["kernel.ptx"] and "shift" not in texts["kernel.ptx"]
    assert re.search(r"add\.f32 %f\d+, .* // a kernel\.cu:5", texts["blocks.txt"])
    assert "b1" in texts["blocks.txt"]
    assert 'define void @"ptx.scale"' in texts["emitted.ll"]
    assert len(texts["optimised.ll"]) < len(texts["emitted.ll"])
    assert "ptx.scale" in texts["assembly.s"] and "ret" in texts["assembly.s"]


def test_show_prints_each_pass_with_its_time_and_what_it_found(source):
    shown = python("-m", "softgpu.show", source, "scale", "passes")
    assert not shown.returncode, shown.stderr
    rows = re.findall(r"^ +[\d.]+ ms  (\w+): (.+)", shown.stdout, re.MULTILINE)
    assert [name for name, _ in rows] == [step.name for step in BUILDS["plain"].passes]
    told = dict(rows)
    assert told["divergent"] == "b1" and told["spinning"]
    assert "%r1" in told["varying"].split() and re.fullmatch(r"\d+ lines", told["llvm"])


def test_show_prints_machine_code_after_the_ptx_that_it_is_for(source):
    shown = python("-m", "softgpu", "show", source, "scale", "machine").stdout
    assert shown.startswith("==== machine.sass") and "EXIT" in shown
    assert re.search(r"// st\.global.*\n( .*\n)*? +(@\S+ )?STG", shown)


def test_builds_differ(source):
    plain, watched = (
        python("-m", "softgpu", "show", source, "scale", "emitted.ll", "--build", build).stdout
        for build in ("plain", "sanitize")
    )
    assert "sg_sanitize" in watched and "sg_sanitize" not in plain


@pytest.mark.parametrize(
    ("kernel", "facts"),
    [("nothing", ["'nothing'"]), ("s", [2, "'s'"]), ("", [])],
)
def test_show_says_which_kernels_there_are(source, kernel, facts):
    shown = python("-m", "softgpu", "show", source, kernel)
    assert shown.returncode == 1 and not missing(shown.stderr, *facts)
    assert shown.stderr.endswith(":\n    scale\n    shift\n")


def test_what_cannot_be_read_is_said_without_a_traceback(tmp_path):
    broken = tmp_path / "broken.ptx"
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f() { oops; }"
    broken.write_text(text)
    for path in broken, tmp_path / "missing.ptx":
        shown = python("-m", "softgpu", "show", path, "f")
        assert shown.returncode == 1 and "Traceback" not in shown.stderr


def test_show_refuses_stages_that_there_are_not(source):
    shown = python("-m", "softgpu", "show", source, "scale", "all", "sanitize")
    assert shown.returncode == 2 and not missing(shown.stderr, "sanitize", "machine.sass")


def test_show_finds_the_compiler_that_is_not_on_the_path(source):
    found = toolkit.find_toolkit()
    home = str(Path(found.nvcc).parents[1])
    shown = python("-m", "softgpu", "show", source, "scale", PATH="/usr/bin:/bin", CUDA_HOME=home)
    assert not shown.returncode and ".entry scale" in shown.stdout, shown.stderr


def test_show_raises_what_it_was_refused_for_on_demand(tmp_path):
    shown = python("-m", "softgpu", "show", tmp_path / "missing.ptx", "f", SOFTGPU_DEBUG="1")
    assert shown.returncode == 1 and "Traceback (most recent call last):" in shown.stderr


def test_show_tells_a_mistake_of_its_own_as_one(tmp_path, monkeypatch):
    (path := tmp_path / "k.ptx").write_text(
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".entry k() { .reg .b32 a; sad.u32 a, a, a, a; }"
    )
    monkeypatch.setitem(function._EMITTERS, "sad", lambda e, item: e.nothing)
    monkeypatch.setattr(sys, "argv", ["show", str(path)])
    with refused(SystemExit, "sad.u32", "test_stages.py", "SOFTGPU_DEBUG=1"):
        show.main()


def test_emitted_lines_name_their_instruction_and_its_emitter(source):
    shown = python("-m", "softgpu", "show", source, "shift", "emitted.ll").stdout
    assert re.search(r"= fadd .*  ; add\.f32 .*, floating\.py:\d+\n", shown)


def test_a_dump_has_a_folder_per_kernel_and_build(tmp_path):
    folder = tmp_path / "a dump"
    result = python("-c", textwrap.dedent(PROGRAM), SOFTGPU_DUMP=str(folder))
    assert not result.returncode, result.stderr
    (kernel,) = folder.iterdir()
    assert re.fullmatch(r"scale-\w{8}\.plain", kernel.name)
    assert {path.name for path in kernel.iterdir()} == {*STAGES, "times.txt"}
    assert [row.split()[-1] for row in (kernel / "times.txt").read_text().splitlines()] == [*STAGES]


def test_a_trace_tells_of_calls_arguments_and_errors():
    result = python("-c", textwrap.dedent(PROGRAM), SOFTGPU_TRACE="1")
    assert not result.returncode, result.stderr
    lines = result.stderr.splitlines()
    assert any(re.fullmatch(r"cuMemAlloc_v2\(\*out=0x\w+, bytes=12\) = 0", line) for line in lines)
    assert any("cuLaunchKernel(" in line and "block_x=32" in line for line in lines)
    assert any("name=nothing) = 500, " in line for line in lines)
    assert not python("-c", textwrap.dedent(PROGRAM)).stderr


BY_NAME = """
    import ctypes, softgpu

    softgpu.install()
    library = ctypes.CDLL("libcuda.so")  # as clients look for it that were not linked with it
    library.cuInit(0)
    address, count = ctypes.c_void_p(), ctypes.c_int()
    library.cuGetProcAddress_v2(
        b"cuDeviceGetCount", ctypes.byref(address), 13000, ctypes.c_uint64(0), None
    )
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address.value)(ctypes.byref(count))
    library.cuMemsetD8_v2(None, 0, ctypes.c_size_t(0))
    library.cuGraphAddMemAllocNode()
    library.cuLaunchHostFunc(None, None, None)
    print(count.value)
"""


def test_a_trace_tells_of_calls_that_were_looked_up_by_name():
    result = python("-c", textwrap.dedent(BY_NAME), SOFTGPU_TRACE="1")
    assert result.stdout == "1\n", result.stderr
    told = [line.partition("(")[0] for line in result.stderr.splitlines()]
    called = ["cuInit", "cuGetProcAddress_v2", "cuDeviceGetCount", "cuMemsetD8_v2"]
    assert told == [*called, "cuGraphAddMemAllocNode", "cuLaunchHostFunc"]
    assert python("-c", textwrap.dedent(BY_NAME)).stdout == "1\n"
