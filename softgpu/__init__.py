"""A software GPU: the CUDA driver on the CPU, for unmodified PyCUDA.

`install()` before `import pycuda` is all it takes. The package knows nothing of the course.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["cache_folder", "install", "stopped_launches"]

_HERE = Path(__file__).parent


def cache_folder() -> Path:
    """Where compiled kernels are kept: SOFTGPU_CACHE, a checkout's .cache, or the user's cache."""
    if "SOFTGPU_CACHE" in os.environ:
        return Path(os.environ["SOFTGPU_CACHE"])
    checkout = _HERE.parent
    if (checkout / "pyproject.toml").exists():
        return checkout / ".cache" / "softgpu"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "softgpu"


def setting(name: str, kind: type, default):
    """The number that an environment variable gives."""
    text = os.environ.get(name) or default
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ValueError(f"the environment variable {name}={text}: expected {what}") from None


def install(threads: int | None = None) -> None:
    """Make the software GPU the CUDA driver of this process.

    `threads`: how many blocks run at a time. 1 is the deterministic mode, in which blocks run one
    after the other in order; default: SOFTGPU_THREADS, else as many as there are cores.
    """
    from .loader import Engine

    Engine.as_driver().set_threads(threads or setting("SOFTGPU_THREADS", int, 0))
    compiler = shutil.which("nvcc")
    if compiler and Path(compiler).parent != _HERE / "bin":
        os.environ["SOFTGPU_NVCC"] = compiler
        os.environ["PATH"] = os.pathsep.join([str(_HERE / "bin"), os.environ.get("PATH", "")])
    # PyCUDA's own cache does not know that this nvcc leaves PTX: it gets a folder of its own
    compiled = cache_folder() / "nvcc"
    compiled.mkdir(parents=True, exist_ok=True)
    os.environ["PYCUDA_CACHE_DIR"] = str(compiled)


def stopped_launches() -> int:
    """How many launches a fault, the time limit or Ctrl-C has ended before they were done.

    What a kernel does last, such as resetting its counters, may then be missing. 0 beside a GPU."""
    from .loader import Engine

    return Engine.stopped_launches()
