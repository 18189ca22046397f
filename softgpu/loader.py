"""Connects the driver in C with the compiler in Python: modules are loaded, kernels compiled."""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from . import build, cache, contract, settings, trace
from .contract import CODES, DEVICE, ffi
from .declarations import short_name
from .faults import Fault, last_fault
from .findings import Findings
from .jit.compile import KernelCode
from .jit.stages import stages
from .kernel_facts import facts_of
from .loaded import APART, LoadedModule, at_work_on
from .mistakes import own_mistake
from .ptx import PtxError, cubin, fatbin
from .telling import last_findings

__all__ = ["Engine"]

_BUILDS = contract.names("Build", "BUILD_")
_TIERS = contract.names("Tier", "TIER_")
_INTERRUPTED = contract.values("Answer", "ANSWER_")["interrupted"]


class Engine:
    """The driver library, with its callbacks into the compiler."""

    _driver: Engine | None = None

    def __init__(self, mode: int):
        path = str(build.build())
        self.library = ctypes.CDLL(path, mode=mode)  # for the functions of NVIDIA's API
        self.runtime = contract.open_runtime(path)  # for the software driver's own functions
        self.modules: dict[int, LoadedModule] = {}
        self.prints_tracebacks = settings.debugged()
        self.rounds_apart = False  # whether programs were compiled by nvcc -fmad=false
        self.findings_fail = True  # whether a sanitized launch with findings fails
        self.tell_findings: Callable[[Findings], None] = _print  # what is done with them, once
        self.tell_watched: Callable[[LoadedModule, str], None] = lambda module, kernel: None
        self._told: set[str] = set()
        self._compiling = threading.Lock()
        self._callbacks = (
            self._callback("LoadCallback", self._load),
            self._callback("KernelCallback", self._describe),
            self._callback("CompileCallback", self._compile),
            self._callback("KernelCallback", self._attributes),
            ffi.callback("UnloadCallback", self._unload),
            _of_python("Later", "Py_AddPendingCall"),
        )
        self.runtime.sg_quick_work(settings.quick_work())
        self.runtime.sg_devices(settings.devices())
        self._reporter = self._callback("ReportCallback", self._report)
        self.runtime.sg_set_callbacks(*self._callbacks)
        self.runtime.sg_set_interrupt(_of_python("Interrupt", "PyErr_SetInterrupt"))
        self.runtime.sg_set_reporter(self._reporter)
        self.set_threads(0)
        # code must not be freed while launches still run it
        atexit.register(self.runtime.sg_end_launches)
        # modules unloaded while Python shuts down must not call into it
        atexit.register(self.runtime.sg_set_callbacks, *[ffi.NULL] * 6)
        atexit.register(self.runtime.sg_set_reporter, ffi.NULL)

    @classmethod
    def as_driver(cls) -> Engine:
        """Return the one engine whose symbols PyCUDA binds to; load it on first use."""
        if cls._driver is None:
            if "pycuda._driver" in sys.modules:
                raise RuntimeError(
                    "PyCUDA is imported already, and uses NVIDIA's driver: call softgpu.install()"
                    " before it is, or start again with HELPERS_DEVICE=software"
                )
            if settings.traced():
                trace.load(str(build.build()))
            cls._driver = cls(ctypes.RTLD_GLOBAL)
            ctypes.CDLL(str(build.bare_name()))
        return cls._driver

    @classmethod
    def in_use(cls) -> Engine | None:
        """Return the engine that is this process's driver; None if NVIDIA's driver is in use."""
        return cls._driver

    @classmethod
    def stopped_launches(cls) -> int:
        """Return how many of the driver's launches ended early; 0 if it is not in use."""
        return cls._driver.runtime.sg_stopped_launches() if cls._driver else 0

    def kernel_of(self, function) -> tuple[LoadedModule, str]:
        """Return the module of a PyCUDA function of this driver, and its name in PTX."""
        handle, name = self._asked_about(function)
        return self.modules[handle], name

    def _asked_about(self, function) -> tuple[Any, str]:
        """Return the handle of a function's module, and the function's name."""
        from pycuda.driver import function_attribute

        handle = ffi.new("void **")
        function.get_attribute(function_attribute.MAX_THREADS_PER_BLOCK)
        name = ffi.string(self.runtime.sg_asked_about(handle)).decode()
        return handle[0], name

    def variables_kept(self, function):
        """Restore the variables of a function's module at the end of this block."""
        return self.module_kept(self._asked_about(function)[0])

    @contextmanager
    def module_kept(self, handle):
        """Restore a module's variables at the end of this block."""
        variables = self._variables(handle)
        before = variables[:]
        try:
            yield
        finally:
            variables[:] = before

    def variables(self, function) -> bytes:
        """Return the contents of all variables of a function's module, concatenated."""
        return self._variables(self._asked_about(function)[0])[:]

    def _variables(self, handle) -> Any:
        size = ffi.new("size_t *")
        base = self.runtime.sg_module_variables(handle, size)
        return ffi.buffer(base or ffi.new("char[]", 0), size[0])

    @contextmanager
    def only_blocks(self, ranges: Iterable[range]):
        """Run only blocks with these linear indices (x fastest) in this thread's launches in
        this block."""
        chosen = sorted((r for r in ranges if r), key=lambda r: r.start)
        if any(r.step != 1 for r in chosen) or any(a.stop > b.start for a, b in pairwise(chosen)):
            raise ValueError(f"ranges of blocks must be of step 1 and apart, not {chosen}")
        if not chosen or chosen[0].start < 0:
            raise ValueError(f"there are no such blocks: {chosen}")
        told = ffi.new("Range[]", [(r.start, r.stop) for r in chosen])
        self.runtime.sg_only_blocks(told, len(chosen))
        try:
            yield
        finally:
            self.runtime.sg_only_blocks(ffi.NULL, 0)

    @contextmanager
    def block_order(self, seed: int):
        """Shuffle, by the seed, the order of blocks of this thread's launches in this block."""
        self.runtime.sg_block_order(seed % ((1 << 64) - 1) + 1)
        try:
            yield
        finally:
            self.runtime.sg_block_order(0)

    def link_bytes(self) -> list[list[int]]:
        """Return the bytes sent from device to device since the last call, as [from][to]."""
        most, count = settings.MOST_DEVICES, settings.devices()
        counts = ffi.new("uint64_t[]", most * most)
        self.runtime.sg_link_bytes(counts)
        return [[counts[start * most + end] for end in range(count)] for start in range(count)]

    last_error: BaseException | None = None
    """What went wrong last in a call of the driver's, such as a refused module."""

    def set_threads(self, threads: int) -> None:
        """Set how many blocks run at a time; 0: one per core; 1: deterministic."""
        self.runtime.sg_options(threads, threads == 1, settings.timeout_s())

    @contextmanager
    def time_limit(self, seconds: float):
        """Limit launches in this block to this many seconds of computing by their busiest thread,
        unless a lower limit is set."""
        before = self.runtime.sg_time_limit(seconds)
        self.runtime.sg_time_limit(min(before, seconds))
        try:
            yield
        finally:
            self.runtime.sg_time_limit(before)

    def last_fault(self) -> Fault:
        """What ended the last launch, if something did."""
        return last_fault(self.runtime)

    def error_detail(self) -> str:
        """What exactly went wrong in this thread's last call that failed; "": nothing is known."""
        return ffi.string(self.runtime.sg_error_detail()).decode()

    @contextmanager
    def addresses_hidden(self):
        """Faults in this block name no addresses, which differ from run to run."""
        before = self.runtime.sg_hide_addresses(1)
        try:
            yield
        finally:
            self.runtime.sg_hide_addresses(before)

    @contextmanager
    def tier(self, name: str):
        """Compile kernels in this block "quick", in "full", or "both" as the default rule
        decides."""
        before = self.runtime.sg_quick_work(settings.quick_work(name))
        try:
            yield
        finally:
            self.runtime.sg_quick_work(before)

    def sanitize_launches(self, on: bool = True) -> None:
        """Sanitize every launch, as SOFTGPU_SANITIZE=1 does: a launch with findings fails."""
        self.runtime.sg_sanitize_all(on)

    def profile_launches(self, tell: Callable[[Any], None]) -> None:
        """Profile every launch, and call tell with what sg_profile_end() has after one."""
        self._profiled = self._callback("ProfiledCallback", tell)
        self.runtime.sg_profile_all(self._profiled)
        atexit.register(self.runtime.sg_profile_all, ffi.NULL)

    def _callback(self, kind: str, function):
        """Return a C callback that returns the function's result, 0 for None, or an exception's
        error code."""
        return ffi.callback(
            kind, lambda *given: function(*given) or 0, error=CODES["unknown"], onerror=self._failed
        )

    def _failed(self, _, error: BaseException, trace) -> int:
        """Store an exception's message for the driver, and return its error code."""
        if self.prints_tracebacks:
            traceback.print_exception(type(error), error, trace)
        if isinstance(error, MemoryError):
            return CODES["out_of_memory"]  # the driver may already have set a message with the size
        code, text, self.last_error = CODES["unknown"], own_mistake(error), error
        if isinstance(error, KeyboardInterrupt):
            code, text = _INTERRUPTED, "interrupted"
        elif isinstance(error, PtxError):
            code, text = CODES["invalid_ptx"], str(error)
        self.runtime.sg_set_error(text.encode())
        return code

    def _load(self, handle, image, size: int) -> None:
        cache.guard_pycuda()  # before PyCUDA's next compilation
        data = bytes(ffi.buffer(image, size))
        if data[:4] == cubin.MAGIC:
            text = cubin.ptx_of(data)
        elif data[:4] == fatbin.MAGIC:
            text = fatbin.ptx_for(data, DEVICE["architecture"])
        else:
            text = data.rstrip(b"\0").decode(errors="replace")
        text, end, _ = text.partition("\n//@@\n")  # see bin/nvcc
        text += APART if self.rounds_apart else ""
        try:
            module = LoadedModule(text + "\n")
        except PtxError as error:
            if not end and cache.forget_pycudas(data):
                raise PtxError(
                    "the compiler was interrupted, or the disk full, when this kernel was compiled"
                    f" last: run it again ({error})"
                ) from error
            raise
        self.modules[handle] = module
        runtime, program, placed = self.runtime, module.program, module.image
        if runtime.sg_module_create(handle, placed.bytes):
            raise MemoryError  # the driver has set the message
        for offset, content in placed.pieces:
            runtime.sg_module_fill(handle, offset, content, len(content))
        for variable in placed.variables:
            offset = placed.offsets[variable.name]
            constant = variable.space == "const"
            runtime.sg_module_variable(
                handle, variable.name.encode(), offset, variable.bytes, constant
            )
        for where, target in placed.relocations:
            runtime.sg_module_relocate(handle, where, target)
        for kernel in program.kernels:
            shown = short_name(kernel.name)
            runtime.sg_module_kernel(handle, kernel.name.encode(), shown.encode())

    def _compile(self, handle, kernel, build_number: int, tier: int) -> None:
        """Compile one build of a kernel."""
        module, build_name = self.modules[handle], _BUILDS[build_number]
        name = ffi.string(kernel).decode()
        with self._compiling, at_work_on(name):
            code = module.code(name, build_name, quick=_TIERS[tier] == "quick")
            if folder := settings.dump_folder():
                _dump(code, build_name, folder)
            address = code.address(self.library)
        if build_name == "sanitize":
            self.tell_watched(module, name)
        counters = code.notes.get("counters", 0)
        entry = ffi.cast("void *", address)
        made = _TIERS.index("full" if code.is_full else "quick")
        self.runtime.sg_kernel_set_code(handle, kernel, build_number, made, entry, counters)
        if origins := code.notes.get("origins"):
            self.runtime.sg_kernel_set_origins(handle, kernel, origins, len(origins))

    def _describe(self, handle, kernel) -> None:
        """Give the driver the facts it needs to launch a kernel in any build; or refuse the
        kernel."""
        module, name = self.modules[handle], ffi.string(kernel).decode()
        with self._compiling, at_work_on(name):
            try:
                code = module.code(name, "plain")
            except PtxError as error:
                raise type(error)(f"{error}{module.refused_beside(name)}") from error
            code.keep_what_is_known()
            facts = facts_of(module.program.functions[name], code)
            facts["watched_shared"] = module.watched_layout(name).static_shared_bytes
        self.runtime.sg_kernel_describe(handle, kernel, ffi.new("KernelFacts *", facts))

    def _attributes(self, handle, kernel) -> None:
        module = self.modules[handle]
        name = ffi.string(kernel).decode()
        layout = module.layout(name)
        found = module.resources.get(name, {})
        named = sum(v.bytes for v in module.program.variables.values() if v.space == "const")
        self.runtime.sg_kernel_set_attributes(
            handle,
            kernel,
            found.get("registers", 0),
            found.get("local", layout.local_bytes),
            max(found.get("constant", 0), named),
            module.program.functions[name].max_threads or DEVICE["block_threads"],
        )

    def _report(self) -> int | None:
        """SOFTGPU_SANITIZE: print a launch's findings, and make it fail."""
        found = last_findings(self)
        assert found is not None  # called only after a sanitized launch
        if not found:  # all of them may have been padding of structs
            return None
        words = str(found)
        if self.findings_fail or words not in self._told:
            self.tell_findings(found)
        self._told.add(words)
        if not self.findings_fail:
            return None
        count = "one thing" if len(found) == 1 else f"{len(found)} things"
        first = f"the sanitizer found {count} wrong with kernel {found.kernel}: {found[0]}"
        self.runtime.sg_set_error(first.encode())
        return CODES["launch_failed"]

    def _unload(self, handle) -> int:
        self.modules.pop(handle, None)
        return 0


def _print(found: Findings) -> None:
    print(found, file=sys.stderr, flush=True)


def _dump(code: KernelCode, build_name: str, folder: Path) -> None:
    """SOFTGPU_DUMP: write a kernel's text at each stage of compilation."""
    made = stages(code.layout, code.kernel, build_name)
    try:
        made.write(folder)
    except OSError as error:
        raise PtxError(f"SOFTGPU_DUMP={folder} cannot be written to: {error}") from error


def _of_python(kind: str, name: str):
    """Return a function of Python's C API as a C function pointer."""
    return ffi.cast(kind, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
