"""What depends on the processor that kernels are compiled for."""

from __future__ import annotations

import functools
import platform

import llvmlite.binding as llvm

__all__ = ["LOADS_IN_ORDER", "NEGATIVE_NAN", "named"]

_IS_X86 = platform.machine() == "x86_64"

LOADS_IN_ORDER = _IS_X86
"""Whether a load is done before those that follow it, as other threads see them."""

NEGATIVE_NAN = _IS_X86
"""Whether operations on doubles that are numbers make the hardware's NaN, which is negative."""


@functools.cache
def named() -> tuple[str, str]:
    """The name and the features of this machine's processor."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        features["prefer-256-bit"] = False
    return llvm.get_host_cpu_name(), features.flatten()
