"""Triton: its own driver for NVIDIA's GPUs, where that asks PyTorch or a GPU's clock answered here.

Kernels come as PTX: a hook of Triton's leaves out ptxas, and with it the loss of Python's lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from .. import build, sass
from .calls import call, current_device, rank_us, register, set_device, unregister
from .imports import after_import, expect_pytorch

__all__ = ["serve"]

_KEY = "softgpu: PTX", "softgpu: PTX"  # of Triton's cache, where machine code must not be mixed in


@cache
def serve() -> None:
    """Let Triton, once it is imported, find the software GPU; the first call does it."""
    after_import("triton.backends", _replace_driver)
    after_import("pycuda.gpuarray", _give_pointers)


def _give_pointers(gpuarray: Any) -> None:
    """Triton asks arrays for data_ptr()."""
    gpuarray.GPUArray.data_ptr = lambda self: self.ptr


def _replace_driver(backends: Any) -> None:
    expect_pytorch()
    nvidia = backends.backends["nvidia"]
    theirs = sys.modules[nvidia.driver.__module__]
    backends.backends["nvidia"] = backends.Backend(nvidia.compiler, _driver_class(theirs))


def _as_ptx(backend: Any = None, stages: Any = None, *_: Any, **__: Any) -> tuple[str, str] | None:
    """Triton's hook: what it loads is PTX. Without arguments it asks for a key of its cache."""
    if stages is None:
        return _KEY
    stages["cubin"] = lambda ptx, metadata: ptx.encode() + b"\0"
    return None


def _driver_class(theirs: Any) -> type:
    """A subclass of Triton's driver that needs neither a GPU nor PyTorch's CUDA."""

    class Driver(theirs.CudaDriver):
        def __init__(self) -> None:
            from triton import knobs

            knobs.nvidia.libcuda_path = str(build.build().parent)
            knobs.runtime.add_stages_inspection_hook = _as_ptx
            sass.add_tools(str(Path(theirs.__file__).with_name("bin")))
            self.utils = theirs.CudaUtils()
            self.launcher_cls = _launcher_class(theirs)
            self.get_device_capability = lambda device=None: (9, 0)
            self.get_current_stream = lambda device=None: 0
            self.get_current_device = current_device
            self.set_current_device = set_device

        @staticmethod
        def is_active() -> bool:
            return True

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cuda", current_device())

        def get_device_interface(self) -> Any:
            import torch

            return torch.cuda

        def get_benchmarker(self) -> Callable:
            return _predicted_ms

        def get_empty_cache_for_benchmark(self) -> Any:
            import torch

            return torch.empty(1)  # times of the software GPU's depend on no cache of a GPU

    return Driver


def _launcher_class(theirs: Any) -> type:
    class Launcher(theirs.CudaLauncher):
        launch: Callable

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            launch = self.launch  # with what Triton's allocators gave as scratch memory

            def launch_reaching(*arguments: Any) -> None:
                with _reachable(arguments):
                    launch(*arguments)
                    call("cuCtxSynchronize")

            self.launch = launch_reaching

    return Launcher


def _predicted_ms(call: Callable, quantiles: list[float] | None = None, **_: Any) -> Any:
    """Triton's benchmark of a call."""
    ms = rank_us(call) / 1e3
    return [ms] * len(quantiles) if quantiles else ms


def _storages(arguments: Iterable[Any]) -> Iterator[Any]:
    """The storages of PyTorch's tensors, those in tuples and descriptors, too."""
    for argument in arguments:
        if isinstance(argument, (tuple, list)):
            yield from _storages(argument)
        elif hasattr(argument, "untyped_storage"):
            yield argument.untyped_storage()
        elif hasattr(argument, "base"):
            yield from _storages([argument.base])


@contextmanager
def _reachable(arguments: Iterable[Any]) -> Iterator[None]:
    """Let a launch touch the memory of PyTorch's tensors among its arguments."""
    storages = {storage.data_ptr(): storage for storage in _storages(arguments)}
    mine = [address for address, storage in storages.items() if register(address, storage.nbytes())]
    try:
        yield
    finally:
        for address in mine:
            unregister(address)
