"""The GPU of these tests, and a context: the software GPU, or a real one where there is one.

HELPERS_DEVICE and HELPERS_TOOLKIT choose as they do for the course, whose tests share a process
with these. Import it before PyCUDA."""

import atexit
import os

import softgpu
from softgpu import toolkit

__all__ = ["compiler", "context", "device", "is_software", "name"]

_wanted = os.environ.get("HELPERS_DEVICE")
_driver_version = None if _wanted == "software" else toolkit.gpu_driver_version()
compiler = toolkit.find_toolkit(_driver_version, origin=os.environ.get("HELPERS_TOOLKIT", ""))
is_software = _driver_version is None
if is_software:
    softgpu.install(toolkit=compiler)
else:
    toolkit.use(compiler)

import pycuda.driver as cuda  # noqa: E402  (binds to the driver chosen above)

cuda.init()
device = cuda.Device(0)
context = device.retain_primary_context()
context.push()
name = device.name()


@atexit.register
def _leave():
    """Let go of the context while PyCUDA can still do so."""
    from pycuda.tools import clear_context_caches

    context.pop()
    clear_context_caches()
