"""PTX, the assembly language of CUDA: `parse` turns its text into the data of `program`."""

from .linking import link
from .parser import parse
from .program import Module, PtxError, TooLarge

__all__ = ["Module", "PtxError", "TooLarge", "link", "parse"]
