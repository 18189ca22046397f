"""X-ray: one launch under the microscope. What it did and what it did wrong, by source line."""

from .. import autoinit  # noqa: F401  (PyCUDA binds to the driver that it chooses)
from .draw import draw_access, draw_banks, draw_shuffle, draw_steps
from .limits import draw_limits
from .profiler import profile
from .report import compare
from .sanitizer import sanitize

__all__ = [
    "compare",
    "draw_access",
    "draw_banks",
    "draw_limits",
    "draw_shuffle",
    "draw_steps",
    "profile",
    "sanitize",
]
