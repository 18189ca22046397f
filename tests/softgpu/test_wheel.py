"""softgpu as others install it: one wheel, into an empty environment, where nothing is compiled."""

import os
import platform
import runpy
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import ROOT

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
PTX = runpy.run_path(str(ROOT / "docs/example/test_driver.py"))["PTX"]
ALONE = ["--quiet", "--no-index", "--no-deps"]


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
    (site / "lab.pth").write_text(sysconfig.get_path("purelib"))
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
        left_out = {"softgpu/LICENSE", "softgpu/README.md", "softgpu/pyproject.toml"}
        ours = {
            name
            for name in tracked
            if name not in left_out and not name.startswith(("softgpu/packaging/",))
            if not name.endswith(".csv")
        }
        with zipfile.ZipFile(wheel) as archive:
            packed = {name for name in archive.namelist() if name.startswith("softgpu/")}
        made = {name for name in packed - ours if name.endswith((".so", ".so.1"))}
        assert packed - made == ours
        assert sorted(Path(name).parent.name for name in made) == ["clients", "driver"]

    def test_it_knows_nothing_of_the_course(self, installed):
        code = (
            "import sys; sys.modules['helpers'] = None; from softgpu import xray; "
            "print(xray.__file__, 'matplotlib' in sys.modules)"
        )
        said = run(installed.python, "-c", code, env=installed.environment, cwd=installed.folder)
        assert said == f"{installed.site}/softgpu/xray/__init__.py False\n"

    def test_the_command_is_there(self, installed):
        command = installed.python.with_name("softgpu")
        assert run(command, "--version", env=installed.environment).startswith("softgpu ")
        (installed.folder / "kernel.ptx").write_bytes(PTX)
        shown = ["show", installed.folder / "kernel.ptx", "numbers", "blocks"]
        assert "==== blocks" in run(command, *shown, env=installed.environment)
        for program in ("bin/nvcc", "headers/gcc"):
            assert os.access(installed.site / "softgpu" / program, os.X_OK)

    @pytest.mark.parametrize("way", ["--softgpu", "--softgpu=sanitize"])
    def test_the_example_passes_without_a_compiler_and_writes_into_the_users_cache(
        self, installed, way
    ):
        before = files_of(installed.site)
        shutil.copy(ROOT / "docs/example/test_driver.py", installed.folder)
        said = run(
            installed.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval",
            "test_driver.py", way, cwd=installed.folder, env=installed.environment,
        )  # fmt: skip
        assert "1 passed" in said
        assert files_of(installed.site) == before
        assert any((installed.folder / "cache/softgpu").iterdir())
