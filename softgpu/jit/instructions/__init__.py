"""The emitters, an @instruction each."""

from . import calls, comparison, copies, floating, integer, memory, tensor, texels, warp  # noqa: F401
