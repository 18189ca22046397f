"""A case is one answer of one small kernel; a module is what one call of nvcc compiles."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from .rules import BITS, Rule

__all__ = ["Case", "Kernel", "Module"]


@dataclass(frozen=True)
class Case:
    """`count` values of `dtype` that a kernel leaves in its slice of the output buffer."""

    name: str
    dtype: str
    count: int
    rule: Rule = BITS

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
    """Kernels compiled together, below a common text (includes, helper functions)."""

    name: str
    kernels: tuple[Kernel, ...]
    preamble: str = ""

    @property
    def source(self) -> str:
        return self.preamble + "\n" + "\n".join(kernel.source for kernel in self.kernels)

    def fingerprint(self, kernel: Kernel) -> int:
        """Changes when a kernel, its inputs or its launch change: then its goldens are stale."""
        launch = f"{kernel.grid} {kernel.block} {kernel.shared}"
        crc = zlib.crc32((self.preamble + kernel.source + launch).encode())
        for array in kernel.inputs:
            crc = zlib.crc32(array.tobytes(), crc)
        return crc
