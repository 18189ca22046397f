"""X-ray: one launch under the microscope. What it did and what it did wrong, by source line."""

from .profiler import profile
from .report import compare
from .sanitizer import sanitize

__all__ = ["compare", "profile", "sanitize"]
