"""What to run on and what to compile with."""

import pytest

from helpers import choice
from softgpu.tests import python
from softgpu.tests.facts import refused


@pytest.fixture(autouse=True)
def nothing_is_asked_for(monkeypatch):
    for name in ("HELPERS_TOOLKIT", "HELPERS_DEVICE"):
        monkeypatch.delenv(name, raising=False)


def test_toolkit_can_be_named(fake_nvcc, monkeypatch):
    machine, wheel = fake_nvcc(13, 1), fake_nvcc(13, 0, wheel=True)
    monkeypatch.setattr(choice, "gpu_driver_version", lambda: None)
    monkeypatch.setenv("HELPERS_TOOLKIT", "machine")
    assert choice.choose(fake_nvcc.wheels)[1].nvcc == machine
    monkeypatch.setenv("HELPERS_TOOLKIT", "wheel")
    assert choice.choose(fake_nvcc.wheels)[1].nvcc == wheel
    monkeypatch.setenv("HELPERS_TOOLKIT", "weel")
    with refused(choice.SettingError, "HELPERS_TOOLKIT=weel", "machine", "wheel"):
        choice.choose(fake_nvcc.wheels)


def test_without_a_compiler_it_says_what_installs_one(fake_nvcc, monkeypatch):
    monkeypatch.setattr(choice, "gpu_driver_version", lambda: None)
    with refused(choice.ToolkitError, "CUDA", "`make lab`"):
        choice.choose(wheels=())


def test_device_is_chosen(fake_nvcc, monkeypatch):
    nvcc = fake_nvcc(13, 0)
    for driver, asked, expected in [
        ((13, 0), "", (13, 0)),
        ((13, 0), "software", None),
        ((13, 0), "gpu", (13, 0)),
        ((12, 8), "", None),
        (None, "", None),
    ]:
        monkeypatch.setattr(choice, "gpu_driver_version", lambda driver=driver: driver)
        monkeypatch.setenv("HELPERS_DEVICE", asked)
        found, compiler = choice.choose()
        assert (found, compiler.nvcc) == (expected, nvcc)
    monkeypatch.setattr(choice, "gpu_driver_version", lambda: None)
    for asked, fact in [("gpu", "NVIDIA"), ("cpu", "software")]:
        monkeypatch.setenv("HELPERS_DEVICE", asked)
        with refused(choice.SettingError, f"HELPERS_DEVICE={asked}", fact):
            choice.choose()


def test_the_software_gpu_is_no_gpu_where_it_is_installed_already():
    """Else its kernels would be compiled to machine code, and be kept so in its cache."""
    program = """
import softgpu
softgpu.install()
import pycuda.autoinit
from helpers import autoinit, sources
print(autoinit.is_software, sources.kernel("__global__ void f(int *x) { *x = 1; }").name)
"""
    done = python("-c", program)
    assert done.stdout == "True f\n", done.stdout + done.stderr
