"""X-ray: one launch under the microscope. What it did and what it did wrong, by source line.

Kernels are PyCUDA's functions, or pairs (CUDA source, name): `softgpu.install()` before PyCUDA is
imported. What draws needs matplotlib, the extra `draw`.
"""

from importlib import import_module
from typing import Any

from .profiler import profile
from .report import compare
from .sanitizer import sanitize

__all__ = [
    "compare",
    "draw_access",
    "draw_banks",
    "draw_fragment",
    "draw_limits",
    "draw_shuffle",
    "draw_steps",
    "draw_sum",
    "profile",
    "sanitize",
]

_DRAWN_IN = {"draw_limits": ".limits", "draw_fragment": ".fragments", "draw_sum": ".fragments"}


def __getattr__(name: str) -> Any:
    """What draws comes when it is used: matplotlib loads as long as all else here together."""
    if name not in __all__:
        raise AttributeError(f"softgpu.xray has no {name!r}; there is {', '.join(__all__)}")
    try:
        return getattr(import_module(_DRAWN_IN.get(name, ".draw"), __name__), name)
    except ModuleNotFoundError as error:
        message = f"{name} needs {error.name}: pip install matplotlib pillow"
        raise ModuleNotFoundError(message, name=error.name) from None


def __dir__() -> list[str]:
    return __all__
