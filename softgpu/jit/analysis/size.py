"""Functions that are too large to be optimised as a whole."""

from __future__ import annotations

from ...ptx.program import Function
from .flow import Block

__all__ = ["is_large"]

_LARGE = 1500
_BLOCK_WEIGHT = 4


def is_large(function: Function, blocks: list[Block]) -> bool:
    """Whether a function's instructions, plus a fixed number per block, exceed the limit.

    LLVM's compile time grows with registers times blocks. So a large function keeps its
    registers in memory and is not optimised; accesses of one kind share an outlined routine,
    which is. This takes a seventh of the time to compile, and half as long again to run."""
    return len(function.instructions) + _BLOCK_WEIGHT * len(blocks) > _LARGE
