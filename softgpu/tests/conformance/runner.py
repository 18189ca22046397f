"""Compile, launch, collect: plain PyCUDA, the same on a GPU and on the software GPU."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np

from softgpu.tests import autoinit  # first: it chooses the driver that PyCUDA binds to

# isort: split
import pycuda.driver as cuda
from pycuda.compiler import compile

from .case import Kernel, Module
from .suite import CASES, family

__all__ = ["answers", "compiled", "only", "prepare", "prepared"]

# without -fmad=false a multiplication and an addition may become one rounding
_OPTIONS = ["-fmad=false", "-std=c++17", "-w"]
_FILL = 0xA5  # what outputs hold before a launch
_GUARD = 256  # bytes after the last output that no kernel may touch

_compilers = ThreadPoolExecutor(min(4, os.cpu_count() or 1))
_images: dict[str, Future[bytes]] = {}
_parts: dict[str, Module] = {}  # of modules by name: see only()


def only(names: Iterable[str]) -> None:
    """Compile of each module only the kernels that this run of the tests launches. names: of cases,
    or of kernels after their module's."""
    wanted = {CASES[name][1].entry if name in CASES else name.rpartition("-")[2] for name in names}
    for module in {module.name: module for module, _, _ in CASES.values()}.values():
        kernels = tuple(kernel for kernel in module.kernels if kernel.entry in wanted)
        kernels = module.kernels if kernels and module.whole else kernels
        _parts[module.name] = replace(module, name=f"part of {module.name}", kernels=kernels)


def _part(module: Module) -> Module:
    return _parts.get(module.name, module)


def compiled(module: Module) -> Future[bytes]:
    """What the compiler makes of a module, as soon as it is done."""
    if module.name not in _images:
        arch = "sm_{}{}".format(*autoinit.device.compute_capability())
        _images[module.name] = _compilers.submit(
            compile, module.source, options=_OPTIONS, no_extern_c=True, arch=arch
        )
    return _images[module.name]


def prepare(which: str) -> None:
    """Start to compile the modules of a family."""
    for name, (module, _, _) in CASES.items():
        if family(name) == which and _part(module).kernels:
            compiled(_part(module))


@cache
def _loaded(name: str) -> cuda.Module:
    return cuda.module_from_buffer(_images[name].result())


def prepared(module: Module, kernel: Kernel) -> tuple[cuda.Function, list, int]:
    """(a kernel, its arguments with outputs first, how many bytes these have)."""
    compiled(_part(module))
    function = _loaded(_part(module).name).get_function(kernel.entry)
    size = sum(case.padded for case in kernel.cases) + _GUARD
    out = cuda.mem_alloc(size)
    cuda.memset_d8(out, _FILL, size)
    inputs = [cuda.to_device(value) if value.ndim else value for value in kernel.inputs]
    return function, [out, *inputs], size


def answers(module: Module, kernel: Kernel) -> dict[str, bytes]:
    """Launch a kernel once: the answer of each of its cases."""
    function, arguments, size = prepared(module, kernel)
    function(*arguments, grid=kernel.grid, block=kernel.block, shared=kernel.shared)
    host = np.empty(size, np.uint8)
    cuda.memcpy_dtoh(host, arguments[0])
    result, start = {}, 0
    for case in kernel.cases:
        result[case.name] = host[start : start + case.nbytes].tobytes()
        end = start + case.padded
        host[start : start + case.nbytes] = _FILL
        start = end
    if not np.all(host == _FILL):
        raise AssertionError(f"{kernel.entry} wrote outside its outputs")
    return result
