"""Launch one kernel on the software GPU's engine, whatever driver PyCUDA uses.

Where the software GPU is the driver, PyCUDA launches as usual. Memory that the arguments lead to
and the module's variables are put back afterwards. Beside a real GPU, a second engine launches on
copies of the arguments, in a module of its own.
Either way nothing that the caller can see has changed."""

import ctypes
import hashlib
import mmap
import os
import threading
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cache, partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import contract
from ..contract import ffi
from ..declarations import Declarations, short_name
from ..loader import Engine
from . import parameters

__all__ = [
    "OwnTarget",
    "Sparse",
    "Target",
    "address_of",
    "byte_count",
    "is_call",
    "one_at_a_time",
    "shape",
    "target_of",
    "text_and_name",
    "variables_kept",
    "with_all_shared",
]

one_at_a_time = threading.RLock()  # what the arguments hold is saved, and put back, by one thread


def shape(what, value):
    """A grid or block as three numbers: xray takes 128, (128,), (16, 16) and (8, 8, 4)."""
    numbers = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in numbers)
    if not (1 <= len(numbers) <= 3 and whole):
        raise TypeError(f"{what} must be one to three whole numbers, not {value!r}")
    if min(numbers) < 1:
        raise ValueError(f"{what}={value!r}: nothing is launched; give at least 1 in each place")
    return tuple(int(n) for n in numbers) + (1,) * (3 - len(numbers))


def is_call(kernel: Any) -> bool:
    """Whether it is a function that launches a kernel, and no kernel itself."""
    return callable(kernel) and not hasattr(kernel, "prepared_call")


def byte_count(what: str, value: int) -> int:
    """A number of bytes as an int."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what} must be a whole number of bytes, not {value!r}")
    if value < 0:
        raise ValueError(f"{what} must be a number of bytes from 0 on, not {value}")
    return int(value)


def target_of(kernel, debug=False):
    """The Target of a PyCUDA function, or of a pair (CUDA source, name).

    debug: the kernel compiled again without optimisation (-G)."""
    from pycuda.driver import Function, function_attribute

    engine = Engine.in_use()
    if not isinstance(kernel, Function):
        kernel = with_all_shared(_compiled(kernel))
    if not hasattr(kernel, "without_optimisation") and (debug or not engine):
        raise TypeError(
            "beside a real GPU, and for debug=True, xray needs the kernel's source: pass "
            "(CUDA source, name)"
        )
    if debug:
        most = kernel.get_attribute(function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES)
        kernel = with_all_shared(kernel.without_optimisation(), most)
    return OwnTarget(engine, kernel) if engine else _beside_target(kernel)


def with_all_shared(function, most=contract.DEVICE["block_most_shared"]):
    """A function whose launches may ask for so many bytes of dynamic shared memory, as far as there
    is room; beside a real GPU as it is."""
    from pycuda.driver import function_attribute

    if Engine.in_use():
        room = contract.DEVICE["block_most_shared"] - function.shared_size_bytes
        limit = function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        function.set_attribute(limit, min(most, room))
    return function


def text_and_name(kernel):
    """A pair (CUDA source, name), or TypeError."""
    if isinstance(kernel, tuple) and len(kernel) == 2 and all(isinstance(k, str) for k in kernel):
        return kernel
    raise TypeError(
        "xray looks at a function of PyCUDA's or a pair (CUDA source, name), not at "
        f"{type(kernel).__name__}"
    )


def _compiled(kernel, options=()):
    """The function of a pair (CUDA source, name), with what xray asks of one: name, arguments (of
    its module), parameters, without_optimisation()."""
    from pycuda.compiler import SourceModule

    source, name = text_and_name(kernel)
    arguments = {"source": source, "options": [*options]}
    with one_at_a_time:  # which of two threads writes to the compiler's cache
        function = SourceModule(**arguments).get_function(name)
    function.name, function.arguments = name, arguments
    function.parameters = parameters.parameters(Declarations(source), name)
    function.without_optimisation = lambda: _compiled(kernel, ["-G"])
    return function


@contextmanager
def variables_kept(kernel):
    """What launches of a kernel in this block leave in its module's variables is undone.

    Beside a real GPU: of a kernel of the course's, launched there."""
    if engine := Engine.in_use():
        with engine.variables_kept(kernel):
            yield
        return
    from pycuda.driver import from_device, memcpy_htod

    saved = [(at, from_device(at, (size,), np.uint8)) for at, size in _real_variables(kernel)]
    try:
        yield
    finally:
        for at, content in saved:
            memcpy_htod(at, content)


class Target:
    """A kernel and the engine that runs it: launch(args, grid, block, shared, ready, after).

    `ready`, if given, is called just before, with a function from an argument to its address;
    `after`, after a launch that ran to its end, with one from an array on the GPU, contiguous, to
    what it then holds, a NumPy array."""

    def __init__(self, engine):
        self.engine = engine
        self.library = engine.library

    def __enter__(self):
        """The engine's context is the current one."""
        return self

    def __exit__(self, *exception):
        pass

    def check(self, code):
        """Raise what a call of the engine's driver returned, if it is an error."""
        from pycuda.driver import LogicError

        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, byref(text))
            raise LogicError((text.value or b"").decode() or f"error {code}")


_PAGES_AT_ONCE = 1 << 18
_IS_THERE = 62  # from this bit on, an entry says whether the page is in memory, or swapped


class Sparse:
    """Zeros on a Target's engine, of which only pages that are touched cost memory. Its launches,
    but not xray's, take np.uintp(address)."""

    def __init__(self, target, size):
        self._target, self.size, address = target, size, c_uint64()
        target.engine.runtime.sg_sparse(True)
        try:
            with target:
                target.check(target.library.cuMemAlloc_v2(byref(address), c_size_t(size)))
        finally:
            target.engine.runtime.sg_sparse(False)
        self.address = address.value

    def part(self, first, count, dtype):
        """`count` elements from `first` on: an array that can be written to, too."""
        dtype = np.dtype(dtype)
        place = self.address + first * dtype.itemsize
        return np.frombuffer((ctypes.c_uint8 * (count * dtype.itemsize)).from_address(place), dtype)

    def touched(self):
        """The bytes at which the pages begin that have been touched."""
        found, entries = [np.empty(0, np.int64)], np.zeros(_PAGES_AT_ONCE, np.uint64)
        with open("/proc/self/pagemap", "rb", 0) as pages:  # mincore takes ten times as long
            pages.seek(self.address // mmap.PAGESIZE * entries.itemsize)
            for begin in range(0, -(-self.size // mmap.PAGESIZE), _PAGES_AT_ONCE):
                pages.readinto(entries.data)
                if entries.any():  # few of them have any
                    found.append(begin + np.flatnonzero(entries >> _IS_THERE))
        place = np.concatenate(found) * mmap.PAGESIZE
        return place[place < self.size]

    def __del__(self):
        if hasattr(self, "address"):
            with self._target:
                self._target.library.cuMemFree_v2(c_uint64(self.address))


class _Reader:
    """What `after` gets, from what `ready` gets; its own `address` says where it reads."""

    def __init__(self, address: Callable):
        self.address = address

    def __call__(self, array) -> np.ndarray:
        where = self.address(array)
        content = bytearray(ctypes.string_at(where, array.nbytes) if array.nbytes else 0)
        return np.ndarray(array.shape, array.dtype, content, strides=array.strides)


# --- the software GPU is PyCUDA's driver ---------------------------------------------------------


def address_of(argument):
    """What an argument passes to the kernel if that may be an address, else None."""
    if isinstance(argument, np.integer):
        return int(argument) if argument.itemsize == 8 else None
    interface = getattr(argument, "__cuda_array_interface__", None)
    if interface:
        return interface["data"][0]
    if isinstance(argument, np.ndarray):
        return _number_of(argument.base) if hasattr(argument.base, "get_device_pointer") else None
    return _number_of(getattr(argument, "gpudata", argument))


def _number_of(allocation):
    try:
        return int(allocation)
    except (TypeError, ValueError):
        return None


def _addresses_of(argument):
    """All addresses that an argument passes: its own `addresses`, as tensor maps have, or that one
    which it may be."""
    one = address_of(argument)
    return getattr(argument, "addresses", [] if one is None else [one])


class OwnTarget(Target):
    """A PyCUDA function that runs on the software GPU anyway."""

    def __init__(self, engine, function):
        super().__init__(engine)
        self.function = function

    def launch(self, args, grid, block, shared, ready=None, after=None):
        from pycuda.driver import ArgumentHandler

        parameters.check(args, *self._declared())
        saved = []
        for argument in args:
            if isinstance(argument, ArgumentHandler):
                saved.append((argument.array, argument.array.copy()))
            for address in _addresses_of(argument):
                if (memory := self._allocation(address)) is not None:
                    saved.append((memory, memory.copy()))
        try:
            if ready:
                ready(address_of)
            with self.engine.variables_kept(self.function):
                self.function(*args, grid=grid, block=block, shared=shared)
                if after:
                    after(_Reader(address_of))
        finally:
            for memory, content in reversed(saved):
                memory[...] = content

    @property
    def ptx(self):
        """What the kernel's source was compiled to."""
        return self.engine.kernel_of(self.function)[0].text

    @property
    def entry(self):
        """The kernel's name in it."""
        return self.engine.kernel_of(self.function)[1]

    def _declared(self):
        """The kernel's parameters and its name, of which a function of PyCUDA's knows nothing."""
        if hasattr(self.function, "parameters"):
            return self.function.parameters, self.function.name
        module, name = self.engine.kernel_of(self.function)
        return parameters.parameters(module.declarations, name), short_name(name)

    def _allocation(self, address):
        """The bytes of the allocation around an address."""
        begin, size = c_uint64(), c_size_t()
        found = self.library.cuMemGetAddressRange_v2(byref(begin), byref(size), c_uint64(address))
        if found or not size.value:
            return None
        if self.engine.runtime.sg_is_sparse(begin.value):
            raise ValueError("xray cannot watch a launch on sparse memory: launch it plainly")
        content = memoryview((ctypes.c_uint8 * size.value).from_address(begin.value))
        return np.frombuffer(content, np.uint8)


# --- a real GPU is PyCUDA's driver ---------------------------------------------------------------


@cache
def _beside():
    """An engine of its own, which no other symbol binds to, with its context and its targets, by
    the real GPU's kernels."""
    engine = Engine(os.RTLD_LOCAL | os.RTLD_DEEPBIND)
    library, context = engine.library, c_void_p()
    failed = library.cuInit(0) or library.cuDevicePrimaryCtxRetain(byref(context), 0)
    if failed:
        raise RuntimeError(f"the software GPU does not start beside the real one: error {failed}")
    return engine, context, WeakKeyDictionary[Any, BesideTarget]()


def _packed(arguments):
    """Arguments as the bytes that a kernel takes, laid out as PyCUDA does."""
    from pycuda._pvt_struct import pack

    layout = ""
    values: list[np.number | bytes] = []
    for number, argument in enumerate(arguments, 1):
        if isinstance(argument, np.number):
            layout += argument.dtype.char
            values.append(argument)
        elif isinstance(argument, (np.ndarray, np.void)):  # a struct
            layout += f"{argument.nbytes}s"
            values.append(argument.tobytes())
        else:
            raise TypeError(f"argument {number} is neither a NumPy number nor an array on the GPU")
    return pack(layout, *values)


def _real_allocation(address):
    """(begin, size) of what the real GPU has at an address, or just before it, where an array
    without elements may lie; None: nothing."""
    from pycuda.driver import LogicError, mem_get_address_range

    for near in (address, address - 1):
        with suppress(LogicError, OverflowError):  # a number below 0 is no address
            return mem_get_address_range(near)
    return None


def _real_variables(kernel):
    """(address, size) of each variable that the real GPU has of a kernel's module, without
    the compiler's own."""
    from pycuda.driver import LogicError

    target = _beside_target(kernel)
    program = target.engine.modules[target.handle].program
    for name in [v.name for v in program.variables.values() if v.space == "global"]:
        with suppress(LogicError):
            yield kernel.module.get_global(name)


def _beside_target(kernel):
    """The BesideTarget of a kernel, which is compiled again once."""
    *_, targets = _beside()
    if kernel not in targets:
        targets[kernel] = BesideTarget(kernel)
    return targets[kernel]


class BesideTarget(Target):
    """A kernel compiled for the software GPU, launched on copies of what the real GPU holds."""

    def __init__(self, kernel):
        from pycuda.compiler import compile

        engine, self.context, _ = _beside()
        super().__init__(engine)
        self.parameters, self.entry = kernel.parameters, kernel.name
        arguments = kernel.arguments
        # PyCUDA's cache does not see blank lines and comments, which line numbers depend on
        whole = hashlib.sha256(arguments["source"].encode()).hexdigest()
        options = [*arguments.get("options", ()), "-lineinfo", f"-DXRAY_SOURCE={whole}"]
        ours = f"sm_{contract.DEVICE['architecture']}"
        asked = arguments.get("arch") or ours
        compiled = {
            **arguments,
            "options": options,
            "arch": asked if asked.startswith(ours) else ours,
            "target": "ptx",
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compiler has said it when it made the kernel
            text = self.ptx = compile(**compiled).decode()
        text += "".join(f"//@ {line}\n" for line in arguments["source"].splitlines())
        module, self.function = c_void_p(), c_void_p()
        with self:
            self.check(self.library.cuModuleLoadData(byref(module), text.encode() + b"\0"))
            found = self.library.cuModuleGetFunction
            self.check(found(byref(self.function), module, kernel.name.encode()))
        self.handle = ffi.cast("void *", module.value)

    def __enter__(self):
        self.library.cuCtxPushCurrent_v2(self.context)
        return self

    def __exit__(self, *exception):
        self.library.cuCtxPopCurrent_v2(byref(c_void_p()))

    def launch(self, args, grid, block, shared, ready=None, after=None):
        from pycuda.driver import ArgumentHandler

        parameters.check(args, self.parameters, self.entry)
        with self:
            copies: dict[int, int] = {}  # by the address on the real GPU
            passed = []
            try:
                for argument in args:
                    if isinstance(argument, ArgumentHandler):
                        array = argument.array
                        passed.append(np.uintp(self._copy(copies, array.ctypes.data, array)))
                    elif hasattr(argument, "moved"):  # it is made anew for what lies elsewhere
                        passed.append(argument.moved(partial(self._moved, copies), self.library))
                    elif (address := address_of(argument)) is None:
                        passed.append(argument)
                    else:
                        moved = self._moved(copies, address)
                        passed.append(argument if moved is None else np.uintp(moved))

                def address(argument):
                    return self._moved(copies, address_of(argument))

                if ready:
                    ready(address)
                with self.engine.module_kept(self.handle):
                    self._launch(_packed(passed), grid, block, shared)
                    if after:
                        after(_Reader(address))
            finally:
                for copied in copies.values():
                    self.library.cuMemFree_v2(c_uint64(copied))

    def _moved(self, copies, address):
        """Where the copy of what lies at an address of the real GPU is; None: nothing does."""
        from pycuda.driver import from_device

        if not (found := _real_allocation(address)):
            return None
        begin, size = found
        if begin not in copies:
            self._copy(copies, begin, from_device(begin, (size,), np.uint8))
        return copies[begin] + address - begin

    def _copy(self, copies, key, array):
        content = np.ascontiguousarray(array)
        copied = c_uint64()
        size = c_size_t(max(content.nbytes, 1))
        self.check(self.library.cuMemAlloc_v2(byref(copied), size))
        copies[key] = copied.value
        self.check(
            self.library.cuMemcpyHtoD_v2(
                copied, c_void_p(content.ctypes.data), c_size_t(content.nbytes)
            )
        )
        return copied.value

    def _launch(self, packed, grid, block, shared):
        buffer, size = ctypes.create_string_buffer(packed, len(packed) or 1), c_size_t(len(packed))
        extra = (c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
        sizes = [c_uint(n) for n in (*grid, *block, shared)]
        limit = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        if shared > contract.DEVICE["block_shared"]:
            self.check(self.library.cuFuncSetAttribute(self.function, limit, c_int(shared)))
        self.check(self.library.cuLaunchKernel(self.function, *sizes, None, None, extra))
