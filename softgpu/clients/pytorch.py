"""PyTorch's device "cuda" on its build for CPUs: tensors there are the CPU's, known to the driver.

What PyTorch computes with them, the CPU computes. Kernels of others (Triton's) reach them.
"""

from __future__ import annotations

import ctypes
import os
import time
import weakref
from contextlib import nullcontext
from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.attention
from torch.overrides import TorchFunctionMode

from .calls import call, current_device, register, unregister
from .products import product

__all__ = ["serve"]

_CUDA, _CPU = torch.device("cuda", 0), torch.device("cpu")
_DEVICE, _IS_CUDA = torch.Tensor.device.__get__, torch.Tensor.is_cuda.__get__  # type: ignore
_TO_DLPACK = torch._C._to_dlpack
_EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
_LOOKS = {
    "__get__", "__getitem__", "data_ptr", "dim", "element_size", "is_contiguous", "numel",
    "reshape", "size", "storage_offset", "stride", "untyped_storage", "view",
}  # fmt: skip
"""Functions that neither read nor write what a tensor holds."""
_STAYS = {"pin_memory", "record_stream"}
_DLPACK_CUDA, _DLPACK_DEVICE = 2, 8
"""The number of CUDA's devices there, and where a DLTensor has it: behind a pointer."""
_IN_C = "__dlpack_c_exchange_api__"
"""By which others ask for a tensor's memory past Python, where it is the CPU's."""
_on_gpu: dict[int, weakref.finalize] = {}
"""The storages that are on the GPU, by address."""
_unwritten: dict[int, int] = {}
"""Bytes of those that nothing of PyTorch's has written yet, by address."""


def _asks_for_gpu(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))


def _storage_of(tensor: torch.Tensor) -> Any:
    with torch._C.DisableTorchFunction():
        try:
            return tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):  # it has none: a fake one, a sparse one
            return None


def _is_on_gpu(tensor: torch.Tensor) -> bool:
    storage = _storage_of(tensor)
    return storage is not None and storage.data_ptr() in _on_gpu


def _leave(address: int) -> None:
    del _on_gpu[address]
    unregister(address)


def _empty(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor in memory of the driver's own, which knows what kernels have written there."""
    storage = _storage_of(tensor)
    if storage is None or not (size := storage.nbytes()):
        return tensor
    where = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(where), ctypes.c_size_t(size))
    address = where.value
    room = (ctypes.c_char * size).from_address(address)
    _on_gpu[address], _unwritten[address] = weakref.finalize(room, _free, address), size
    _on_gpu[address].atexit = False
    with torch._C.DisableTorchFunction(), torch.no_grad():
        own = torch.frombuffer(room, dtype=torch.uint8).untyped_storage()
        return tensor.set_(own, 0, tensor.size(), tensor.stride())


def _free(address: int) -> None:
    del _on_gpu[address]
    _unwritten.pop(address, None)
    call("cuMemFree_v2", ctypes.c_uint64(address))


def _count_as_written(tensors: list[torch.Tensor]) -> None:
    """Tell the driver what PyTorch may have written, by a copy from the host to where it is."""
    for tensor in tensors:
        if (storage := _storage_of(tensor)) is not None:
            address = storage.data_ptr()
            if size := _unwritten.pop(address, 0):
                held = ctypes.string_at(address, size)
                call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), held, ctypes.c_size_t(size))


def _bring(result: Any) -> Any:
    """Let the driver know the memory of tensors, as long as they live."""
    if isinstance(result, (tuple, list)):
        for item in result:
            _bring(item)
    elif isinstance(result, torch.Tensor) and (storage := _storage_of(result)) is not None:
        address, size = storage.data_ptr(), storage.nbytes()
        if address not in _on_gpu and register(address, size):
            _on_gpu[address] = weakref.finalize(storage, _leave, address)
            _on_gpu[address].atexit = False
    return result


class _Mode(TorchFunctionMode):
    """Maps the device "cuda" to the CPU, and back in what tensors say of themselves."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        kwargs.pop("pin_memory", None)  # kernels reach all of the CPU's memory that they get
        if function is torch.device:
            return function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        tensors = [a for a in _flat((args, kwargs)) if isinstance(a, torch.Tensor)]
        here = bool(tensors) and any(map(_is_on_gpu, tensors))
        if function == _DEVICE:
            return _CUDA if here else function(*args)
        if function == _IS_CUDA:
            return here
        if here and name == "get_device":
            return 0
        if here and name == "__dlpack_device__":
            return _DLPACK_CUDA, 0
        if here and name == "__dlpack__":
            return _to_dlpack(args[0])
        if name in _STAYS:
            return args[0]
        asked = [
            value for value in (*args, *kwargs.values()) if isinstance(value, (str, torch.device))
        ]
        to_gpu = name == "cuda" or any(map(_asks_for_gpu, asked))
        to_cpu = name == "cpu" or (name == "to" and any(_is_cpu(value) for value in asked))
        if name in ("cuda", "cpu"):
            return _moved(args[0], to_gpu)
        args = tuple(_CPU if _asks_for_gpu(value) else value for value in args)
        kwargs = {key: _CPU if _asks_for_gpu(v) else v for key, v in kwargs.items()}
        result = product(name, args, kwargs) if here else None
        if result is None:
            result = function(*args, **kwargs)
        if name in _EMPTY and (to_gpu or (here and not to_cpu)):
            return _empty(result)
        if _unwritten and name not in _LOOKS:
            _count_as_written(tensors)
        if name == "to" and (to_gpu or to_cpu) and isinstance(result, torch.Tensor):
            return _moved(result, to_gpu)
        return _bring(result) if to_gpu or (here and not to_cpu) else result


def _to_dlpack(tensor: torch.Tensor, **given: Any) -> Any:
    """A tensor for other packages; one on the GPU says that it is CUDA's."""
    with torch._C.DisableTorchFunction():
        capsule = _TO_DLPACK(tensor, **given)
    if not _is_on_gpu(tensor):
        return capsule
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    where = pointer(capsule, b"dltensor") + _DLPACK_DEVICE
    ctypes.c_int32.from_address(where).value = _DLPACK_CUDA
    return capsule


def _is_cpu(value: Any) -> bool:
    return value == "cpu" or (isinstance(value, torch.device) and value.type == "cpu")


def _moved(tensor: torch.Tensor, to_gpu: bool) -> torch.Tensor:
    """A tensor on that device: a copy, unless it is there."""
    if _is_on_gpu(tensor) == to_gpu:
        return tensor
    with torch._C.DisableTorchFunction():
        copy = tensor.clone()
    return _bring(copy) if to_gpu else copy


def _follow_backward(mode: _Mode) -> None:
    """Let the mode apply to what Python computes in a backward pass, too."""
    run = torch.autograd._engine_run_backward  # type: ignore[attr-defined]

    def run_in_mode(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return run(*args, **kwargs)

    torch.autograd._engine_run_backward = run_in_mode  # type: ignore[attr-defined]


def _flat(values: Any) -> list:
    if isinstance(values, dict):
        values = values.values()
    return [x for v in values for x in (_flat(v) if isinstance(v, (tuple, list, dict)) else [v])]


class _Stream:
    """The only stream: the default one."""

    cuda_stream, device = 0, _CUDA

    def __init__(self, *_: Any, **__: Any): ...

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def wait_stream(self, *_: Any) -> None: ...

    wait_event = wait_stream

    def query(self) -> bool:
        return True


class _Event:
    """A time of the CPU's clock."""

    def __init__(self, *_: Any, **__: Any): ...

    def record(self, *_: Any) -> None:
        torch.cuda.synchronize()
        self.ms = time.perf_counter() * 1e3

    def elapsed_time(self, other: _Event) -> float:
        return other.ms - self.ms

    def synchronize(self) -> None: ...

    wait = synchronize


def _attribute(number: int) -> int:
    value = ctypes.c_int()
    call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
    return value.value


def _properties(device: Any = None) -> SimpleNamespace:
    numbers = dict(
        multi_processor_count=16, warp_size=10, shared_memory_per_block=8,
        shared_memory_per_block_optin=97, shared_memory_per_multiprocessor=81,
        regs_per_multiprocessor=82, max_threads_per_multi_processor=39, L2_cache_size=38,
    )  # fmt: skip
    free, total = _memory()
    return SimpleNamespace(
        name=_name(), major=9, minor=0, total_memory=total, gcnArchName="",
        **{name: _attribute(number) for name, number in numbers.items()},
    )  # fmt: skip


def _memory(device: Any = None) -> tuple[int, int]:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value


def _name(device: Any = None) -> str:
    text = ctypes.create_string_buffer(100)
    call("cuDeviceGetName", text, 100, 0)
    return text.value.decode()


def _synchronize(device: Any = None) -> None:
    call("cuCtxSynchronize")


@cache
def serve() -> None:
    """Answer for torch.cuda, and map its device, from now on and in this thread."""
    current_device()  # which begins a context
    one = _Stream()
    answers: dict[str, Any] = {
        "is_available": True, "is_initialized": True, "init": None, "_lazy_init": None,
        "device_count": 1, "current_device": 0, "set_device": None, "empty_cache": None,
        "get_device_capability": (9, 0), "current_stream": one, "default_stream": one,
        "set_stream": None, "manual_seed": None, "manual_seed_all": None, "memory_allocated": 0,
        "max_memory_allocated": 0, "reset_peak_memory_stats": None,
        "is_current_stream_capturing": False,
    }  # fmt: skip
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, answer=answer, **__: answer)
    for name in ("stream", "device", "device_of"):
        setattr(torch.cuda, name, lambda *_, **__: nullcontext())
    torch.nn.attention.sdpa_kernel = lambda *_, **__: nullcontext()  # it names a GPU's kernels
    for name, own in {
        "Stream": _Stream, "ExternalStream": _Stream, "Event": _Event, "mem_get_info": _memory,
        "get_device_properties": _properties, "get_device_name": _name, "synchronize": _synchronize,
    }.items():  # fmt: skip
        setattr(torch.cuda, name, own)
    torch._C._to_dlpack = torch.utils.dlpack.to_dlpack = _to_dlpack
    torch._C._cuda_getCurrentRawStream = lambda device: 0  # type: ignore[attr-defined]
    if hasattr(torch.Tensor, _IN_C):
        delattr(torch.Tensor, _IN_C)
    os.environ["TVM_FFI_DISABLE_TORCH_C_DLPACK"] = "1"  # which would bring it back
    mode = _Mode()
    _follow_backward(mode)
    mode.__enter__()
