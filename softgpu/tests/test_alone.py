"""The software GPU without the course: PyCUDA, nvcc and nothing else."""

import os
import re
import subprocess
import sys

import pytest

from softgpu.tests import PACKAGE, ROOT, python, sources
from softgpu.tests.facts import missing

PROGRAM = """
import sys
sys.modules["helpers"] = None  # importing it fails
import softgpu
softgpu.install(threads=1)

import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
twice = module.get_function("twice")
x = gpuarray.to_gpu(np.arange(32, dtype=np.float32))
twice(x, block=(32, 1, 1), grid=(1, 1))
print(pycuda.autoinit.device.name(), x.get().sum())
"""


def run(folder, path):
    environment = {"PATH": path, "PYTHONPATH": str(ROOT), "SOFTGPU_CACHE": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=folder,
        env={"HOME": os.environ.get("HOME", "/"), **environment},
    )  # fmt: skip


def test_a_program_of_pycuda_runs(tmp_path):
    """With the compiler that it finds, though no nvcc is on PATH."""
    done = run(tmp_path, "/usr/bin:/bin")
    assert re.fullmatch(r"Software GPU.* 992.0\n", done.stdout), done.stdout + done.stderr


def test_it_does_not_stand_beside_a_driver_that_pycuda_has_taken():
    program = """
import sys
import softgpu
sys.modules["pycuda._driver"] = None  # as after an import with NVIDIA's driver
try:
    softgpu.install()
except RuntimeError as error:
    print(error)
"""
    done = python("-c", program)
    assert not missing(done.stdout, "PyCUDA", "softgpu.install()")


def imports_the_course(path):
    return re.search(r"^\s*(import|from) (helpers|tests)\b", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", sources(".py"), ids=lambda p: p.stem)
def test_nothing_in_it_imports_the_course(path):
    assert not imports_the_course(path)


def test_tests_import_the_course_only_where_they_measure_its_kernels():
    for path in (PACKAGE / "tests").rglob("*.py"):
        assert "xray" in path.parts or not imports_the_course(path), path
