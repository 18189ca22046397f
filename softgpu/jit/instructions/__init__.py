"""The emitters, an @instruction each."""

from . import calls, comparison, copies, floating, integer, memory, warp  # noqa: F401
