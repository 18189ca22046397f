"""Find NVIDIA's compiler: the machine's own or the pinned wheels. Standard library only, so that
the set-up can use it before anything is installed."""

import ctypes
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from glob import glob
from pathlib import Path

__all__ = [
    "SettingError",
    "Toolkit",
    "ToolkitError",
    "choose",
    "find_toolkit",
    "gpu_driver_version",
    "use",
]

SUPPORTED = (12, 13)  # major versions of CUDA that PyCUDA 2026.1 and the course know
NEEDED = ("cuda.h", "cudaProfiler.h", "cuda_fp16.h", "cooperative_groups.h", "cub/cub.cuh")


class ToolkitError(RuntimeError):
    """No usable CUDA compiler."""


class SettingError(RuntimeError):
    """An environment variable asks for what there is not."""


def setting(name, *choices):
    """The value of an environment variable: one of the choices, or empty."""
    value = os.environ.get(name, "")
    if value and value not in choices:
        raise SettingError(f"{name}={value}: expected {' or '.join(choices)}")
    return value


@dataclass(frozen=True)
class Toolkit:
    """One CUDA compiler with its headers."""

    nvcc: str
    include: tuple[str, ...]
    version: tuple[int, int]
    origin: str  # "machine" or "wheel"

    def __str__(self):
        return "CUDA {}.{} ({})".format(*self.version, self.origin)


def gpu_driver_version():
    """The CUDA version of a working NVIDIA driver with at least one GPU, else None.

    Call it before the software GPU's libcuda.so.1 is loaded: both carry the same name."""
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


def inspect(nvcc, origin):
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
    return Toolkit(nvcc, tuple(include[:-1]), tuple(map(int, version.groups())), origin)


def wheel_toolkit(folders=None):
    """The Toolkit of NVIDIA's wheels in these site-packages (default: this Python's), or None."""
    if folders is None:
        spec = importlib.util.find_spec("nvidia")
        folders = spec.submodule_search_locations if spec else ()
    else:
        folders = [os.path.join(folder, "nvidia") for folder in folders]
    for folder in folders:
        nvcc = os.path.join(folder, "cu13", "bin", "nvcc")
        if os.access(nvcc, os.X_OK):
            return inspect(nvcc, "wheel")
    return None


def machine_toolkits():
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


def find_toolkit(driver=None, wheels=None):
    """The Toolkit to compile with: for a GPU under a driver of that CUDA version, or (None) for the
    software GPU. HELPERS_TOOLKIT=machine or wheel leaves only that one to choose from.

    A GPU takes the machine's own compiler if its driver can load what that makes. The software GPU
    takes the machine's if it is of CUDA 13, like the wheels, which come next."""
    choice = setting("HELPERS_TOOLKIT", "machine", "wheel")
    machine = list(machine_toolkits()) if choice != "wheel" else []
    wheel = wheel_toolkit(wheels) if choice != "machine" else None
    if driver:
        found = [*machine, wheel]
        found = [toolkit for toolkit in found if toolkit and toolkit.version[0] <= driver[0]]
    else:
        current = [toolkit for toolkit in machine if toolkit.version[0] == SUPPORTED[-1]]
        found = [toolkit for toolkit in [*current, wheel, *machine] if toolkit]
    if not found:
        raise ToolkitError(
            "no CUDA compiler found{}: `make lab` installs one, or install a CUDA toolkit".format(
                f" that a driver of CUDA {driver[0]}.{driver[1]} can work with" if driver else ""
            )
        )
    return found[0]


def choose(wheels=None):
    """What to run on and what to compile with: the GPU driver's CUDA version (None: the software
    GPU), and a Toolkit. HELPERS_DEVICE=gpu or software leaves only that one to choose from."""
    choice = setting("HELPERS_DEVICE", "gpu", "software")
    driver = gpu_driver_version() if choice != "software" else None
    if choice == "gpu" and not driver:
        raise SettingError("HELPERS_DEVICE=gpu, but there is no working NVIDIA driver with a GPU")
    try:
        return driver, find_toolkit(driver, wheels)
    except ToolkitError:
        if choice == "gpu" or not driver:
            raise
        return None, find_toolkit(None, wheels)


def use(toolkit):
    """Put a Toolkit where PyCUDA looks for nvcc: on PATH, of this process and its children."""
    if shutil.which("nvcc") != toolkit.nvcc:
        folder = os.path.dirname(toolkit.nvcc)
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
