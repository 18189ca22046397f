"""Calls of the driver, and times, for clients that are answered in Python."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from math import isnan
from typing import Any

from ..loader import Engine

__all__ = ["call", "current_device", "rank_us", "register", "set_device", "unregister"]


def rank_us(launch: Callable[[], object]) -> float:
    """Microseconds by which an autotuner compares launches: what the clock predicts for a GPU or,
    if it can't, what the launch takes here."""
    from ..xray.profiler import predicted_us

    begin = time.perf_counter()
    predicted = predicted_us(launch)
    return (time.perf_counter() - begin) * 1e6 if isnan(predicted) else predicted


def call(name: str, *arguments: Any) -> None:
    """Call a function of the driver; raise its error."""
    library = Engine.as_driver().library
    if code := getattr(library, name)(*arguments):
        text = ctypes.c_char_p()
        library.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{name} failed: {(text.value or b'').decode()}")


def current_device() -> int:
    """Return the number of the current context's device; make device 0 current if there is none."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuCtxGetCurrent", ctypes.byref(context))
    if not context:
        set_device(0)
    call("cuCtxGetDevice", ctypes.byref(device))
    return device.value


def set_device(number: int) -> None:
    """Make a device's primary context current."""
    context = ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), number)
    call("cuCtxSetCurrent", context)


def register(address: int, size: int) -> bool:
    """Let kernels touch this memory of the process; False: the driver knows it, or it is empty."""
    function = Engine.as_driver().library.cuMemHostRegister_v2
    return bool(address and size) and not function(
        ctypes.c_void_p(address), ctypes.c_size_t(size), 0
    )


def unregister(address: int) -> None:
    """Take `register` back."""
    Engine.as_driver().library.cuMemHostUnregister(ctypes.c_void_p(address))
