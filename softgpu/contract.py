"""What C and Python agree on, read from driver/runtime.h and from contract.h of the rooms that
count and watch: structs, enums, functions.

The headers are the one place where all of it stands; CUDA's own is in cuda_abi.h. Here they become
offsets, numbers and functions that can be called; `ffi` makes and reads the structs."""

from __future__ import annotations

import ctypes
import enum
import hashlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
from _cffi_backend import FFI, __version__

from . import cache

__all__ = [
    "CODES",
    "DEVICE",
    "LANES",
    "WARP",
    "address",
    "codes",
    "dtype",
    "ffi",
    "flags",
    "names",
    "open_runtime",
    "values",
]

_DRIVER = Path(__file__).parent / "driver"
HEADERS = [_DRIVER / name for name in ("runtime.h", "count/contract.h", "watch/contract.h")]
CUDA = _DRIVER / "cuda_abi.h"


def _plain(text: str) -> str:
    """A header without what is the preprocessor's or one compiler's."""
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"__attribute__\(\(.*?\)\)\)?", "", text)


def _declared(header: str) -> str:
    """The header as Python that makes an FFI, which takes a hundredth of what reading C does."""
    from cffi import FFI as Reader
    from cffi.recompiler import make_py_source

    reader, python = Reader(), io.StringIO()
    reader.cdef(header)
    make_py_source(reader, "contract", python)
    return python.getvalue()


def _open() -> FFI:
    header = _plain("".join(path.read_text() for path in (CUDA, *HEADERS)))
    name = f"contract-{hashlib.sha256(f'{__version__} {header}'.encode()).hexdigest()}.py"
    try:
        python = cache.read(name).decode()
    except OSError:
        python = _declared(header)
        cache.write(name, python.encode())
    made: dict[str, FFI] = {}
    exec(python, made)
    return made["ffi"]


ffi = _open()

DEVICE: dict[str, int] = {
    name.lower(): value for name, value in ffi.typeof("enum Device").relements.items()
}
"""The numbers of the device: architecture (90 for sm_90), multiprocessors, what each has..."""

CODES = {
    name.removeprefix("CUDA_").removeprefix("ERROR_").lower(): value
    for name, value in ffi.typeof("CUresult").relements.items()
}
"""CUDA's answers, by name."""

LANES: int = ffi.integer_const("LANES")
"""Of a warp."""

WARP = {name: field.offset for name, field in ffi.typeof("Warp").fields}
"""Byte offset of each field of the Warp that a compiled kernel is called with."""


def address(pointer: Any) -> ctypes.c_void_p:
    """A pointer of cffi as ctypes has it."""
    return ctypes.c_void_p(int(ffi.cast("uintptr_t", pointer)))


def open_runtime(library: str) -> Any:
    """The functions of these headers in a library that is loaded already."""
    return ffi.dlopen(library, ffi.RTLD_NOW | ffi.RTLD_NOLOAD)


def values(name: str, prefix: str = "") -> dict[str, int]:
    """What the names of an enum stand for; names in lower case, without their prefix."""
    found = ffi.typeof(f"enum {name}").relements.items()
    return {key.removeprefix(prefix).lower(): value for key, value in found}


def flags(name: str, prefix: str) -> Any:
    """An enum whose numbers are bits, as an IntFlag of Python's; its names are the header's."""
    return enum.IntFlag(name, values(name, prefix))


def codes(name: str, prefix: str) -> Any:
    """An enum as an IntEnum of Python's; its names are the header's, without their prefix."""
    return enum.IntEnum(name, {key.upper(): value for key, value in values(name, prefix).items()})


def names(name: str, prefix: str = "") -> tuple[str, ...]:
    """The names of an enum that counts from 0, by number."""
    found = values(name, prefix)
    if sorted(found.values()) != list(range(len(found))):
        raise ValueError(f"enum {name} does not count from 0")
    return tuple(sorted(found, key=found.__getitem__))


def dtype(struct: str) -> np.dtype:
    """A struct of numbers as NumPy has it."""
    fields = [(name, *_of_field(field.type)) for name, field in ffi.typeof(struct).fields]
    return np.dtype(fields, align=True)


def _of_field(kind: Any) -> tuple:
    if kind.kind == "array":
        return *_of_field(kind.item), kind.length
    return (kind.cname.removesuffix("_t"),)
