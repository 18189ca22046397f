"""The set-up: its pins agree, it chooses the right compiler, and says what a machine lacks."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib

import nbformat
import pytest
import yaml
from nbclient import NotebookClient
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from helpers import autoinit
from softgpu import settings
from softgpu.tests.facts import missing, refused
from tests import ROOT

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = [pins for name, pins in PROJECT["optional-dependencies"].items() if name != "clients"]
OURS = "softgpu"
PINS = {  # of the lab, which needs no other client of the software GPU than PyCUDA
    requirement.name: str(requirement.specifier)
    for line in [*PROJECT["dependencies"], *sum(EXTRAS, [])]
    for requirement in [Requirement(line)]
    if requirement.name != OURS
}


@pytest.fixture
def setup_script():
    spec = importlib.util.spec_from_file_location("lab_setup", ROOT / "scripts/setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def locked(python):
    """Name -> version of what the lock installs for a Python version."""
    environment = {"python_full_version": python + ".5", "python_version": python}
    found = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if line.startswith("#"):
            continue
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate(environment):
            continue
        assert requirement.name not in found, f"{requirement.name} twice for Python {python}"
        assert re.fullmatch(r"==[^*]+", str(requirement.specifier)), line
        found[requirement.name] = str(requirement.specifier)
    return found


@pytest.mark.parametrize("python", PYTHONS)
def test_lock_holds_every_pin(python):
    built_here = {"pycuda"}
    assert {name: PINS[name] for name in PINS.keys() - built_here}.items() <= locked(python).items()


def test_conda_pins_are_the_same():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = dict(line.split("=") for line in listed if isinstance(line, str) and "=" in line)
    assert pins.pop("python") in PYTHONS
    assert {name: "==" + pin for name, pin in pins.items()}.items() <= PINS.items()
    only_wheels = {OURS, "scipy-openblas64"}  # of which "pip -e ." takes what is pinned
    needed = {Requirement(line).name for line in PROJECT["dependencies"]} - only_wheels
    assert needed | {"pycuda"} <= pins.keys()
    assert {"pip": ["-e ./softgpu", "-e ."]} in listed


def test_what_the_lab_runs_is_what_softgpu_allows():
    softgpu = tomllib.loads((ROOT / "softgpu/pyproject.toml").read_text())["project"]
    assert softgpu["name"] == OURS
    assert softgpu["requires-python"] == PROJECT["requires-python"]
    extras = softgpu["optional-dependencies"]
    for large in ("libraries", "tiles"):  # hundreds of megabytes: the lab goes without
        del extras[large]
    allowed = softgpu["dependencies"], *extras.values()
    exact = PINS | {
        Requirement(line).name: str(Requirement(line).specifier)
        for line in PROJECT["optional-dependencies"]["clients"]
    }
    for requirement in map(Requirement, sum(allowed, [])):
        version = exact[requirement.name].removeprefix("==")
        assert version in requirement.specifier, requirement


def test_jupyterlab_finds_the_extension_under_its_name():
    folder = ROOT / "helpers/labextension"
    package = json.loads((folder / "package.json").read_text())
    build = package["jupyterlab"]["_build"]
    assert f'window._JUPYTERLAB["{package["name"]}"] =' in (folder / build["load"]).read_text()
    assert f'labextensions/{package["name"]}"' in (ROOT / "scripts/setup.py").read_text()


@pytest.mark.skipif(not autoinit.is_software, reason="a machine with a driver has libcuda.so.1")
def test_who_skips_the_first_cell_is_told_to_run_it():
    sources = [
        *("from pycuda import gpuarray", "%%kernel\n__global__ void f() {}", "exercises.judge"),
        *("import nowhere", "nothing", "print(*dir())"),
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=100, kernel_name="python3", allow_errors=True).execute()
    skipped, *early, other, unknown, names = ((cell.outputs or [None])[0] for cell in cells)
    (line,) = skipped.traceback
    assert not missing(line, "ImportError", "`from helpers import autoinit`")
    for cell, what in zip(early, ("%%kernel", "exercises")):
        said = cell.text if cell.output_type == "stream" else cell.traceback[-1]
        assert re.search(rf"Error: {what} ", said) and "Traceback" not in said
    assert "name 'nothing' is not defined" in unknown.traceback[-1]
    assert "No module named 'nowhere'" in other.traceback[-1]
    assert "_start" not in names.text.split() and "told" not in names.text.split()


def test_pythons_are_the_same_everywhere(setup_script):
    supported = SpecifierSet(PROJECT["requires-python"])
    tried = [f"3.{minor}" for minor in range(6, 20)]
    assert [version for version in tried if version in supported] == PYTHONS
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    job = workflow["jobs"]["test"]
    matrix = job["strategy"]["matrix"]
    assert sorted([*matrix["python"], *(one["python"] for one in matrix["include"])]) == PYTHONS
    assert matrix["run"] == ["make portable"]
    assert [one["run"] for one in matrix["include"]] == ["make test-all"]
    assert (ROOT / ".ci/run").read_text().splitlines()[1:] == ["exec make test-all"]
    first, last = (f"3.{version[1]}" for version in setup_script.PYTHONS)
    assert (first, last) == (PYTHONS[0], PYTHONS[-1])
    assert "==" + setup_script.PYCUDA == PINS["pycuda"]


@pytest.mark.parametrize("version", [(3, 10, 2), (3, 15, 0)])
def test_other_pythons_are_refused_in_one_line(version):
    script = str(ROOT / "scripts/setup.py")
    pretend = f"import sys, runpy; sys.version_info = {version}; sys.argv = [{script!r}]; "
    done = subprocess.run(
        [sys.executable, "-c", pretend + f"runpy.run_path({script!r}, run_name='__main__')"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert not missing(line, "Python 3.11", 3.14)


def test_old_pythons_can_read_the_script():
    ast.parse((ROOT / "scripts/setup.py").read_text(), feature_version=(3, 7))


def test_what_the_machine_lacks_is_one_line(setup_script, monkeypatch):
    python = "python{}.{}".format(*sys.version_info)
    monkeypatch.setattr(setup_script.shutil, "which", lambda name: None)
    monkeypatch.setattr(setup_script.sysconfig, "get_path", lambda name: "/nowhere")
    monkeypatch.setattr(setup_script.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(setup_script.SetupError) as caught:
        setup_script.check_machine()
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.endswith(f"sudo apt install g++ {python}-dev {python}-venv")


def test_a_stranger_in_the_labs_place_is_moved_by_hand(setup_script, monkeypatch, tmp_path):
    monkeypatch.setattr(setup_script, "VENV", tmp_path)
    monkeypatch.setattr(setup_script, "STAMPS", tmp_path / ".lab")
    (tmp_path / "pyvenv.cfg").touch()
    with refused(setup_script.SetupError, "mv .venv .venv.old"):
        setup_script.make_environment()


@pytest.fixture
def logs(setup_script, monkeypatch, tmp_path):
    monkeypatch.setattr(setup_script, "LOG", tmp_path / "setup.log")
    return tmp_path


def test_what_goes_wrong_beside_another_step_is_told_from_its_own_log(setup_script, logs):
    ours = "import sys; print('ours'); sys.exit(1)"
    with refused(setup_script.SetupError, "its.log", "ours"):
        with setup_script.beside("Ours", logs / "its.log", sys.executable, "-c", ours):
            setup_script.run(sys.executable, "-c", "print('another')")
    assert "another" in (logs / "setup.log").read_text()


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError])
def test_what_runs_beside_a_step_that_stops_is_stopped(setup_script, logs, problem):
    waits = "import time; time.sleep(600)"
    with pytest.raises(problem):
        with setup_script.beside("Ours", logs / "its.log", sys.executable, "-c", waits):
            raise problem
    lines = (logs / "its.log").read_text().splitlines()
    assert lines == ["", f"$ {sys.executable} -c {waits}"]


def test_pycuda_is_compiled_as_two_sources_that_have_all(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.chdir(tmp_path)
    from build_pycuda import as_two

    largest = "src/wrapper/wrap_cudadrv.cpp"
    assert as_two(["a.cpp", largest, "b/c.cpp"]) == [largest, "rest.cpp"]
    included = (tmp_path / "rest.cpp").read_text().splitlines()
    assert included == ['#include "a.cpp"', '#include "b/c.cpp"']
    assert as_two(["another.cpp"]) == ["another.cpp"]


def python(code, **environment):
    """What a script prints that has the helpers, and the error it ends with."""
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_a_python_without_pycuda_is_told_which_has_it():
    hidden = "import importlib.util as util; util.find_spec = lambda name: None"
    error = python(f"{hidden}; import helpers.autoinit")
    assert not missing(error, "`make lab`", ROOT, f"{ROOT}/.venv/bin/python")


def test_xray_may_be_the_first_import():
    assert python("from helpers import xray; from pycuda import gpuarray; print('ok')") == "ok\n"


def test_xray_loads_matplotlib_when_it_draws():
    look = "; import sys; print('matplotlib' in sys.modules)"
    assert python("from helpers import xray" + look) == "False\n"
    assert python("from helpers.xray import draw_limits, draw_steps" + look) == "True\n"
    assert not missing(python("from helpers import xray; xray.draw()"), "'draw'", "compare")
    assert (
        python("from helpers import xray; print(set(xray.__all__) - set(dir(xray)))") == "set()\n"
    )


@pytest.mark.parametrize("setting", ["SOFTGPU_THREADS=all", "SOFTGPU_TIMEOUT=1m"])
def test_a_setting_that_is_no_number_is_named(setting):
    environment = dict([setting.split("=")])
    error = python("from helpers import autoinit", HELPERS_DEVICE="software", **environment)
    assert not missing(error.splitlines()[-1], setting)


@pytest.mark.parametrize("text", ["0", "-3", "257", "1.5", "nan", "inf", "two"])
def test_threads_are_a_whole_number_that_can_be_had(text, monkeypatch):
    monkeypatch.setenv("SOFTGPU_THREADS", text)
    with refused(ValueError, f"SOFTGPU_THREADS={text}", 1, 256):
        settings.threads()


@pytest.mark.parametrize("text", ["0", "-3", "nan", "inf", "1e300", "soon"])
def test_a_time_limit_is_a_time(text, monkeypatch):
    monkeypatch.setenv("SOFTGPU_TIMEOUT", text)
    with refused(ValueError, f"SOFTGPU_TIMEOUT={text}", 0):
        settings.timeout_s()


def test_what_is_not_set_has_a_default(monkeypatch):
    for name in ("SOFTGPU_THREADS", "SOFTGPU_TIMEOUT", "SOFTGPU_CACHE_MB"):
        monkeypatch.setenv(name, "")
    assert (settings.threads(), settings.timeout_s()) == (0, 300)
    assert settings.cache_bytes() == 1 << 30
