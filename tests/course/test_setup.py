"""The set-up: its pins agree, it chooses the right compiler, and says what a machine lacks."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from helpers import toolkit
from softgpu import settings
from tests import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = {
    requirement.name: str(requirement.specifier)
    for line in [*PROJECT["dependencies"], *sum(PROJECT["optional-dependencies"].values(), [])]
    for requirement in [Requirement(line)]
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
    needed = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert needed | {"pycuda"} <= pins.keys()
    assert {"pip": ["-e ."]} in listed


def test_jupyterlab_finds_the_extension_under_its_name():
    folder = ROOT / "helpers/labextension"
    package = json.loads((folder / "package.json").read_text())
    build = package["jupyterlab"]["_build"]
    assert f'window._JUPYTERLAB["{package["name"]}"] =' in (folder / build["load"]).read_text()
    assert f'labextensions/{package["name"]}"' in (ROOT / "scripts/setup.py").read_text()


def test_pythons_are_the_same_everywhere(setup_script):
    supported = SpecifierSet(PROJECT["requires-python"])
    tried = [f"3.{minor}" for minor in range(6, 20)]
    assert [version for version in tried if version in supported] == PYTHONS
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    job = workflow["jobs"]["test"]
    assert job["strategy"]["matrix"]["python"] == PYTHONS
    assert job["steps"][-1] == {"run": "make test"}
    assert (ROOT / ".ci/run").read_text().splitlines()[1:] == ["exec make test"]
    first, last = (f"3.{version[1]}" for version in setup_script.PYTHONS)
    assert (first, last) == (PYTHONS[0], PYTHONS[-1])
    assert "==" + setup_script.PYCUDA == PINS["pycuda"]


@pytest.mark.parametrize("version", [(3, 9, 2), (3, 14, 0)])
def test_other_pythons_are_refused_in_one_line(version):
    script = str(ROOT / "scripts/setup.py")
    pretend = f"import sys, runpy; sys.version_info = {version}; sys.argv = [{script!r}]; "
    done = subprocess.run(
        [sys.executable, "-c", pretend + f"runpy.run_path({script!r}, run_name='__main__')"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "needs Python 3.10 to 3.13" in line


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
    with pytest.raises(setup_script.SetupError, match="mv .venv .venv.old"):
        setup_script.make_environment()


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
    assert f"`make lab` in {ROOT}" in error and f"{ROOT}/.venv/bin/python" in error


def test_xray_may_be_the_first_import():
    assert python("from helpers import xray; from pycuda import gpuarray; print('ok')") == "ok\n"


@pytest.mark.parametrize("setting", ["SOFTGPU_THREADS=all", "SOFTGPU_TIMEOUT=1m"])
def test_a_setting_that_is_no_number_is_named(setting):
    environment = dict([setting.split("=")])
    error = python("from helpers import autoinit", HELPERS_DEVICE="software", **environment)
    assert f"the environment variable {setting}: expected a" in error.splitlines()[-1]


@pytest.mark.parametrize("text", ["0", "-3", "257", "1.5", "nan", "inf", "two"])
def test_threads_are_a_whole_number_that_can_be_had(text, monkeypatch):
    monkeypatch.setenv("SOFTGPU_THREADS", text)
    with pytest.raises(ValueError, match=f"SOFTGPU_THREADS={text}: .* whole number from 1 to 256"):
        settings.threads()


@pytest.mark.parametrize("text", ["0", "-3", "nan", "inf", "1e300", "soon"])
def test_a_time_limit_is_a_time(text, monkeypatch):
    monkeypatch.setenv("SOFTGPU_TIMEOUT", text)
    with pytest.raises(ValueError, match=f"SOFTGPU_TIMEOUT={text}: .* seconds above 0, at most"):
        settings.timeout_s()


def test_what_is_not_set_has_a_default(monkeypatch):
    for name in ("SOFTGPU_THREADS", "SOFTGPU_TIMEOUT", "SOFTGPU_CACHE_MB"):
        monkeypatch.setenv(name, "")
    assert (settings.threads(), settings.timeout_s()) == (0, 300)
    assert settings.cache_bytes() == 1 << 30


FAKE_NVCC = """\
#!/bin/sh
cat >&2 <<END
#$ PATH={root}/bin:/usr/bin
#$ INCLUDES="-I{root}/include"
#$ SYSTEM_INCLUDES="-isystem" "{root}/include/cccl"
#$ gcc -E -D__CUDACC_VER_MAJOR__={major} -D__CUDACC_VER_MINOR__={minor} -D__CUDACC_VER_BUILD__=1
END
"""


@pytest.fixture
def fake_nvcc(tmp_path, monkeypatch):
    """Makes toolkits that look real; only those are found, in the order in which they are made."""
    monkeypatch.setattr(toolkit, "glob", lambda pattern: [])
    monkeypatch.setattr(toolkit.os, "get_exec_path", lambda: folders)
    for name in ("CUDA_HOME", "CUDA_PATH", "HELPERS_TOOLKIT", "HELPERS_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    folders = []
    real = toolkit.inspect
    below = str(tmp_path)
    monkeypatch.setattr(
        toolkit, "inspect", lambda nvcc, origin: real(nvcc, origin) if below in nvcc else None
    )

    def make(major, minor, without=(), wheel=False, place=None):
        root = tmp_path / (place or f"a toolkit {major}.{minor}")
        if wheel:
            root = tmp_path / "nvidia/cu13"
        else:
            folders.append(str(root / "bin"))
        files = [*(f"include/{name}" for name in toolkit.NEEDED)]
        files += [f"bin/{name}" for name in ("nvcc", "cicc", "ptxas", "cudafe++")]
        for name in set(files) - set(without):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(FAKE_NVCC.format(root=root, major=major, minor=minor))
            path.chmod(0o755)
        return str(root / "bin/nvcc")

    make.wheels = [below]
    return make


def test_software_gpu_takes_cuda_13_of_the_machine(fake_nvcc):
    fake_nvcc(12, 4)
    expected = fake_nvcc(13, 1)
    fake_nvcc(13, 0, wheel=True)
    found = toolkit.find_toolkit(None, fake_nvcc.wheels)
    assert (found.nvcc, found.version, found.origin) == (expected, (13, 1), "machine")
    root = expected.removesuffix("/bin/nvcc")
    assert found.include == (root + "/include", root + "/include/cccl")


def test_software_gpu_prefers_wheels_to_cuda_12(fake_nvcc):
    fake_nvcc(12, 4)
    expected = fake_nvcc(13, 0, wheel=True)
    assert toolkit.find_toolkit(None, fake_nvcc.wheels).nvcc == expected


@pytest.mark.parametrize("inner", ["nvidia/cu13", "softgpu"])
def test_what_a_parent_process_put_on_path_is_not_the_machines(fake_nvcc, inner):
    hidden = fake_nvcc(13, 1, place=inner)
    assert os.access(hidden, os.X_OK)
    expected = fake_nvcc(13, 0)
    assert toolkit.find_toolkit(None, wheels=()).nvcc == expected


def test_gpu_takes_what_its_driver_can_load(fake_nvcc):
    fake_nvcc(13, 1)
    expected = fake_nvcc(12, 4)
    fake_nvcc(13, 0, wheel=True)
    assert toolkit.find_toolkit((12, 8), fake_nvcc.wheels).nvcc == expected


def test_old_driver_without_its_toolkit_is_a_clear_error(fake_nvcc):
    fake_nvcc(13, 0, wheel=True)
    with pytest.raises(toolkit.ToolkitError, match=r"driver of CUDA 12\.8"):
        toolkit.find_toolkit((12, 8), fake_nvcc.wheels)


@pytest.mark.parametrize("part", ["include/cub/cub.cuh", "include/cudaProfiler.h", "bin/ptxas"])
def test_incomplete_toolkit_is_passed_over(fake_nvcc, part):
    fake_nvcc(13, 1, without=[part])
    expected = fake_nvcc(13, 0, wheel=True)
    assert toolkit.find_toolkit(None, fake_nvcc.wheels).nvcc == expected


def test_toolkit_can_be_named(fake_nvcc, monkeypatch):
    machine, wheel = fake_nvcc(13, 1), fake_nvcc(13, 0, wheel=True)
    monkeypatch.setenv("HELPERS_TOOLKIT", "machine")
    assert toolkit.find_toolkit(None, fake_nvcc.wheels).nvcc == machine
    monkeypatch.setenv("HELPERS_TOOLKIT", "wheel")
    assert toolkit.find_toolkit(None, fake_nvcc.wheels).nvcc == wheel
    monkeypatch.setenv("HELPERS_TOOLKIT", "weel")
    with pytest.raises(toolkit.SettingError, match="expected machine or wheel"):
        toolkit.find_toolkit(None, fake_nvcc.wheels)


def test_device_is_chosen(fake_nvcc, monkeypatch):
    nvcc = fake_nvcc(13, 0)
    for driver, asked, expected in [
        ((13, 0), "", (13, 0)),
        ((13, 0), "software", None),
        ((13, 0), "gpu", (13, 0)),
        ((12, 8), "", None),
        (None, "", None),
    ]:
        monkeypatch.setattr(toolkit, "gpu_driver_version", lambda driver=driver: driver)
        monkeypatch.setenv("HELPERS_DEVICE", asked)
        found, compiler = toolkit.choose()
        assert (found, compiler.nvcc) == (expected, nvcc)
    monkeypatch.setattr(toolkit, "gpu_driver_version", lambda: None)
    for asked, complaint in [("gpu", "no working NVIDIA driver"), ("cpu", "expected gpu or soft")]:
        monkeypatch.setenv("HELPERS_DEVICE", asked)
        with pytest.raises(toolkit.SettingError, match=complaint):
            toolkit.choose()


def test_compiler_works_when_only_the_lab_has_it(tmp_path, monkeypatch):
    """nvcc and ptxas of the chosen toolkit with nothing but the system's folders on PATH."""
    monkeypatch.delenv("HELPERS_DEVICE", raising=False)
    _, chosen = toolkit.choose()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    toolkit.use(chosen)
    assert os.environ["PATH"].startswith(os.path.dirname(chosen.nvcc))
    folder = tmp_path / "with a space"
    folder.mkdir()
    source = folder / "kernel.cu"
    source.write_text(
        "#include <cub/block/block_reduce.cuh>\n"
        "#include <cuda_fp16.h>\n"
        "__global__ void total(float *x) {\n"
        "    using Block = cub::BlockReduce<float, 64>;\n"
        "    __shared__ Block::TempStorage shared;\n"
        "    float sum = Block(shared).Sum(x[threadIdx.x]);\n"
        "    if (threadIdx.x == 0) x[0] = sum;\n"
        "}\n"
    )
    ptx = folder / "kernel.ptx"
    subprocess.run(["nvcc", "--ptx", "-arch=sm_90", "-o", ptx, source], check=True)
    assert "total" in ptx.read_text()
    subprocess.run(["ptxas", "-arch=sm_90", "-o", folder / "kernel.cubin", ptx], check=True)
