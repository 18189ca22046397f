"""softgpu as others install it: one wheel, into an empty environment, where nothing is compiled."""

import os
import platform
import runpy
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from softgpu.tests import ROOT

pytestmark = pytest.mark.slow

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
PTX = runpy.run_path(str(ROOT / "docs/example/test_driver.py"))["PTX"]
ALONE = ["--quiet", "--no-index", "--no-deps"]

XRAY = """
import softgpu, sys
sys.modules["helpers"] = None
softgpu.install()
import numpy as np, pycuda.autoinit
from pycuda import gpuarray
from softgpu import xray
assert "matplotlib" not in sys.modules and xray.__file__.startswith(sys.prefix)
SOURCE = "__global__ void scale(float *x, int n) { if (threadIdx.x <= n) x[threadIdx.x] *= 2; }"
x = gpuarray.to_gpu(np.ones(63, np.float32))
scale = (SOURCE, "scale"), x, np.int32(x.size)
found = xray.sanitize(*scale, grid=1, block=64, debug=True)
assert {f.kind for f in found} == {"out of bounds"}, found
report = xray.profile(*scale, grid=1, block=32)
assert report.total["ld.requests"] == 1 and report.predicted_us > 0, report
assert (x.get() == 1).all()
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_of(folder):
    """{file: its content}, without what Python makes of its own accord."""
    paths = [path for path in folder.rglob("*") if "__pycache__" not in path.parts]
    return {path: path.read_bytes() for path in paths if path.is_file()}


@pytest.fixture(scope="class")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(*PIP, "wheel", *ALONE, "--no-build-isolation", "-w", folder, ROOT / "softgpu")
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="class")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel and, from the lab's, what it and pytest need; no compiler."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv/bin/python"
    run(*PIP, "--python", python, "install", *ALONE, "--no-compile", wheel)
    (site,) = folder.glob("venv/lib/python3*/site-packages")
    ours = (place for place in sys.path if place.endswith("packages"))  # a machine may have several
    (site / "lab.pth").write_text("\n".join(ours))
    environment = {
        "PATH": str(python.parent),
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return SimpleNamespace(python=python, site=site, folder=folder, environment=environment)


class TestWheel:  # made once: a class stays in one process
    def test_it_runs_on_every_python_and_on_machines_as_old_as_its_dependencies(self, wheel):
        assert wheel.name.endswith(f"-py3-none-manylinux_2_28_{platform.machine()}.whl")

    def test_it_has_all_of_the_package_and_nothing_else(self, wheel):
        tracked = run("git", "ls-files", "softgpu", cwd=ROOT).splitlines()
        names = "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "pyproject.toml"
        left_out = {f"softgpu/{name}" for name in names}
        ours = {
            name
            for name in tracked
            if name not in left_out
            if not name.startswith(("softgpu/docs/", "softgpu/packaging/", "softgpu/tests/"))
            if not name.endswith(".csv")
        }
        with zipfile.ZipFile(wheel) as archive:
            packed = {name for name in archive.namelist() if name.startswith("softgpu/")}
        made = {name for name in packed - ours if name.endswith((".so", ".so.1"))}
        assert packed - made == ours
        assert sorted(Path(name).parent.name for name in made) == ["clients", "driver", "driver"]

    def test_xray_compiles_a_text_for_pycuda_and_needs_no_course(self, installed):
        environment = installed.environment | {"PATH": os.environ["PATH"]}
        run(installed.python, "-c", XRAY, env=environment, cwd=installed.folder)

    def test_the_command_is_there(self, installed):
        command = installed.python.with_name("softgpu")
        assert run(command, "--version", env=installed.environment).startswith("softgpu ")
        (installed.folder / "kernel.ptx").write_bytes(PTX)
        shown = ["show", installed.folder / "kernel.ptx", "numbers", "blocks"]
        assert "==== blocks" in run(command, *shown, env=installed.environment)
        for program in ("bin/nvcc", "headers/gcc"):
            assert os.access(installed.site / "softgpu" / program, os.X_OK)

    def test_the_example_passes_without_a_compiler_and_writes_into_the_users_cache(self, installed):
        before = files_of(installed.site)
        shutil.copy(ROOT / "docs/example/test_driver.py", installed.folder)
        said = run(
            installed.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval",
            "test_driver.py", "--softgpu", cwd=installed.folder, env=installed.environment,
        )  # fmt: skip
        assert "1 passed" in said
        assert files_of(installed.site) == before
        assert any((installed.folder / "cache/softgpu").iterdir())
