"""A case is one answer of one small kernel; a module is what one call of nvcc compiles."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from .rules import BITS, Rule

__all__ = ["Case", "Kernel", "Module"]


@dataclass(frozen=True)
class Case:
    """`count` values of `dtype` that a kernel leaves in its slice of the output buffer.

    source: the part of the kernel that makes them, where other cases only share the kernel."""

    name: str
    dtype: str
    count: int
    rule: Rule = BITS
    source: str = ""

    @property
    def nbytes(self) -> int:
        return self.count * np.dtype(self.dtype).itemsize

    @property
    def padded(self) -> int:
        """Bytes from this case's slice to the next one's: slices start at multiples of 256."""
        return (self.nbytes + 255) // 256 * 256


@dataclass(frozen=True)
class Kernel:
    """A kernel `entry(out, *inputs)`; its cases lie one after the other in `out`. Arrays among the
    inputs are passed as pointers, scalars by value."""

    entry: str
    source: str
    inputs: tuple[np.ndarray | np.generic, ...]
    cases: tuple[Case, ...]
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (256, 1, 1)
    shared: int = 0


@dataclass(frozen=True)
class Module:
    """Kernels compiled together, below a common text (includes, helper functions).

    whole: a kernel's text may need what stands before it."""

    name: str
    kernels: tuple[Kernel, ...]
    preamble: str = ""
    whole: bool = False

    @property
    def source(self) -> str:
        return self.preamble + "\n" + "\n".join(kernel.source for kernel in self.kernels)

    def fingerprint(self, kernel: Kernel, case: Case) -> int:
        """Changes with what makes a case, its inputs or its launch: then its golden is stale."""
        launch = f"{kernel.grid} {kernel.block} {kernel.shared}"
        crc = zlib.crc32((self.preamble + (case.source or kernel.source) + launch).encode())
        for array in kernel.inputs:
            crc = zlib.crc32(array.tobytes(), crc)
        return crc
