"""A software GPU: the CUDA driver on the CPU, for unmodified PyCUDA, numba-cuda and cuda.core.

`install()` before they are imported is all it takes. The package knows nothing of the course.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .toolkit import Toolkit

__all__ = ["__version__", "install", "link_bytes", "stopped_launches"]

__version__ = "2.0.0"  # here alone: pyproject.toml reads it, CHANGELOG.md begins with it

_BIN = str(Path(__file__).parent / "bin")  # its nvcc leaves PTX, and calls the real one


def install(
    threads: int | None = None, toolkit: Toolkit | None = None, libraries: Iterable[str] = ()
) -> None:
    """Make the software GPU the CUDA driver of this process.

    `threads`: how many blocks run at a time. 1 is the deterministic mode, in which blocks run one
    after the other in order; default: SOFTGPU_THREADS, else as many as there are cores.
    `toolkit`: whose nvcc compiles for it; default: the machine's own or that of NVIDIA's wheels.
    Where there is neither, PTX still runs.
    `libraries`: of "cublas", "cudart", "curand", "cufft" and "nvidia-ml" those that a client loads
    by name.
    """
    from . import cache, clients, settings
    from .loader import Engine
    from .toolkit import ToolkitError, find_toolkit, use

    settings.headers()  # refused now, and not at the first kernel, if it is no choice
    Engine.as_driver().set_threads(settings.threads() if threads is None else threads)
    with suppress(ToolkitError):
        toolkit = toolkit or find_toolkit()
        use(toolkit)
        os.environ["SOFTGPU_NVCC"] = toolkit.nvcc
        os.environ["SOFTGPU_PYTHON"] = sys.executable
        os.environ["SOFTGPU_HEADERS_CACHE"] = str(settings.cache_folder().absolute() / "headers")
        os.environ["PATH"] = os.pathsep.join([_BIN, os.environ["PATH"]])
    cache.serve_pycuda()
    clients.serve()
    if libraries:
        from .libraries import LIBRARIES, serve
        from .programs import Runtime

        serve([LIBRARIES[name] for name in libraries if name != "cudart"], aliases=True)
        if "cudart" in libraries:
            Runtime(toolkit or find_toolkit())


def link_bytes() -> list[list[int]]:
    """Bytes that copies and kernels moved from device to device, [from][to], since the last call.

    Kernels touch another device's memory in sectors of 32 bytes."""
    from .loader import Engine

    return Engine.as_driver().link_bytes()


def stopped_launches() -> int:
    """How many launches a fault, the time limit or Ctrl-C has ended before they were done.

    What a kernel does last, such as resetting its counters, may then be missing. 0 beside a GPU."""
    from .loader import Engine

    return Engine.stopped_launches()
