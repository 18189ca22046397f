"""Find NVIDIA's compiler: the machine's own or that of NVIDIA's wheels. Standard library only, so
that a set-up can ask before anything is installed."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path

__all__ = [
    *("Toolkit", "ToolkitError", "find_cuda_12", "find_toolkit", "gpu_driver_version", "use"),
]

SUPPORTED = (12, 13)  # major versions of CUDA that PyCUDA 2026.1 knows
NEEDED = ("cuda.h", "cudaProfiler.h", "cuda_fp16.h", "cooperative_groups.h", "cub/cub.cuh")


class ToolkitError(RuntimeError):
    """No usable CUDA compiler."""


@dataclass(frozen=True)
class Toolkit:
    """One CUDA compiler with its headers."""

    nvcc: str
    include: tuple[str, ...]
    version: tuple[int, int]
    origin: str  # "machine" or "wheel"
    older: str = ""  # a folder of older headers, the first of include, which nvcc does not know

    def __str__(self) -> str:
        return "CUDA {}.{} ({})".format(*self.version, self.origin)


def inspect(nvcc: str, origin: str) -> Toolkit | None:
    """The Toolkit of an nvcc if it runs and is complete, else None."""
    try:
        # A dry run prints where this nvcc, even behind a wrapper script, finds its parts.
        text = subprocess.run(
            [nvcc, "--dryrun", "-x", "cu", "-c", os.devnull],
            capture_output=True, text=True, timeout=60, check=True,
        ).stderr  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    settings = dict(re.findall(r"^#\$ (\w+)=(.*)$", text, re.MULTILINE))
    version = re.search(r"__CUDACC_VER_MAJOR__=(\d+) .*__CUDACC_VER_MINOR__=(\d+)", text)
    words = shlex.split(
        " ".join(settings.get(name, "") for name in ("INCLUDES", "SYSTEM_INCLUDES"))
    )
    include = [word.removeprefix("-I") for word in words if word != "-isystem"]
    include = [os.path.normpath(folder) for folder in [*include, "/usr/include"]]
    have_headers = all(any(Path(folder, name).exists() for folder in include) for name in NEEDED)
    path = settings.get("PATH", "")
    have_tools = all(shutil.which(name, path=path) for name in ("cicc", "ptxas", "cudafe++"))
    if not (version and have_headers and have_tools):
        return None
    return Toolkit(nvcc, tuple(include[:-1]), (int(version[1]), int(version[2])), origin)


def _wheel_folders(packages: Sequence[str] | None) -> Sequence[str]:
    """Where NVIDIA's wheels are in these site-packages (default: this Python's)."""
    if packages is not None:
        return [os.path.join(folder, "nvidia") for folder in packages]
    spec = importlib.util.find_spec("nvidia")
    return (spec and spec.submodule_search_locations) or ()


def wheel_toolkit(folders: Sequence[str] | None = None) -> Toolkit | None:
    """The Toolkit of NVIDIA's wheels in these site-packages (default: this Python's), or None."""
    for folder in _wheel_folders(folders):
        nvcc = os.path.join(folder, "cu13", "bin", "nvcc")
        if os.access(nvcc, os.X_OK):
            return inspect(nvcc, "wheel")
    return None


def machine_toolkits() -> Iterator[Toolkit]:
    """The machine's own Toolkits, those that the user named or put on PATH first."""
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    found = [os.path.join(home, "bin", "nvcc") for home in homes]
    found += [os.path.join(folder, "nvcc") for folder in os.get_exec_path()]
    found += ["/usr/local/cuda/bin/nvcc", *sorted(glob("/usr/local/cuda-*/bin/nvcc"), reverse=True)]
    seen = set()
    ours = ("/nvidia/cu13/bin/", "/softgpu/bin/")  # on PATH if a parent process put them
    for nvcc in found:
        real = os.path.realpath(nvcc)
        if real in seen or not os.access(nvcc, os.X_OK) or any(part in real for part in ours):
            continue
        seen.add(real)
        toolkit = inspect(nvcc, "machine")
        if toolkit and toolkit.version[0] in SUPPORTED:
            yield toolkit


def gpu_driver_version() -> tuple[int, int] | None:
    """The CUDA version of a working NVIDIA driver with at least one GPU; None if there is none, or
    the software GPU is the driver already, whose libcuda.so.1 has the same name."""
    loader = sys.modules.get("softgpu.loader")
    if loader and loader.Engine.in_use():
        return None
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        version, count = ctypes.c_int(), ctypes.c_int()
        failed = (
            driver.cuInit(0)
            or driver.cuDeviceGetCount(ctypes.byref(count))
            or driver.cuDriverGetVersion(ctypes.byref(version))
        )
    except (OSError, AttributeError):
        return None
    if failed or not count.value:
        return None
    return version.value // 1000, version.value % 1000 // 10


def find_toolkit(
    driver: tuple[int, int] | None = None,
    wheels: Sequence[str] | None = None,
    origin: str = "",
) -> Toolkit:
    """The Toolkit to compile with: for a GPU under a driver of that CUDA version, or (None) for the
    software GPU. origin: "machine" or "wheel" leaves only that one to choose from.

    A GPU takes the machine's own compiler if its driver can load what that makes. The software GPU
    takes the machine's if it is of CUDA 13, like the wheels, which come next."""
    machine = list(machine_toolkits()) if origin != "wheel" else []
    wheel = wheel_toolkit(wheels) if origin != "machine" else None
    current = [toolkit for toolkit in machine if toolkit.version[0] == SUPPORTED[-1]]
    for toolkit in [*machine, wheel] if driver else [*current, wheel, *machine]:
        if toolkit and not (driver and toolkit.version[0] > driver[0]):
            return toolkit
    fit = f" that a driver of CUDA {driver[0]}.{driver[1]} can work with" if driver else ""
    raise ToolkitError(f"no CUDA compiler found{fit}: install a CUDA toolkit or NVIDIA's wheels")


def find_cuda_12(wheels: Sequence[str] | None = None) -> Toolkit:
    """The machine's Toolkit of CUDA 12; else a newer one with the headers of CUDA 12's wheel."""
    for toolkit in machine_toolkits():
        if toolkit.version[0] == 12:
            return toolkit
    for folder in _wheel_folders(wheels):
        headers = Path(folder, "cuda_runtime", "include")
        if (headers / "cuda_runtime_api.h").exists():
            text = (headers / "cuda_runtime_api.h").read_text()
            number = int(re.findall(r"#define CUDART_VERSION +(\d+)", text)[0])
            newer, version = find_toolkit(), (number // 1000, number % 1000 // 10)
            include = (str(headers), *newer.include)
            return replace(newer, include=include, version=version, older=str(headers))
    raise ToolkitError(
        "there are no headers of CUDA 12 here: pip install nvidia-cuda-runtime-cu12 brings them"
    )


def use(toolkit: Toolkit) -> None:
    """Put a Toolkit where PyCUDA looks for nvcc: on PATH, of this process and its children."""
    path = os.environ.setdefault("PATH", os.defpath)
    if shutil.which("nvcc") != toolkit.nvcc:
        os.environ["PATH"] = os.pathsep.join([os.path.dirname(toolkit.nvcc), path])
