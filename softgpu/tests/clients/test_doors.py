"""Other clients than PyCUDA, and PyCUDA outside of the course: the example project of docs/."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from functools import cache

import pytest

from softgpu.tests import ROOT, python

EXAMPLE = ROOT / "docs/example"
NEEDS = {"pycuda": "pycuda", "numba": "numba_cuda", "cuda_core": "cuda.core", "triton": "triton"}
IMPORTS = {  # and the first use, which imports the rest
    "pycuda": "import pycuda.driver",
    "numba": "from numba import cuda\n@cuda.jit('void(int32[:])')\ndef kernel(x): x[0] = 1",
    "cuda_core": "import cuda.core",
    "triton": "import torch, triton",
}


def run_pytest(folder, *words):
    """pytest in a project of its own: its exit status and what it says."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval"]
    done = subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@cache
def missing(client):
    """Why a client cannot be tried here: it is not installed, or breaks when it is imported."""
    parent = NEEDS[client].partition(".")[0]
    if not (importlib.util.find_spec(parent) and importlib.util.find_spec(NEEDS[client])):
        return f"{NEEDS[client]} is not installed: pip install -e './softgpu[clients]'"
    program = f"import softgpu\nsoftgpu.install()\n{IMPORTS[client]}"
    done = python("-c", program)
    return done.returncode and f"{NEEDS[client]} is broken: {done.stderr.splitlines()[-1]}"


def need(client):
    if why := missing(client):
        pytest.skip(why)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["--softgpu", "--softgpu=sanitize"])
@pytest.mark.parametrize("client", NEEDS)
def test_the_example_passes(client, way, tmp_path):
    need(client)
    shutil.copy(EXAMPLE / f"test_{client}.py", tmp_path)
    status, said = run_pytest(tmp_path, way)
    assert status == 0 and " passed" in said and "skipped" not in said, said


@pytest.mark.slow
def test_a_list_of_failing_tests_is_kept_as_the_page_for_maintainers_says(tmp_path):
    page = (ROOT / "docs/for_maintainers.md").read_text()
    (conftest,) = re.findall(r"```python\n(from pathlib.*?)```", page, re.DOTALL)
    (tmp_path / "conftest.py").write_text(conftest)
    tests = "def test_wrong():\n    assert False\n\n\ndef test_right():\n    pass\n"
    (tmp_path / "test_it.py").write_text(tests)
    names = tmp_path / "softgpu_fails.txt"
    names.write_text("test_it.py::test_wrong\n")
    assert run_pytest(tmp_path, "--softgpu")[0] == 0
    assert run_pytest(tmp_path)[0] == 1  # the list is the software GPU's
    names.write_text("test_it.py::test_wrong\ntest_it.py::test_right\n")
    status, said = run_pytest(tmp_path, "--softgpu")
    assert status == 1 and "XPASS(strict)" in said


FAULTY = """
import ctypes
import numpy as np
import pytest
import softgpu

PTX = b'''
.version 9.0
.target sm_90
.address_size 64
.visible .entry write(.param .u64 out)
{
    .reg .b64 %at;
    ld.param.u64 %at, [out];
    st.global.u32 [%at], 1; // by all threads: the same value, which is no race
    st.global.u32 [%at+4], %tid.x;
    ret;
}
'''


@pytest.mark.softgpu
def test_write():
    cuda = ctypes.CDLL("libcuda.so.1")
    module, function, context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    out = ctypes.c_uint64()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"write") == 0
    assert cuda.cuMemAlloc_v2(ctypes.byref(out), ctypes.c_size_t(8)) == 0
    params = (ctypes.c_void_p * 1)(ctypes.addressof(out))
    assert cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, params, None) == 0
"""


@pytest.mark.slow
def test_pytest_runs_cuda_on_the_software_gpu_where_it_is_asked_to(tmp_path):
    (tmp_path / "test_faulty.py").write_text(FAULTY)
    status, said = run_pytest(tmp_path, "-rs")
    assert status == 0 and "1 skipped" in said and "pytest --softgpu" in said
    status, said = run_pytest(tmp_path, "--softgpu")
    assert status == 0 and "1 passed" in said, said
    status, said = run_pytest(tmp_path, "--softgpu=sanitize")
    assert status == 1 and "1 failed" in said and "double write" in said, said


@pytest.fixture
def faulty(tmp_path):
    """A program in Python, which a command of softgpu runs: its status, what it says, its JSON."""
    program = FAULTY + "\nimport sys\nfor _ in range(2):\n    test_write()\nprint(sys.argv)\n"
    (tmp_path / "faulty.py").write_text(program)

    def softgpu(*words):
        done = python("-m", "softgpu", *words, cwd=tmp_path)
        path = tmp_path / "found.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return done.returncode, done.stdout + done.stderr, [json.loads(line) for line in lines]

    return softgpu


def test_a_program_of_python_is_run_by_the_command(faulty):
    code, said, _ = faulty("run", "faulty.py")
    assert code == 0 and "double write" not in said
    code, said, _ = faulty("run", "missing.py")
    assert code == 2 and "missing.py" in said


def test_a_program_of_python_is_sanitized_by_the_command(faulty):
    """Its own words are its own."""
    words = "faulty.py", "--size", "7", "--json", "8", "--", "last"
    code, said, (trust, found) = faulty("sanitize", "--json", "found.jsonl", *words)
    assert code == 0 and "double write" in said and said.count("Fidelity of write") == 1
    assert trust["kernel"] == "write" and trust["fidelity"]["exact"]
    assert "['faulty.py', '--size', '7', '--json', '8', 'last']" in said
    assert (found["kind"], found["kernel"]) == ("double write", "write") and found["advice"]


def test_a_program_of_python_is_profiled_by_the_command(faulty):
    """Each kernel once."""
    code, said, (counted,) = faulty("profile", "--json", "found.jsonl", "faulty.py")
    assert code == 0 and said.count("write: 1 block of 32 threads") == 1, said
    assert (counted["kernel"], counted["grid"], counted["block"]) == ("write", [1] * 3, [32, 1, 1])
    assert counted["total"]["st.requests"] == sum(
        line.get("st.requests", 0) for line in counted["lines"]
    )
    assert counted["lines"] and counted["chip"] == "NVIDIA H200"
    assert not counted["fidelity"]["approximate"]


def test_the_command_predicts_for_another_chip(faulty):
    _, _, (counted,) = faulty("profile", "--json", "found.jsonl", "--chip", "h100", "faulty.py")
    assert "H100" in counted["chip"]
    code, said, _ = faulty("profile", "--chip", "a100", "faulty.py")
    assert code == 2, said
    assert {"a100", "h100", "h200"} <= set(re.findall(r"\w+", said))


@pytest.mark.parametrize(
    "words, says",
    [
        (["run", "--json", "found.jsonl"], "--json"),
        (["profile", "--json", "no/such/folder"], "no/such/folder"),
    ],
)
def test_what_json_cannot_do_is_said(faulty, words, says):
    code, said, _ = faulty(*words, "faulty.py")
    assert code == 2 and says in said and "Traceback" not in said


def run_python(program):
    program = "import softgpu\nsoftgpu.install()\n" + program
    done = python("-W", "ignore", "-c", program)
    assert not done.returncode, done.stderr


@pytest.mark.slow
def test_the_compiler_leaves_ptx_where_machine_code_is_asked_for():
    need("cuda_core")
    run_python("""
from cuda.core import Linker, ObjectCode, Program, ProgramOptions
options = ProgramOptions(arch="sm_90", relocatable_device_code=True)
code = Program('extern "C" __global__ void kernel() {}', "c++", options).compile("cubin").code
assert b".visible .entry kernel" in code, code
assert Linker.which_backend() == "driver"
""")


@pytest.mark.slow
def test_the_driver_answers_what_cuda_core_asks_of_the_runtime():
    need("cuda_core")
    run_python("""
from cuda.bindings import runtime
from cuda.core import Device
assert runtime.cudaGetDeviceCount() == (runtime.cudaError_t.cudaSuccess, 1)
assert runtime.cudaDeviceGetPCIBusId(13, 1) == (runtime.cudaError_t.cudaErrorInvalidDevice, None)
device = Device()
device.set_current()
device.sync()
assert device.pci_bus_id == "0000:00:00.0"
""")
