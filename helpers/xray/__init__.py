"""X-ray: one launch under the microscope. What it did and what it did wrong, by source line."""

from .draw import draw_access, draw_banks, draw_shuffle, draw_steps
from .profiler import profile
from .report import compare
from .sanitizer import sanitize

__all__ = [
    "compare",
    "draw_access",
    "draw_banks",
    "draw_shuffle",
    "draw_steps",
    "profile",
    "sanitize",
]
