"""Functions that are too large to be optimised as a whole."""

from __future__ import annotations

from ...ptx.program import Function
from .flow import Block

__all__ = ["is_large"]

_LARGE = 1500
_BLOCK_WEIGHT = 4


def is_large(function: Function, blocks: list[Block]) -> bool:
    """Whether its instructions, and so many for each of its blocks, are more than that.

    LLVM's time grows with registers times blocks. So registers of a large function stay in memory;
    it is not optimised; and accesses of one kind share a routine, which is. It takes a seventh of
    the time to compile, and half as long again to run."""
    return len(function.instructions) + _BLOCK_WEIGHT * len(blocks) > _LARGE
