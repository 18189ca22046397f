"""The instruction emitters, each registered with @instruction."""

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
