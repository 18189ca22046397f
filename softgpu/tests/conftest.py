"""What tests of several rooms use, and the course's."""

import os
import sys
from contextlib import nullcontext

import pytest

from softgpu import toolkit

# The processes of a test share the cores, but blocks run side by side in each. With 16 threads for
# each of 14, launches whose blocks wait for each other would last longer than a judge waits.
if PROCESSES := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 0)):
    os.environ.setdefault("SOFTGPU_THREADS", str(max((os.cpu_count() or 2) // PROCESSES, 2)))

FAKE_NVCC = """\
#!/bin/sh
cat >&2 <<END
#$ PATH={root}/bin:/usr/bin
#$ INCLUDES="-I{root}/include"
#$ SYSTEM_INCLUDES="-isystem" "{root}/include/cccl"
#$ gcc -E -D__CUDACC_VER_MAJOR__={major} -D__CUDACC_VER_MINOR__={minor} -D__CUDACC_VER_BUILD__=1
END
"""


def pytest_collection_finish(session):
    if runner := sys.modules.get("softgpu.tests.conformance.runner"):
        params = [item.callspec.params for item in session.items if hasattr(item, "callspec")]
        runner.only(given["name"] for given in params if isinstance(given.get("name"), str))


@pytest.fixture(scope="module")
def in_full():
    """For tests of the machine code itself: LLVM optimises all of it."""
    with _tier("full"):
        yield


@pytest.fixture(scope="module")
def in_quick():
    """For tests of many kernels' answers, launched a few times each: LLVM optimises none."""
    with _tier("quick"):
        yield


@pytest.fixture
def watched():
    """For tests on the software GPU: a launch that does something wrong fails."""
    from softgpu.loader import Engine
    from softgpu.tests import autoinit  # not above: tests of the driver alone load one of their own

    if not autoinit.is_software:
        pytest.skip("the software GPU watches launches")
    Engine.as_driver().sanitize_launches()
    yield
    Engine.as_driver().sanitize_launches(False)


def _tier(name):
    from softgpu.loader import Engine
    from softgpu.tests import autoinit  # not above: tests of the driver alone load one of their own

    return Engine.as_driver().tier(name) if autoinit.is_software else nullcontext()


@pytest.fixture
def axes_of(monkeypatch):
    """A function that gives the axes, and the alternative text, of what a plot draws."""
    from softgpu.xray import figures  # not above: matplotlib loads for as long as some tests take

    monkeypatch.setattr(figures, "Picture", lambda figure, alt, shades: (figure.axes[0], alt))
    return lambda plot, *arguments, **named: plot(*arguments, **named)


@pytest.fixture
def fake_nvcc(tmp_path, monkeypatch):
    """Makes toolkits that look real; only those are found, in the order in which they are made."""
    monkeypatch.setattr(toolkit, "glob", lambda pattern: [])
    monkeypatch.setattr(toolkit.os, "get_exec_path", lambda: folders)
    for name in ("CUDA_HOME", "CUDA_PATH"):
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
