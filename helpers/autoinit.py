"""Pick the GPU and make a context: the first import of a notebook.

The real GPU if there is one, else the software GPU; HELPERS_DEVICE=gpu or software overrides that.
Processes that mpiexec or Slurm has started on one machine take its devices in turn.
"""

import atexit
import importlib.util
import sys
from pathlib import Path

import softgpu
from softgpu import toolkit

from . import choice

__all__ = ["compiler", "context", "device", "is_software", "name"]

if importlib.util.find_spec("pycuda") is None:
    _lab = Path(__file__).resolve().parent.parent
    raise ModuleNotFoundError(
        f"{sys.executable} has no PyCUDA: run `make lab` in {_lab} once, then your scripts"
        f" with {_lab}/.venv/bin/python, from anywhere",
        name="pycuda",
    )

_driver_version, compiler = choice.choose()
"""The CUDA compiler that kernels go through: a softgpu.toolkit.Toolkit."""

is_software = _driver_version is None
"""Whether kernels run on the software GPU: then times mean nothing, and everything else does."""

if is_software:
    softgpu.install(toolkit=compiler)
else:
    toolkit.use(compiler)

import pycuda.driver as cuda  # noqa: E402  (binds to the driver chosen above)

cuda.init()
device = cuda.Device(choice.local_rank() % cuda.Device.count())
context = device.retain_primary_context()
context.push()

from . import halves  # noqa: E402  (which imports of PyCUDA what needs a driver)

halves.teach()

name = device.name()
"""What the GPU calls itself."""


@atexit.register
def _leave() -> None:
    """Let go of the context while PyCUDA can still do so."""
    from pycuda.tools import clear_context_caches

    context.pop()
    clear_context_caches()
