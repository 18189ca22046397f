"""CuTe DSL: its own calls of the CUDA runtime, linked to ours.

The runtime in NVIDIA's libcute_dsl_runtime.so asks the driver for tables that no document
describes. Beside it the wheel has the same calls as an archive, without that runtime, for programs
that link their own.
"""

from __future__ import annotations

import hashlib
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import build, cache
from .imports import after_import, expect_pytorch

__all__ = ["serve"]

_ARCHIVE = "libcuda_dialect_runtime_static.a"


def serve() -> None:
    """Let CuTe DSL, once it is imported, launch on the software GPU."""
    after_import("cutlass.base_dsl.env_manager", _name_library)


def _name_library(_: Any) -> None:
    """By the variables that CuTe DSL reads next."""
    expect_pytorch()
    wheel = Path(import_module("nvidia_cutlass_dsl").__path__[0])
    os.environ["CUTE_DSL_LIBS"] = str(_library(next(wheel.rglob(_ARCHIVE))))
    os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")
    os.environ.setdefault("CUTE_DSL_LINEINFO", "1")  # without it a cubin lacks its PTX


def _library(archive: Path) -> Path:
    """The archive's calls as a library; the linker makes it where the cache does not have it."""
    from ..programs import Runtime, runtime_library
    from ..toolkit import find_toolkit

    toolkit = find_toolkit()
    Runtime(toolkit)  # in the process before, under the name that the library asks for
    runtime = runtime_library(toolkit)
    digest = hashlib.sha256(archive.read_bytes() + str(runtime).encode()).hexdigest()[:32]
    whole = f"-Wl,--whole-archive,{archive},--no-whole-archive"
    words = build.find_compiler(), "-shared", whole, runtime, "-Wl,-z,defs", "-lc"
    return cache.made_once(
        f"{digest}-libcute_dsl_runtime.so",
        lambda made: build.run_compiler([*words, "-o", made]),
    )
