"""X-ray: one launch under the microscope. What it did and what it did wrong, by source line."""

from importlib import import_module

from .. import autoinit  # noqa: F401  (PyCUDA binds to the driver that it chooses)
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
    "play",
    "profile",
    "sanitize",
]

DRAWN_IN = {"draw_limits": ".limits", "draw_fragment": ".fragments", "draw_sum": ".fragments"}


def __getattr__(name):
    """What draws comes when it is used: matplotlib loads as long as all else here together."""
    if name not in __all__:
        raise AttributeError(f"helpers.xray has no {name!r}; there is {', '.join(__all__)}")
    if name == "play":
        return import_module("..play", __name__).launch
    return getattr(import_module(DRAWN_IN.get(name, ".draw"), __name__), name)


def __dir__():
    return __all__
