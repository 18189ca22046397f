"""Between the driver in C and the compiler in Python: modules load, kernels are asked for."""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import re
import shutil
import sys
import threading
import traceback
from collections.abc import Iterable
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from . import build, cache, contract, sass, settings, trace
from .contract import CODES, DEVICE, ffi
from .declarations import Declarations, short_name
from .jit.compile import KernelCode
from .jit.facts.layout import Image, Layout, Site
from .jit.facts.types import bits_of
from .jit.stages import stages
from .mistakes import own_mistake
from .ptx import PtxError, fatbin, link, parse
from .ptx.callers import tell_callers
from .ptx.parser import token_lines
from .ptx.program import Function, InternalError, Variable
from .telling import last_findings

__all__ = ["Engine"]

_SPACES = contract.values("Space", "SPACE_")
_KINDS = contract.values("SiteKind", "SITE_")
_BUILDS = contract.names("Build", "BUILD_")
_TIERS = contract.names("Tier", "TIER_")
_INTERRUPTED = contract.values("Answer", "ANSWER_")["interrupted"]
_BOUNDLESS = 2, (1 << 31) - 1, False  # loops: of what recurses, whose stack is as deep as in full


class LoadedModule:
    """A module of PTX: parsed, its variables placed; its kernels are looked at on demand."""

    def __init__(self, text: str):
        self.text = text
        self.digest = hashlib.sha256(text.encode()).digest()
        self.program = tell_callers(parse(link(text)))
        self.image = Image(self.program)
        self._layouts: dict[str, Layout] = {}
        self._watched_layouts: dict[str, Layout] = {}
        self._codes: dict[tuple[str, str, bool], KernelCode] = {}
        self._told_refusals = False

    def layout(self, kernel: str) -> Layout:
        """Where a kernel's shared and local memory lies; refuses more than there can be."""
        if kernel not in self._layouts:
            layout = Layout(self.program, self.image, kernel)
            shared, local = layout.static_shared_bytes, layout.local_bytes
            parameters = self.program.functions[kernel].param_bytes
            if shared > DEVICE["block_shared"]:
                raise PtxError(
                    f"kernel {kernel} has {shared} bytes of static shared"
                    f" memory; a block can have {DEVICE['block_shared']}, more only as dynamic"
                )
            if local > DEVICE["thread_local"]:
                raise PtxError(
                    f"kernel {kernel} needs {local} bytes of local memory;"
                    f" a thread can have {DEVICE['thread_local']}"
                )
            if parameters > DEVICE["kernel_parameters"]:
                raise PtxError(
                    f"kernel {kernel} takes {parameters} bytes of parameters;"
                    f" {DEVICE['kernel_parameters']} are possible"
                )
            self._layouts[kernel] = layout
        return self._layouts[kernel]

    def code(self, kernel: str, build_name: str, quick: bool = True) -> KernelCode:
        """A build of a kernel; building it for the first time notices what cannot be run.

        `quick`: it need not be in full, as for what both tiers have."""
        full = self._codes.get((kernel, build_name, True))
        found = full or (quick and self._codes.get((kernel, build_name, False)))
        if not found:
            found = self._new_code(kernel, build_name, quick)
            self._codes[kernel, build_name, found.is_full] = found
        return found

    def _new_code(self, kernel: str, build_name: str, quick: bool = True) -> KernelCode:
        layout = self.watched_layout(kernel) if build_name == "sanitize" else self.layout(kernel)
        return KernelCode(self.digest, layout, kernel, build_name, quick)

    def watched_layout(self, kernel: str) -> Layout:
        """The layout of the sanitizer's build, where nothing is aligned by luck."""
        if kernel not in self._watched_layouts:
            self._watched_layouts[kernel] = self.layout(kernel).least_aligned()
        return self._watched_layouts[kernel]

    def refused_beside(self, kernel: str) -> str:
        """The module's other kernels that cannot run, in words; empty from the second time on."""
        if self._told_refusals:
            return ""
        reasons = []
        for other in self.program.kernels:
            try:
                if other.name != kernel:
                    with _at_work_on(other.name):
                        self._new_code(other.name, "plain")
            except PtxError as error:
                reasons.append(f"\n    {other.name}: {error}")
            except InternalError as error:
                reasons.append(f"\n    {other.name}: {own_mistake(error)}")
        self._told_refusals = True
        if not reasons:
            return ""
        head = (
            f"\n{len(reasons)} more of the module's {len(self.program.kernels)} kernels cannot run:"
        )
        return head + "".join(reasons)

    @cached_property
    def source_lines(self) -> dict[str, dict[int, str]]:
        """The CUDA source by file and line, from comments after the PTX or the files it names.

        What `#line` does not name in those comments is file "".
        """
        found: dict[str, dict[int, str]] = {}
        file, number = "", 0
        for line in self.text.splitlines():
            if not line.startswith("//@ "):
                continue
            if match := re.match(r'//@ \s*#\s*(?:line\s+)?(\d+)(?:\s+"([^"]*)")?', line):
                file, number = match[2] or file, int(match[1]) - 1
                continue
            number += 1
            found.setdefault(file, {})[number] = line[4:]
        return found or {name: _lines_of(name) for name in self.program.own_files}

    @cached_property
    def declarations(self) -> Declarations:
        """What that source declares."""
        lines = (line for lines in self.source_lines.values() for line in lines.values())
        return Declarations("\n".join(lines))

    @cached_property
    def resources(self) -> dict[str, dict[str, int]]:
        """What ptxas reports of each kernel: registers, local and constant bytes; {} without it."""
        ptxas = _ptxas()
        if ptxas is None:
            return {}
        try:
            report, _ = sass.assembled(self.text, self.program.target, ptxas)
        except sass.Refused:
            return {}
        return _read_ptxas(report)

    @cached_property
    def machine_code(self) -> dict[str, list[sass.SassBlock]]:
        """Each kernel's machine code; sass.Refused, where there is none, says why."""
        ptxas = _ptxas()
        nvdisasm = sass.find_nvdisasm(os.environ.get("SOFTGPU_NVCC", ""))
        if ptxas is None or nvdisasm is None:
            raise sass.Refused("machine code is unknown without NVIDIA's ptxas and nvdisasm")
        return sass.disassemble(self.text, self.program.target, ptxas, nvdisasm)

    @cached_property
    def token_lines(self) -> list[int]:
        """The line of the text on which each token stands."""
        return token_lines(self.text)


def _ptxas() -> str | None:
    """NVIDIA's assembler: on PATH, or beside the compiler in use."""
    beside = os.path.dirname(os.environ.get("SOFTGPU_NVCC", ""))
    return shutil.which("ptxas") or (shutil.which("ptxas", path=beside) if beside else None)


def _lines_of(file: str) -> dict[int, str]:
    """The lines of a file by number; {} if it cannot be read."""
    try:
        return dict(enumerate(Path(file).read_text(errors="replace").splitlines(), 1))
    except OSError:
        return {}


def _read_ptxas(report: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    current: dict[str, int] = {}
    for line in report.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            current = found.setdefault(match[1], {"registers": 0, "local": 0, "constant": 0})
        elif match := re.search(r"Function properties for (\S+)", line):
            current = found.get(match[1].strip("'"), {})
        elif match := re.search(r"(\d+) bytes stack frame", line):
            current["local"] = int(match[1])
        elif match := re.search(r"Used (\d+) registers", line):
            current["registers"] = int(match[1])
            current["constant"] = sum(int(n) for n in re.findall(r"(\d+) bytes cmem\[[^0]\]", line))
    return found


class Engine:
    """The driver library with its callbacks into the compiler."""

    _driver: Engine | None = None

    def __init__(self, mode: int):
        path = str(build.build())
        self.library = ctypes.CDLL(path, mode=mode)  # with NVIDIA's functions
        self.runtime = contract.open_runtime(path)  # with its own
        self.modules: dict[int, LoadedModule] = {}
        self.prints_tracebacks = settings.debugged()
        self.findings_fail = True  # whether a launch that was watched, and found wrong, fails
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
        # what is still running would lose its code
        atexit.register(self.runtime.sg_end_launches)
        # modules that are unloaded while Python goes down must not call into it
        atexit.register(self.runtime.sg_set_callbacks, *[ffi.NULL] * 6)
        atexit.register(self.runtime.sg_set_reporter, ffi.NULL)

    @classmethod
    def as_driver(cls) -> Engine:
        """The one engine whose symbols PyCUDA binds to."""
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
        """The one that is this process's driver; None where that is NVIDIA's."""
        return cls._driver

    @classmethod
    def stopped_launches(cls) -> int:
        """How many launches of the driver ended early; 0 where it is not in use."""
        return cls._driver.runtime.sg_stopped_launches() if cls._driver else 0

    def kernel_of(self, function) -> tuple[LoadedModule, str]:
        """The module and the name, as PTX has it, of a PyCUDA function of this driver."""
        handle, name = self._asked_about(function)
        return self.modules[handle], name

    def _asked_about(self, function) -> tuple[Any, str]:
        """The handle of a function's module, and its name."""
        from pycuda.driver import function_attribute

        handle = ffi.new("void **")
        function.get_attribute(function_attribute.MAX_THREADS_PER_BLOCK)
        name = ffi.string(self.runtime.sg_asked_about(handle)).decode()
        return handle[0], name

    def variables_kept(self, function):
        """What launches in this block leave in the variables of a function's module is undone."""
        return self.module_kept(self._asked_about(function)[0])

    @contextmanager
    def module_kept(self, handle):
        """What launches in this block leave in a module's variables is undone."""
        variables = self._variables(handle)
        before = variables[:]
        try:
            yield
        finally:
            variables[:] = before

    def variables(self, function) -> bytes:
        """What the variables of a function's module hold, one after the other."""
        return self._variables(self._asked_about(function)[0])[:]

    def _variables(self, handle) -> Any:
        size = ffi.new("size_t *")
        base = self.runtime.sg_module_variables(handle, size)
        return ffi.buffer(base or ffi.new("char[]", 0), size[0])

    @contextmanager
    def only_blocks(self, ranges: Iterable[range]):
        """This thread's launches in this block run only blocks of these numbers, x fastest."""
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
        """Blocks of this thread's launches in this block come in an order shuffled by the seed."""
        self.runtime.sg_block_order(seed % ((1 << 64) - 1) + 1)
        try:
            yield
        finally:
            self.runtime.sg_block_order(0)

    def link_bytes(self) -> list[list[int]]:
        """Bytes that went from device to device, [from][to], since the last call."""
        most, count = settings.MOST_DEVICES, settings.devices()
        counts = ffi.new("uint64_t[]", most * most)
        self.runtime.sg_link_bytes(counts)
        return [[counts[start * most + end] for end in range(count)] for start in range(count)]

    def set_threads(self, threads: int) -> None:
        """How many blocks run at a time; 0: as many as there are cores; 1: deterministic."""
        self.runtime.sg_options(threads, threads == 1, settings.timeout_s())

    @contextmanager
    def time_limit(self, seconds: float):
        """Launches in this block are stopped after so many seconds, if not before."""
        before = self.runtime.sg_time_limit(seconds)
        self.runtime.sg_time_limit(min(before, seconds))
        try:
            yield
        finally:
            self.runtime.sg_time_limit(before)

    @contextmanager
    def tier(self, name: str):
        """Kernels in this block run in code made "quick", in "full", or "both" by the rule."""
        before = self.runtime.sg_quick_work(settings.quick_work(name))
        try:
            yield
        finally:
            self.runtime.sg_quick_work(before)

    def sanitize_launches(self, on: bool = True) -> None:
        """Watch every launch, as SOFTGPU_SANITIZE=1 does: one that does something wrong fails."""
        self.runtime.sg_sanitize_all(on)

    def _callback(self, kind: str, function):
        """A function for C: what it returns, 0 for None, or the error code of its exception."""
        return ffi.callback(
            kind, lambda *given: function(*given) or 0, error=CODES["unknown"], onerror=self._failed
        )

    def _failed(self, _, error: BaseException, trace) -> int:
        """The error code of an exception, whose text is told."""
        if self.prints_tracebacks:
            traceback.print_exception(type(error), error, trace)
        if isinstance(error, MemoryError):
            return CODES["out_of_memory"]  # the driver may have said how much it is
        code, text = CODES["unknown"], own_mistake(error)
        if isinstance(error, KeyboardInterrupt):
            code, text = _INTERRUPTED, "interrupted"
        elif isinstance(error, PtxError):
            code, text = CODES["invalid_ptx"], str(error)
        self.runtime.sg_set_error(text.encode())
        return code

    def _load(self, handle, image, size: int) -> None:
        cache.guard_pycuda()  # before what it compiles next
        data = bytes(ffi.buffer(image, size))
        if data[:4] == b"\x7fELF":
            raise PtxError("this is machine code of a GPU; the software GPU runs PTX (nvcc --ptx)")
        if data[:4] == fatbin.MAGIC:
            text = fatbin.ptx_for(data, DEVICE["architecture"])
        else:
            text = data.rstrip(b"\0").decode(errors="replace")
        text, end, _ = text.partition("\n//@@\n")  # see bin/nvcc
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
            raise MemoryError  # the driver has the words
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
        """Make a build of a kernel."""
        module, build_name = self.modules[handle], _BUILDS[build_number]
        name = ffi.string(kernel).decode()
        with self._compiling, _at_work_on(name):
            code = module.code(name, build_name, quick=_TIERS[tier] == "quick")
            if folder := settings.dump_folder():
                _dump(code, build_name, folder)
            address = code.address(self.library)
        counters = code.notes.get("counters", 0)
        entry = ffi.cast("void *", address)
        made = _TIERS.index("full" if code.is_full else "quick")
        self.runtime.sg_kernel_set_code(handle, kernel, build_number, made, entry, counters)
        if origins := code.notes.get("origins"):
            self.runtime.sg_kernel_set_origins(handle, kernel, origins, len(origins))

    def _describe(self, handle, kernel) -> None:
        """Tell the driver what a launch of a kernel, of any build, needs to know; or refuse it."""
        module, name = self.modules[handle], ffi.string(kernel).decode()
        with self._compiling, _at_work_on(name):
            try:
                code = module.code(name, "plain")
            except PtxError as error:
                raise PtxError(f"{error}{module.refused_beside(name)}") from error
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
        """SOFTGPU_SANITIZE: say what a launch did wrong, and make it fail."""
        found = last_findings(self)
        assert found is not None  # it is asked for after a launch that was watched
        if not found:  # all of it may be gaps in structs
            return None
        words = str(found)
        if self.findings_fail or words not in self._told:
            print(words, file=sys.stderr, flush=True)
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


@contextmanager
def _at_work_on(kernel: str):
    """What goes wrong here, and is no refusal, is told with the kernel's name."""
    try:
        yield
    except (PtxError, InternalError, MemoryError):
        raise
    except Exception as error:
        raise InternalError(f"kernel {short_name(kernel)}") from error


def _dump(code: KernelCode, build_name: str, folder: Path) -> None:
    """SOFTGPU_DUMP: leave what a kernel looks like at each stage."""
    made = stages(code.layout, code.kernel, build_name)
    try:
        made.write(folder)
    except OSError as error:
        raise PtxError(f"SOFTGPU_DUMP={folder} cannot be written to: {error}") from error


_pointed_at: WeakKeyDictionary[Any, list] = WeakKeyDictionary()
"""What an array in C points at, which lives as long."""


def facts_of(function: Function, code: KernelCode) -> dict:
    """What the driver needs to know of a kernel, as the fields of KernelFacts."""
    layout = code.layout
    files = sorted({site.file for site in code.sites})
    names = [ffi.new("char[]", Path(name).name.encode()) for name in files]
    named = ffi.new("char *[]", names)
    _pointed_at[named] = names
    places = [(function.param_offsets[p.name], p.bytes, _whole_bytes(p)) for p in function.params]
    cluster = function.directives.get("reqnctapercluster")
    depth, constant, few = _BOUNDLESS if layout.may_recurse else code.notes["loops"]
    return {
        "takes": ffi.new("char[]", _sizes(function.params)),
        "params": ffi.new("uint32_t[][3]", places),
        "param_count": len(places),
        "param_bytes": function.param_bytes,
        "param_align": max((p.align for p in function.params), default=1),
        "loop_depth": depth,
        "loop_constant": constant,
        "few_turns": few,
        "static_shared": layout.static_shared_bytes,
        "dynamic_align": layout.dynamic_align,
        "local_bytes": layout.local_bytes,
        "max_threads": function.max_threads or 0,
        "cluster": (*cluster, 1, 1, 1)[:3] if cluster else (0, 0, 0),
        "ptx_version": layout.module.architecture,
        "files": named,
        "sites": ffi.new("struct Site[]", [_site(site, files) for site in code.sites]),
        "file_count": len(files),
        "site_count": len(code.sites),
        "follows_pointers": layout.follows_pointers,
        "runs_through": code.runs_through,
        "has_warpgroups": any(item.name.startswith("wgmma") for item in function.body),
    }


def _of_python(kind: str, name: str):
    """A function of Python's own, for C."""
    return ffi.cast(kind, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)


def _sizes(params: list[Variable]) -> bytes:
    """The sizes of several parameters: " (8 + 4)"."""
    return f" ({' + '.join(str(p.bytes) for p in params)})".encode() if len(params) > 1 else b""


def _whole_bytes(parameter: Variable) -> int:
    """The size of the whole numbers that a parameter may hold; 0: it is none."""
    size = bits_of(parameter.type) // 8
    if parameter.type[0] == "f":
        return 0
    return size if size == parameter.bytes else 4


def _site(site: Site, files: list[str]) -> dict[str, int]:
    """A row of the driver's table of sites."""
    return {
        "file": files.index(site.file),
        "line": site.line,
        "bytes": site.bytes,
        "space": _SPACES[site.space],
        "kind": _KINDS[site.kind],
        "elements": site.elements,
        "used": site.used,
    }
