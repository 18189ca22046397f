"""LLVM text to machine code, kept on disk between processes.

Terms: tiered compilation (Aycock 2003; docs/terms.md).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import json
from contextlib import suppress
from pathlib import Path
from weakref import WeakValueDictionary

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from .. import cache, contract
from .emit.module_text import ModuleText, symbol
from .facts import processor
from .facts.layout import Layout, Site
from .passes import BUILDS

__all__ = ["KernelCode", "assembly", "machine_code", "module_of", "optimise"]

_WAITS = (
    *("sg_barrier", "sg_sync", "sg_arrive", "sg_catch_up", "sg_mbarrier", "sg_cluster", "sg_yield"),
    "sg_wgmma",
)
"""The driver's functions in which a warp may wait for others."""


def _new_target_machine(opt: int = 2):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = processor.named()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=opt
    )


_target_machine = functools.cache(_new_target_machine)


@functools.cache
def _version() -> bytes:
    """Changes whenever cached code would be out of date."""
    digest = hashlib.sha256(llvmlite.__version__.encode())
    digest.update(" ".join(processor.named()).encode())
    root = Path(__file__).parent.parent
    sources = root.glob("ptx/*.py"), root.glob("jit/**/*.py"), contract.HEADERS
    for path in sorted(itertools.chain(*sources)):
        digest.update(path.read_bytes())
    return digest.digest()


def module_of(text: str) -> llvm.ModuleRef:
    """LLVM text, read and checked."""
    module = llvm.parse_assembly(text, llvm.create_context())  # whose types go with it
    module._owned = True  # the context takes it along: a garbage collector may come to it first
    module.triple = llvm.get_process_triple()
    module.data_layout = str(_target_machine().target_data)
    module.verify()
    return module


def optimise(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """Let LLVM's passes change a module."""
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
    # for one run: each leaves it callbacks into what is gone afterwards
    builder = llvm.create_pass_builder(_target_machine(), options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    NewPassManager._dispose(passes)  # llvmlite's inheritance hides it from itself
    passes.detach()
    return module


def assembly(module: llvm.ModuleRef) -> str:
    """The machine code of an optimised module, to be read."""
    return _target_machine().emit_assembly(module)


def machine_code(module: llvm.ModuleRef, quick: bool) -> bytes:
    """An object file of a module; quick: without any optimisation."""
    return _target_machine(0 if quick else 2).emit_object(module if quick else optimise(module))


class _LoadedCode:
    """Machine code in memory, until the last KernelCode that runs it is gone."""

    def __init__(self, object_code: bytes, name: str):
        machine = _new_target_machine()  # which the engine takes with it
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()
        self.address = self._engine.get_function_address(name)


_loaded: WeakValueDictionary[tuple[str, int], _LoadedCode] = WeakValueDictionary()
"""By key, and the driver it calls into."""


class KernelCode:
    """One build of one kernel: its sites at once, its machine code when asked for.

    `text`: the digest of the module's text. `quick`: its machine code may be slow, if that makes it
    sooner; `is_full`: it is not. `notes`: what is known of the code beside; "counters": how many it
    needs. Sites and notes are the same of both tiers. All of it comes from the cache if it is
    there, under key.o: a line of JSON, then the object; or without the object, under key.known.
    """

    def __init__(self, text: bytes, layout: Layout, kernel: str, build: str, quick: bool = False):
        self.kernel = kernel
        self.layout = layout
        key = hashlib.sha256(_version())
        for part in (text, kernel.encode(), build.encode()):
            key.update(len(part).to_bytes(8, "little") + part)
        self._build = build
        self._emitted = ""
        self._object = b""
        self._code: _LoadedCode | None = None
        self._known = f"{key.hexdigest()}.known"
        for self.is_full in (True, False) if quick else (True,):
            self._key = key.hexdigest() + ("" if self.is_full else "-quick")
            with suppress(OSError, ValueError, TypeError, KeyError):  # not there, or not readable
                self._read(f"{self._key}.o")
                return
        with suppress(OSError, ValueError, TypeError, KeyError):
            self._read(self._known)
            return
        self.emitted()

    def emitted(self) -> str:
        """Its text in LLVM's words."""
        if self._emitted:
            return self._emitted
        module_text = ModuleText(self.layout, BUILDS[self._build], not self.is_full)
        self._emitted = module_text.emit(self.kernel)
        self.sites = module_text.sites
        self.notes = module_text.notes
        self._symbols = [name for name in module_text.declared if name.startswith("sg_")]
        return self._emitted

    def _read(self, name: str) -> None:
        header, _, self._object = cache.read(name).partition(b"\n")
        known = json.loads(header)
        if known["digest"] != hashlib.sha256(self._object).hexdigest():
            raise ValueError("a damaged file")
        self.sites = [Site(*fields) for fields in known["sites"]]
        self._symbols = known["symbols"]
        self.notes = known["notes"]

    @property
    def runs_through(self) -> bool:
        """Whether its warps never wait for each other."""
        return not any(name.startswith(_WAITS) for name in self._symbols)

    def _make(self) -> None:
        """The object, and its file, unless another process has made it since."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            self._read(f"{self._key}.o")
            return
        self._object = self._made_object()
        self._write(f"{self._key}.o")

    def _write(self, name: str) -> None:
        known = {
            "digest": hashlib.sha256(self._object).hexdigest(),
            "sites": [list(vars(site).values()) for site in self.sites],
            "symbols": self._symbols,
            "notes": self.notes,
        }
        cache.write(name, json.dumps(known).encode() + b"\n" + self._object)

    def keep_what_is_known(self) -> None:
        """Let other processes know sites and notes, though no machine code may ever be made."""
        if self._emitted:
            self._write(self._known)

    def _made_object(self) -> bytes:
        quick = not self.is_full
        try:
            return machine_code(module_of(self.emitted()), quick)
        except RuntimeError:  # LLVM shows the line that it cannot read, which then says whose it is
            text = ModuleText(self.layout, BUILDS[self._build], quick, annotated=True)
            module_of(text.emit(self.kernel))
            raise

    def address(self, library: ctypes.CDLL) -> int:
        """Where the machine code is, ready to be called; `library`: the driver it calls into."""
        if self._code is None:
            if not self._object:
                with cache.alone(f"{self._key}.o"):
                    self._make()
                self._emitted = ""
            for name in self._symbols:
                llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
            key = self._key, library._handle
            self._code = _loaded.get(key) or _LoadedCode(self._object, symbol(self.kernel))
            _loaded[key] = self._code
            self._object = b""
        return self._code.address
