"""What docs/debugging.md promises."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from softgpu import build
from softgpu.tests import PACKAGE, ROOT, sources

PAGE = (ROOT / "docs/debugging.md").read_text()
SCALE = """
__global__ void scale(float *x) { x[threadIdx.x] *= 2; }
int main() { float *x; cudaMalloc(&x, 128); scale<<<1, 32>>>(x); return cudaDeviceSynchronize(); }
"""
INTERNAL = {"SOFTGPU_NVCC", "SOFTGPU_PYTHON", "SOFTGPU_HEADERS_CACHE"}  # install() sets them
MACROS = {"SOFTGPU_ROOM"}


def test_each_variable_is_explained():
    files = [*sources(".py", ".c"), PACKAGE / "bin/nvcc"]
    read = {name for path in files for name in re.findall(r"SOFTGPU_[A-Z_]+", path.read_text())}
    table = re.findall(
        r"^\| `(SOFTGPU_\w+)` \|", (ROOT / "docs/experiments.md").read_text(), re.MULTILINE
    )
    assert read - INTERNAL - MACROS == {*table, "SOFTGPU_BUILD"}
    assert {*re.findall(r"SOFTGPU_[A-Z_]+", PAGE)} <= read


def test_each_build_of_the_driver_is_explained():
    pages = PAGE + (ROOT / "softgpu/tests/README.md").read_text()
    assert all(kind in pages for kind in build.KINDS)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
def test_gdb_stops_in_a_kernel_as_the_page_says(tmp_path):
    """The commands are the page's."""
    (tmp_path / "scale.cu").write_text(SCALE)
    gdb = [word for line in re.findall(r"^    \(gdb\) (.*)$", PAGE, re.M) for word in ("-ex", line)]
    program = [sys.executable, "-m", "softgpu", "run", "scale.cu"]
    own = {"PYTHONPATH": str(ROOT), "SOFTGPU_THREADS": "1", "SOFTGPU_BUILD": "debug"}
    text = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", *gdb, "--args", *program],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **own},
    ).stdout  # fmt: skip
    assert re.search(r"Breakpoint 1, .* in ptx\._Z5scalePf \(\)", text, re.DOTALL), text
    assert re.search(r"#\d+ .* fiber_start .* at .*fiber\.c:\d+", text)
    assert text.count("<ptx._Z5scalePf") == 8
