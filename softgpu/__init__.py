"""A software GPU: the CUDA driver on the CPU, for unmodified PyCUDA.

`install()` before `import pycuda` is all it takes. The package knows nothing of the course.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["install", "stopped_launches"]

_HERE = Path(__file__).parent


def install(threads: int | None = None) -> None:
    """Make the software GPU the CUDA driver of this process.

    `threads`: how many blocks run at a time. 1 is the deterministic mode, in which blocks run one
    after the other in order; default: SOFTGPU_THREADS, else as many as there are cores.
    """
    from . import cache, settings
    from .loader import Engine

    Engine.as_driver().set_threads(settings.threads() if threads is None else threads)
    compiler = shutil.which("nvcc")
    if compiler and Path(compiler).parent != _HERE / "bin":
        os.environ["SOFTGPU_NVCC"] = compiler
        os.environ["PATH"] = os.pathsep.join([str(_HERE / "bin"), os.environ.get("PATH", "")])
    cache.serve_pycuda()


def stopped_launches() -> int:
    """How many launches a fault, the time limit or Ctrl-C has ended before they were done.

    What a kernel does last, such as resetting its counters, may then be missing. 0 beside a GPU."""
    from .loader import Engine

    return Engine.stopped_launches()
