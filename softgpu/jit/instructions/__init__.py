"""The emitters, an @instruction each."""

from . import (  # noqa: F401
    atomics,
    calls,
    comparison,
    copies,
    fences,
    floating,
    integer,
    memory,
    spaces,
    tensor,
    texels,
    warp,
)
