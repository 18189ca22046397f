"""Other ways to the software GPU than PyCUDA: what cuda-bindings, cuda.core, numba-cuda and Triton
(triton.py, with PyTorch: pytorch.py) need.

They speak to the driver as they do to NVIDIA's. Three more of NVIDIA's libraries come with it:

- the run-time compiler, which makes machine code, leaves PTX instead;
- nvJitLink makes machine code, too. Where it is not installed, they let the driver link; so it
  counts as not installed;
- the CUDA runtime inside of cuda-bindings needs tables of the driver that no document describes.
  What cuda.core asks of it, the driver answers.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import build, cache
from . import cute_dsl, cutile, triton
from .imports import after_import, expect_pytorch

__all__ = ["build_ahead", "serve"]

_NVRTC = Path(__file__).with_name("nvrtc.c")
_RUNTIME = {  # calls of the runtime, and the driver's that take and give the same
    "cudaDeviceGetPCIBusId": "cuDeviceGetPCIBusId",
    "cudaDeviceSynchronize": "cuCtxSynchronize",
    "cudaGetDeviceCount": "cuDeviceGetCount",
}
_global: list[ctypes.CDLL] = []


def serve() -> None:
    """Let each of these clients find what it needs."""
    triton.serve()
    cute_dsl.serve()
    cutile.serve()
    after_import("tilelang", expect_pytorch)
    _serve_bindings()


def _serve_bindings() -> None:
    """Stand before these libraries for cuda-bindings; where that is missing, do nothing."""
    if _global or not (importlib.util.find_spec("cuda") and _has_bindings()):
        return
    from cuda import pathfinder

    _global.append(ctypes.CDLL(str(_compiled()), mode=os.RTLD_NOW | os.RTLD_GLOBAL))
    find = pathfinder.load_nvidia_dynamic_lib

    def load_nvidia_dynamic_lib(name: str) -> pathfinder.LoadedDL:
        if name == "nvJitLink":
            raise pathfinder.DynamicLibNotFoundError(
                "nvJitLink makes machine code; for the software GPU the driver links PTX"
            )
        return find(name)

    pathfinder.load_nvidia_dynamic_lib = load_nvidia_dynamic_lib
    _answer_for_the_runtime()


def _has_bindings() -> bool:
    return all(importlib.util.find_spec(f"cuda.{name}") for name in ("pathfinder", "bindings"))


def _answer_for_the_runtime() -> None:
    from cuda.bindings import driver, runtime

    def answers(call: Callable) -> Callable:
        def answer(*arguments: Any) -> Any:
            driver.cuInit(0)
            error, *values = call(*arguments)
            return runtime.cudaError_t(int(error)), *values  # errors have the same numbers

        return answer

    for name, ours in _RUNTIME.items():
        setattr(runtime, name, answers(getattr(driver, ours)))


def _compiled() -> Path:
    """The library in front of the run-time compiler: a wheel's, or kept from process to process."""
    ours = _name()
    return ours if ours.exists() else cache.made_once(ours.name, _compile)


def _name() -> Path:
    """What it is called, and where a wheel has it."""
    return _NVRTC.with_name(f"{hashlib.sha256(_NVRTC.read_bytes()).hexdigest()[:32]}.so")


def _compile(made: Path) -> None:
    words = ["-shared", "-fPIC", "-O2", *build.OLD_LIBC]
    build.run_compiler([build.find_compiler(), *words, _NVRTC, "-ldl", "-o", made])


def build_ahead() -> Path:
    """Make that library for a wheel."""
    ours = _name()
    for old in {*_NVRTC.parent.glob("*.so")} - {ours}:
        old.unlink()
    if not ours.exists():
        _compile(ours)
    return ours
